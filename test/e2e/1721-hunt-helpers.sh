#!/usr/bin/env bash
# Threads that libc makes for itself (asynchronous I/O, SIGEV_THREAD): waiting for them beside threads of the program is
# no deadlock, with fibers and with futexes; a deadlock that they cannot end is one.
# level: check
. "$(dirname "$0")/lib.sh"
cat >helpers.c <<'C'
#include <aio.h>
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static sem_t done, never;
static char buf[2][16];
static struct aiocb cb[2];
static void finished(union sigval v) { sem_post(&done); }
static void begin(int i, int notify)
{
	cb[i].aio_fildes = open("/proc/self/exe", O_RDONLY);
	cb[i].aio_buf = buf[i];
	cb[i].aio_nbytes = 16;
	cb[i].aio_sigevent.sigev_notify = notify;
	cb[i].aio_sigevent.sigev_notify_function = finished;
	cb[i].aio_lio_opcode = LIO_READ;
}
static void *reader(void *arg)
{
	begin((int)(long)arg, SIGEV_THREAD);
	assert(!aio_read(&cb[(long)arg]));
	sem_wait(&done);
	return 0;
}
static void *waiter(void *arg) { sem_wait(&never); return arg; }
static void threads(void *(*f)(void *), int n)
{
	pthread_t t[2];
	for (long i = 0; i < n; i++) assert(!pthread_create(&t[i], 0, f, (void *)i));
	for (int i = 0; i < n; i++) pthread_join(t[i], 0);
}
int main(int argc, char **argv)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = finished };
	struct aiocb *list[1] = { &cb[0] };
	int status = 0;
	sem_init(&done, 0, 0);
	sem_init(&never, 0, 0);
	switch (argv[1][0]) {
	case 'l': /* a list, announced at its end */
		begin(0, SIGEV_NONE);
		assert(!lio_listio(LIO_NOWAIT, list, 1, &e));
		sem_wait(&done);
		return 0;
	case 'f': /* the same in a forked child, which is followed */
		if (!fork()) {
			threads(reader, 2);
			_exit(0);
		}
		wait(&status);
		return status != 0;
	}
	threads(reader, 2);
	if (argv[1][0] == 'd')
		threads(waiter, 2);
	return 0;
}
C
run 0 unplait cc -D_GNU_SOURCE -w -g -pthread -o helpers helpers.c
for gate in fiber futex; do
	for kind in threads list fork; do
		"$UNPLAIT" hunt -q --gate $gate -n 6 --timeout 60 -o "" ./helpers $kind >out 2>err
		hasnt out "deadlock" "$gate, $kind: no deadlock"
		hasnt out "hang" "$gate, $kind: no hang"
	done
	# it need not repeat: when a helper comes is not under control
	"$UNPLAIT" hunt -q --gate $gate -n 2 --timeout 60 -o "" ./helpers deadlock >out 2>err
	has out "deadlock: " "$gate: a deadlock is one"
done
finish
