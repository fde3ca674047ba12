/* Hangs (or not) in many ways; the argument picks one. Barriers make every hang certain.
 * Cases whose name begins with "ok-" end by themselves and must not be reported. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER, rw2 = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin1, spin2;
static pthread_barrier_t bar;
static sem_t sem;
static mtx_t m1, m2;

static void meet(void) { pthread_barrier_wait(&bar); }

static struct timespec in(double seconds)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += (time_t)seconds;
	ts.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (ts.tv_nsec >= 1000000000)
		ts.tv_sec++, ts.tv_nsec -= 1000000000;
	return ts;
}

static void pause_ms(int ms) { usleep((useconds_t)ms * 1000); }

/* two threads, f in one and g in the other */
static void pair(void *(*f)(void *), void *(*g)(void *))
{
	pthread_t t, u;
	pthread_barrier_init(&bar, NULL, 2);
	pthread_create(&t, NULL, f, NULL);
	pthread_create(&u, NULL, g, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
}

static void *write_then_a(void *p) { pthread_rwlock_wrlock(&rw); meet(); pthread_mutex_lock(&a); return p; }
static void *a_then_read(void *p) { pthread_mutex_lock(&a); meet(); pthread_rwlock_rdlock(&rw); return p; }
static void *a_then_write(void *p) { pthread_mutex_lock(&a); meet(); pthread_rwlock_wrlock(&rw); return p; }
static void *read_then_a(void *p) { pthread_rwlock_rdlock(&rw); meet(); pthread_mutex_lock(&a); return p; }
static void *spin_12(void *p) { pthread_spin_lock(&spin1); meet(); pthread_spin_lock(&spin2); return p; }
static void *spin_21(void *p) { pthread_spin_lock(&spin2); meet(); pthread_spin_lock(&spin1); return p; }
static void *mtx_12(void *p) { mtx_lock(&m1); meet(); mtx_lock(&m2); return p; }
static void *mtx_21(void *p) { mtx_lock(&m2); meet(); mtx_lock(&m1); return p; }
static void *try_a_then_b(void *p) { if (pthread_mutex_trylock(&a) == 0) { meet(); pthread_mutex_lock(&b); } return p; }
static void *b_then_a(void *p) { pthread_mutex_lock(&b); meet(); pthread_mutex_lock(&a); return p; }

/* upgrade: both hold for reading, both want to write */
static void *upgrade(void *p) { pthread_rwlock_rdlock(&rw); meet(); pthread_rwlock_wrlock(&rw); return p; }

/* a reader that comes again while a writer waits, on a lock that prefers writers */
static void *read_twice(void *p)
{
	pthread_rwlock_rdlock(&rw2);
	meet();
	pause_ms(200); /* let the writer queue */
	pthread_rwlock_rdlock(&rw2);
	return p;
}
static void *write_once(void *p) { meet(); pthread_rwlock_wrlock(&rw2); return p; }

/* the waiter comes back from the condition and finds its mutex in a cycle */
static void *wait_holding_b(void *p)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	meet();
	pthread_cond_wait(&cond, &a);
	return p;
}
static void *signal_then_b(void *p)
{
	meet();
	pthread_mutex_lock(&a);
	pthread_cond_signal(&cond);
	pthread_mutex_lock(&b);
	return p;
}

static void *timed_b(void *p)
{
	struct timespec ts = in(1.5);
	pthread_mutex_lock(&a);
	meet();
	if (pthread_mutex_timedlock(&b, &ts) != 0)
		pthread_mutex_unlock(&a);
	return p;
}
static void *b_then_a_done(void *p)
{
	pthread_mutex_lock(&b);
	meet();
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return p;
}

static void *die_with_a(void *p) { pthread_mutex_lock(&a); return p; }
static void *just_wait(void *p) { pthread_mutex_lock(&a); pthread_cond_wait(&cond, &a); return p; }
static void *post_nothing(void *p) { sem_wait(&sem); return p; }

/* locks handed from one thread to another: not what mutexes are for, but no deadlock */
/* 1 locks a, 2 unlocks it, 3 locks it; then 1 waits for b (held by 2) and 2 for a (held by 3): by the
 * books 1 still holds a, and there would be a cycle */
static void *foreign_1(void *p)
{
	pthread_mutex_lock(&a);
	meet();
	meet();
	meet();
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	return p;
}
static void *foreign_2(void *p)
{
	pthread_mutex_lock(&b);
	meet();
	pthread_mutex_unlock(&a);
	meet();
	meet();
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return p;
}
static void *foreign_3(void *p)
{
	meet();
	meet();
	pthread_mutex_lock(&a);
	meet();
	pause_ms(1000);
	pthread_mutex_unlock(&a);
	return p;
}
static void foreign(void)
{
	void *(*f[3])(void *) = { foreign_1, foreign_2, foreign_3 };
	pthread_t t[3];
	pthread_barrier_init(&bar, NULL, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, f[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void recursive(int type, const char *name)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	int r;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(&m, &attr);
	pthread_mutex_lock(&m);
	r = pthread_mutex_lock(&m);
	printf("%s: %s\n", name, r ? strerror(r) : "again");
	if (r == 0)
		pthread_mutex_unlock(&m);
	pause_ms(300);
	pthread_mutex_unlock(&m);
	/* nobody holds it now: another thread must get it */
	r = pthread_mutex_trylock(&m);
	printf("free: %s\n", r ? "no" : "yes");
}

static void *come_and_go(void *p)
{
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	return p;
}

static void *cancelled(void *p)
{
	pthread_mutex_lock(&a);
	pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &a);
	meet();
	pthread_cond_wait(&cond, &a);
	pthread_cleanup_pop(1);
	return p;
}

static volatile int go = 1;
static void *hold_a_long(void *p) { pthread_mutex_lock(&a); meet(); while (go) pause_ms(10); pthread_mutex_unlock(&a); return p; }

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_rwlockattr_t attr;
	pthread_t t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_spin_init(&spin1, 0);
	pthread_spin_init(&spin2, 0);
	mtx_init(&m1, mtx_plain);
	mtx_init(&m2, mtx_plain);
	sem_init(&sem, 0, 0);
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&rw2, &attr);

	if (!strcmp(mode, "writer-mutex")) pair(write_then_a, a_then_read);
	else if (!strcmp(mode, "reader-mutex")) pair(read_then_a, a_then_write);
	else if (!strcmp(mode, "upgrade")) pair(upgrade, upgrade);
	else if (!strcmp(mode, "reader-behind-writer")) pair(read_twice, write_once);
	else if (!strcmp(mode, "spin")) pair(spin_12, spin_21);
	else if (!strcmp(mode, "c11")) pair(mtx_12, mtx_21);
	else if (!strcmp(mode, "try")) pair(try_a_then_b, b_then_a);
	else if (!strcmp(mode, "cond")) pair(wait_holding_b, signal_then_b);
	else if (!strcmp(mode, "self")) { pthread_mutex_lock(&a); pthread_mutex_lock(&a); }
	else if (!strcmp(mode, "self-upgrade")) { pthread_rwlock_rdlock(&rw); pthread_rwlock_wrlock(&rw); }
	else if (!strcmp(mode, "stuck-cond")) pair(just_wait, just_wait);
	else if (!strcmp(mode, "stuck-sem")) pair(post_nothing, post_nothing);
	else if (!strcmp(mode, "stuck-ended")) { pthread_create(&t, NULL, die_with_a, NULL); pthread_join(t, NULL); pthread_mutex_lock(&a); }
	else if (!strcmp(mode, "stuck-join")) { /* holds what the joined thread needs */
		pthread_mutex_lock(&a);
		pthread_create(&t, NULL, come_and_go, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(mode, "fork")) { /* the child waits for a thread that it does not have */
		pid_t pid;
		pthread_barrier_init(&bar, NULL, 2);
		pthread_create(&t, NULL, hold_a_long, NULL);
		meet();
		pid = fork();
		if (pid == 0) {
			pthread_mutex_lock(&a);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		go = 0;
		pthread_join(t, NULL);
	} else if (!strcmp(mode, "fork-pair")) { /* a deadlock in a child process */
		pid_t pid = fork();
		if (pid == 0) {
			pair(try_a_then_b, b_then_a);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	} else if (!strcmp(mode, "exec")) {
		come_and_go(NULL);
		execl(argv[0], argv[0], "try", NULL);
	} else if (!strcmp(mode, "closefrom")) {
		come_and_go(NULL);
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		pair(try_a_then_b, b_then_a);
	} else if (!strcmp(mode, "crash")) {
		pthread_mutex_lock(&a);
		raise(SIGSEGV);
	} else if (!strcmp(mode, "ok-recursive")) {
		recursive(PTHREAD_MUTEX_RECURSIVE, "recursive");
		recursive(PTHREAD_MUTEX_ERRORCHECK, "errorcheck");
	} else if (!strcmp(mode, "ok-timed")) pair(timed_b, b_then_a_done);
	else if (!strcmp(mode, "ok-foreign")) foreign();
	else if (!strcmp(mode, "ok-threads")) {
		for (int i = 0; i < 2000; i++) {
			pthread_create(&t, NULL, come_and_go, NULL);
			pthread_join(t, NULL);
		}
	} else if (!strcmp(mode, "ok-cancel")) {
		pthread_barrier_init(&bar, NULL, 2);
		pthread_create(&t, NULL, cancelled, NULL);
		meet();
		pthread_mutex_lock(&a);
		pthread_mutex_unlock(&a);
		pthread_cancel(t);
		pthread_join(t, NULL);
		printf("free: %s\n", pthread_mutex_trylock(&a) ? "no" : "yes");
	} else if (!strcmp(mode, "ok-contend")) {
		pthread_barrier_init(&bar, NULL, 2);
		pthread_create(&t, NULL, hold_a_long, NULL);
		meet();
		alarm(0);
		{
			pthread_t u;
			pthread_create(&u, NULL, come_and_go, NULL);
			pause_ms(1200); /* one thread waits for a lock whose holder is alive and well */
			go = 0;
			pthread_join(u, NULL);
		}
		pthread_join(t, NULL);
	} else {
		fprintf(stderr, "no mode '%s'\n", mode);
		return 2;
	}
	return 0;
}
