#!/usr/bin/env bash
# Alarms, timers and signals to the process are decisions: found, replayed exactly, and the cured twins are silent.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

# torn: an alarm's handler between two writes of main.
cat >torn.c <<'X'
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile int a, b;
static void handler(int n) { if (a != b) abort(); (void)n; }
int main(void)
{
	struct itimerval v = { .it_value.tv_usec = 10 };
	sigset_t set;
	signal(SIGALRM, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	setitimer(ITIMER_REAL, &v, 0);
	for (int i = 0; i < 20; i++) {
#ifdef CURED
		sigprocmask(SIG_BLOCK, &set, 0);
#endif
		a++;
		b++;
#ifdef CURED
		sigprocmask(SIG_UNBLOCK, &set, 0);
#endif
	}
	return 0;
}
X
# lost: the alarm comes between the test and the pause.
cat >lost.c <<'X'
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t seen;
static void handler(int n) { (void)n; seen = 1; }
int main(void)
{
	sigset_t set, old;
	signal(SIGALRM, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
#ifdef CURED
	sigprocmask(SIG_BLOCK, &set, &old);
#endif
	alarm(1);
	while (!seen)
#ifdef CURED
		sigsuspend(&old);
#else
		pause();
#endif
	return 0;
}
X
# locked: a handler takes the lock that the thread it interrupts may hold.
cat >locked.c <<'X'
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void handler(int s) { (void)s; pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); }
static void *send(void *arg) { kill(getpid(), SIGUSR1); return arg; }
int main(void)
{
	pthread_t t;
	sigset_t set;
	signal(SIGUSR1, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_create(&t, 0, send, 0);
#ifdef CURED
	pthread_sigmask(SIG_BLOCK, &set, 0);
#endif
	pthread_mutex_lock(&m);
	n++;
	pthread_mutex_unlock(&m);
#ifdef CURED
	pthread_sigmask(SIG_UNBLOCK, &set, 0);
#endif
	pthread_join(t, 0);
	return 0;
}
X
# eintr: sem_wait ends when a handler ran, unless it was installed with SA_RESTART or the call is repeated.
cat >eintr.c <<'X'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
static sem_t s;
static int data;
static void handler(int n) { (void)n; }
static void *work(void *main_thread)
{
	pthread_kill((pthread_t)main_thread, SIGUSR1);
	data = 1;
	sem_post(&s);
	return 0;
}
int main(void)
{
	struct sigaction a = { .sa_handler = handler };
	pthread_t t;
	sem_init(&s, 0, 0);
	sigaction(SIGUSR1, &a, 0);
	pthread_create(&t, 0, work, (void *)pthread_self());
#ifdef CURED
	while (sem_wait(&s) && errno == EINTR)
		;
#else
	sem_wait(&s);
#endif
	if (!data)
		abort();
	pthread_join(t, 0);
	return 0;
}
X
# expired: the thread of a timer uses what main has given back.
cat >expired.c <<'X'
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *shared;
static void tick(union sigval v)
{
	(void)v;
	pthread_mutex_lock(&m);
#ifdef CURED
	if (shared)
#endif
		*shared += 1;
	pthread_mutex_unlock(&m);
}
int main(void)
{
	struct sigevent e = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick };
	struct itimerspec v = { .it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000 };
	struct timespec rest = { .tv_nsec = 3000000 };
	timer_t t;
	shared = calloc(1, sizeof(int));
	if (timer_create(CLOCK_MONOTONIC, &e, &t) || timer_settime(t, 0, &v, 0))
		return 3;
	nanosleep(&rest, 0);
	timer_delete(t);
	pthread_mutex_lock(&m);
	free(shared);
	shared = 0;
	pthread_mutex_unlock(&m);
	return 0;
}
X
# calm: nothing of this may fail, and all of it comes to an end in virtual time.
cat >calm.c <<'X'
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
static void handler(int n) { (void)n; alarm(7); } /* the next one */
static void *waiter(void *set)
{
	int n;
	assert(sigwait(set, &n) == 0 && n == SIGUSR1);
	return 0;
}
static void *wake(void *fd) /* libc writes to it by itself: nobody sees that */
{
	eventfd_write((int)(long)fd, 1);
	return 0;
}
int main(void)
{
	struct itimerspec v = { .it_value.tv_sec = 100, .it_interval.tv_sec = 50 };
	struct timespec long_time = { .tv_sec = 1000 }, left = { 0 }, now, then;
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 42 };
	struct sigaction a = { .sa_handler = handler };
	struct epoll_event ev = { .events = EPOLLIN };
	struct signalfd_siginfo si;
	siginfo_t info;
	sigset_t set;
	pthread_t t;
	timer_t timer;
	uint64_t times = 0;
	int fd, ep, sf;

	/* an alarm ends a sleep, which says what was left */
	sigaction(SIGALRM, &a, 0);
	clock_gettime(CLOCK_MONOTONIC, &then);
	alarm(5);
	while (nanosleep(&long_time, &left) == 0)
		;
	assert(errno == EINTR && left.tv_sec > 900 && left.tv_sec <= 999);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert(now.tv_sec - then.tv_sec >= 4 && now.tv_sec - then.tv_sec < 60);
	assert(alarm(0) <= 7);
	/* a timerfd in an epoll */
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	assert(read(fd, &times, 8) == -1 && errno == EAGAIN);
	assert(timerfd_settime(fd, 0, &v, 0) == 0);
	assert(epoll_wait(ep, &ev, 1, -1) == 1);
	assert(read(fd, &times, 8) == 8 && times == 1);
	assert(epoll_wait(ep, &ev, 1, 10) == 0);
	sleep(200);
	assert(read(fd, &times, 8) == 8 && times >= 3);
	close(fd);
	/* a timer's signal, waited for, with its value */
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, 0);
	assert(timer_create(CLOCK_REALTIME, &e, &timer) == 0 && timer_settime(timer, 0, &v, 0) == 0);
	assert(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == 42 && info.si_code == SI_TIMER);
	timer_delete(timer);
	v.it_value.tv_sec = 1;
	assert(sigtimedwait(&set, &info, &v.it_value) == -1 && errno == EAGAIN);
	/* to the process, where somebody waits for it */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, 0);
	pthread_create(&t, 0, waiter, &set);
	kill(getpid(), SIGUSR1);
	pthread_join(t, 0);
	/* libc asks every thread to change its identity, by a signal */
	assert(seteuid(geteuid()) == 0 && setegid(getegid()) == 0);
	/* woken by a write that is not seen */
	fd = eventfd(0, 0);
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	pthread_create(&t, 0, wake, (void *)(long)fd);
	assert(epoll_wait(ep, &ev, 1, -1) == 1);
	pthread_join(t, 0);
	/* by descriptor */
	sf = signalfd(-1, &set, 0);
	kill(getpid(), SIGUSR1);
	assert(read(sf, &si, sizeof(si)) == sizeof(si) && si.ssi_signo == SIGUSR1);
	return 0;
}
X
# watched: two locks in two orders, under an alarm that would end it all
cat >watched.c <<'X'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *arg)
{
	pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
	return arg;
}
int main(void)
{
	pthread_t t;
	alarm(10);
	pthread_create(&t, 0, other, 0);
	pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
	pthread_join(t, 0);
	return 0;
}
X
for f in torn lost locked eintr expired; do
	run 0 unplait cc -w -g -O1 $f.c -o $f
	run 0 unplait cc -w -g -O1 -DCURED $f.c -o $f-cured
done
for f in calm watched; do run 0 unplait cc -w -g -O1 $f.c -o $f; done
for gate in fiber futex; do
	for f in torn lost locked eintr expired; do
		run 1 unplait hunt --gate $gate --timeout 10 -n 2000 -o $f.plait ./$f
		has out "replayed 5 of 5" "$f: it repeats"
		hasnt out "not under control" "$f: and it is under control"
		run 1 unplait replay --gate $gate --times 20 $f.plait
		has out "replayed 20 of 20" "$f: exactly"
		run 0 unplait hunt --gate $gate --timeout 10 -n 300 ./$f-cured
	done
	run 0 unplait hunt --gate $gate --timeout 10 -n 100 ./calm
	run 1 unplait hunt --gate $gate --timeout 10 -n 500 ./watched
	has out "deadlock" "a watchdog does not hide a deadlock"
done
# a timer that begins again must not keep everybody else from running
run 0 unplait hunt -s pct:3 --seed 3 --timeout 10 -n 300 ./expired-cured
events=$(sed -n 's/^300 runs in .* s, \([0-9]*\) events.*/\1/p' "$work/out")
if [ "${events:-99999}" -lt 20000 ]; then ok "it strikes a few times"; else not_ok "it strikes a few times" "$events events"; fi
finish
