#!/usr/bin/env bash
# hunt: a wait that somebody outside ends is no deadlock: another process posts a semaphore or signals a condition
# variable in shared memory, asynchronous I/O completes in a thread of libc's.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >shared.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static struct shared {
	sem_t sem;
	pthread_mutex_t m;
	pthread_cond_t c;
	volatile int go;
} *s;
static int post; /* whether the other process does its part */
static void *wait_sem(void *p) { sem_wait(&s->sem); return p; }
static void *wait_cond(void *p)
{
	pthread_mutex_lock(&s->m);
	while (!s->go)
		pthread_cond_wait(&s->c, &s->m);
	pthread_mutex_unlock(&s->m);
	return p;
}
int main(int argc, char **argv)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_t t;
	pid_t child;

	s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&s->sem, 1, 0);
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m, &ma);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->c, &ca);
	child = fork();
	if (child == 0) {
		usleep(20000);
		sem_post(&s->sem);
		s->go = 1;
		pthread_cond_signal(&s->c);
		_exit(0);
	}
	pthread_create(&t, NULL, argv[1][0] == 's' ? wait_sem : wait_cond, NULL);
	pthread_join(t, NULL);
	waitpid(child, NULL, 0);
	return 0;
}
C
cat >aio.c <<'C'
#include <aio.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static sem_t done;
static volatile int seen;
static void finished(union sigval v) { sem_post(&done); }
static void on_signal(int n) { seen = 1; }
int main(int argc, char **argv)
{
	char buf[64];
	struct aiocb cb;
	const struct aiocb *list[1] = { &cb };
	sigset_t block, old;

	memset(&cb, 0, sizeof(cb));
	cb.aio_fildes = open(argv[0], O_RDONLY);
	cb.aio_buf = buf;
	cb.aio_nbytes = 16;
	sem_init(&done, 0, 0);
	signal(SIGUSR1, on_signal);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	if (argv[1][0] == 't') {
		cb.aio_sigevent.sigev_notify = SIGEV_THREAD;
		cb.aio_sigevent.sigev_notify_function = finished;
		assert(!aio_read(&cb));
		sem_wait(&done);
	} else if (argv[1][0] == 's') {
		sigprocmask(SIG_BLOCK, &block, &old);
		cb.aio_sigevent.sigev_notify = SIGEV_SIGNAL;
		cb.aio_sigevent.sigev_signo = SIGUSR1;
		assert(!aio_read(&cb));
		while (!seen)
			sigsuspend(&old);
	} else {
		assert(!aio_read(&cb));
		while (aio_error(&cb) == EINPROGRESS)
			aio_suspend(list, 1, NULL);
	}
	assert(aio_return(&cb) == 16);
	return 0;
}
C
run 0 unplait cc -D_GNU_SOURCE -w -g -O1 -pthread -o shared shared.c
run 0 unplait cc -D_GNU_SOURCE -w -g -O1 -pthread -o aio aio.c
for gate in fiber futex; do
	for kind in sem cond; do
		run 4 timeout 60 "$UNPLAIT" hunt --gate $gate -n 6 ./shared $kind
		has out "processes share locks" "$kind: not a deadlock, and not a success"
		has out "process-shared" "$gate, $kind: said"
	done
	for kind in thread signal suspend; do run 0 timeout 60 "$UNPLAIT" hunt --gate $gate -n 6 ./aio $kind; done
done
# what nobody outside can end stays a deadlock
cat >none.c <<'C'
#include <semaphore.h>
int main(void) { sem_t s; sem_init(&s, 0, 0); sem_wait(&s); return 0; }
C
run 0 unplait cc -w -g -pthread -o none none.c
for gate in fiber futex; do
	run 1 unplait hunt --gate $gate -n 2 ./none
	has out "deadlock: thread 0 waits for a semaphore"
done
finish
