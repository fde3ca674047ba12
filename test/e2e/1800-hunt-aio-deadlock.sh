#!/usr/bin/env bash
# A deadlock of a program that has used asynchronous I/O: a thread of libc idles for a second, and the replay waits for
# it as the run did. It is confirmed. (It was "not confirmed": the replay did not look again after it had waited.)
# level: check
. "$(dirname "$0")/lib.sh"
cat >aio.c <<'C'
#include <aio.h>
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static void *two(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
	return NULL;
}
static void *ab(void *arg) { return two(&m, arg ? &m : &n); }
static void *ba(void *arg) { return ORDERED ? ab(arg) : two(&n, &m); }
int main(int argc, char **argv)
{
	char buf[16];
	struct aiocb cb;
	const struct aiocb *list[1] = { &cb };
	pthread_t t, u;

	memset(&cb, 0, sizeof(cb));
	cb.aio_fildes = open(argv[0], O_RDONLY);
	cb.aio_buf = buf;
	cb.aio_nbytes = sizeof(buf);
	assert(!aio_read(&cb));
	aio_suspend(list, 1, NULL);
	assert(aio_return(&cb) == sizeof(buf));
	pthread_create(&t, NULL, ab, NULL);
	pthread_create(&u, NULL, ba, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return argc - 1;
}
C
run 0 unplait cc -D_GNU_SOURCE -DORDERED=0 -g -pthread -o cycle aio.c
run 0 unplait cc -D_GNU_SOURCE -DORDERED=1 -g -pthread -o ordered aio.c
run 1 timeout 60 "$UNPLAIT" hunt -n 200 --replays 2 -o f.plait ./cycle
has out "deadlock: " "found"
has out "replayed 2 of 2 times" "confirmed"
hasnt out "NOT CONFIRMED"
run 1 timeout 60 "$UNPLAIT" replay f.plait
run 0 timeout 60 "$UNPLAIT" hunt -n 40 ./ordered
finish
