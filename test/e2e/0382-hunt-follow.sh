#!/usr/bin/env bash
# A harness that forks each test: the forked child is searched, replayed, recorded and explained. What is left out (a
# second child with threads, processes that share locks, a framework that starts other programs) is said, with status 4.
# level: check
. "$(dirname "$0")/lib.sh"
cat >harness.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int sum;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *arg) { int v = sum; sum = v + 1; return arg; }
static void *safe(void *arg) { pthread_mutex_lock(&m); sum++; pthread_mutex_unlock(&m); return arg; }
static void *ab(void *a)
{
	pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);
	return a;
}
static void *ba(void *a)
{
	pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);
	return a;
}
static void both(void *(*f)(void *), void *(*g)(void *))
{
	pthread_t t[2];
	pthread_create(&t[0], 0, f, 0);
	pthread_create(&t[1], 0, g, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
}
static int safe_sum(void) { both(safe, safe); return sum != 2; }
static int lost_update(void) { both(add, add); assert(sum == 2); return 0; }
static int status(void) { both(add, add); return sum != 2; }
static int deadlock(void) { both(ab, ba); return 0; }
static int crash(void) { both(add, add); if (sum != 2) *(volatile int *)8 = 1; return 0; }
static int death(void) { return 1 + *(volatile int *)8; }
static int alone(void) { return 0; }
/* real time, in which the guard of the harness must not expire */
static int slow(void) { struct timespec t = { 0, 300000000 }; nanosleep(&t, 0); return 0; }
#define T(name) { #name, name }
static const struct { const char *name; int (*run)(void); } tests[] = {
	T(alone), T(slow), T(death), T(safe_sum), T(lost_update), T(status), T(deadlock), T(crash) };
static volatile int expired;
static void expire(int number) { (void)number; expired = 1; }
/* A child keeps the clock that its parent had. */
static int timed(int (*test)(void))
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	int r = test();
	clock_gettime(CLOCK_MONOTONIC, &b);
	return b.tv_sec < a.tv_sec || b.tv_sec - a.tv_sec > 60 ? 97 : r;
}
int main(int argc, char **argv)
{
	int failed = 0;
	signal(SIGALRM, expire);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int s = 0, want = 0;
		time_t begin = time(0);
		struct itimerspec four_seconds = { .it_value.tv_sec = 4 };
		timer_t guard;
		pid_t child;
		for (int k = 1; k < argc; k++)
			want |= !strcmp(argv[k], tests[i].name);
		if (!want)
			continue;
		child = fork();
		if (child == 0)
			_exit(timed(tests[i].run));
		/* a guard over each test, as Check has it */
		if (timer_create(CLOCK_MONOTONIC, 0, &guard) || timer_settime(guard, 0, &four_seconds, 0))
			return 98;
		if (waitpid(child, &s, 0) != child || time(0) - begin > 60)
			return 99; /* the harness must not notice */
		timer_delete(guard);
		if (expired)
			return 98;
		if (tests[i].run == death)
			s = !WIFSIGNALED(s);
		printf("%s %s\n", tests[i].name, s ? "FAILED" : "ok");
		failed += s != 0;
	}
	return failed != 0;
}
C
run 0 unplait cc -g -O1 harness.c -o harness -pthread
run 0 unplait hunt -n 300 ./harness safe_sum
run 0 unplait hunt -n 50 ./harness alone death
run 0 unplait hunt -n 3 --fail-on exit ./harness alone slow alone
run 0 unplait hunt -n 50 ./harness alone death safe_sum
fails() { # TEST WHAT: at both gates
	for gate in fiber futex; do
		run 1 unplait hunt --gate $gate -n 300 -o "$1.plait" ./harness alone "$1"
		has out "$2" "$1: the child's failure is the failure"
		has out "replayed 5 of 5" "$1: it repeats"
	done
	run 1 unplait replay --times 3 "$1.plait"
	has out "replayed 3 of 3" "$1: later, too"
}
fails lost_update "sum == 2"
fails status "exit 1"
fails deadlock "deadlock"
fails crash "signal"
run 0 unplait info lost_update.plait
has out "0.2" "the child's threads are in the recording"
run 1 unplait explain --runs 100 lost_update.plait
has out "harness.c:12" "explained by the child's code"
# two children with threads
run 4 unplait hunt -n 50 ./harness safe_sum status
has out "one forked child was followed, the threads of others were not"
# prefork
cat >prefork.c <<'C'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	struct { pthread_mutex_t m; int n; } *s =
		mmap(0, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m, &a);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			pthread_mutex_lock(&s->m);
			s->n++;
			pthread_mutex_unlock(&s->m);
			_exit(0);
		}
	while (wait(0) > 0)
		;
	return s->n != 3;
}
C
run 0 unplait cc -g -O1 prefork.c -o prefork -pthread
run 4 unplait hunt -n 20 ./prefork
has out "processes share locks"
if [ -e /usr/include/criterion/criterion.h ]; then
	printf '#include <criterion/criterion.h>\nTest(a, b) { cr_assert(1); }\n' >crit.c
	run 0 unplait cc -g crit.c -o crit -lcriterion -pthread
	run 4 unplait hunt ./crit
	has out "Criterion runs every test in a process of its own"
fi
finish
