#!/usr/bin/env bash
# --time bounds all phases of explain, and a note says when it was over before everything was tried. Each failing run of
# this program takes a second: a thread of libc idles that long after asynchronous I/O.
# level: check
. "$(dirname "$0")/lib.sh"
cat >slow.c <<'C'
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static void *two(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
	return NULL;
}
static void *ab(void *arg) { return two(&m, &n); }
static void *ba(void *arg) { return two(&n, &m); }
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
	aio_read(&cb);
	aio_suspend(list, 1, NULL);
	pthread_create(&t, NULL, ab, NULL);
	pthread_create(&u, NULL, ba, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
C
run 0 unplait cc -D_GNU_SOURCE -w -g -pthread -o slow slow.c
run 1 timeout 60 "$UNPLAIT" hunt -q -n 200 --replays 0 -o f.plait ./slow
timeout 120 "$UNPLAIT" explain --time 3 f.plait >out 2>err
status=$?
[ $status = 1 ] || [ $status = 4 ] && ok "an answer" || not_ok "an answer" "status $status" "$(cat err)"
has out "the 3 s of --time were over before everything was tried" "and it says that it is not all"
has out "holds m" "what the run shows is told all the same"
finish
