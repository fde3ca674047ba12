/* A wait gives up while the signaller has its mutex: the signal reaches nobody, and the waiter sees
 * what was signalled all the same. CLOCK: a thread looks at the clock. GOOD: no schedule fails. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, signalled, seen, woken;
static struct timespec soon;

static void *waiter(void *arg)
{
#ifdef CLOCK
	clock_gettime(CLOCK_REALTIME, &soon);
#endif
	pthread_mutex_lock(&m);
	waiting = 1;
	woken = !pthread_cond_timedwait(&c, &m, &soon);
	seen = signalled;
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t;
	int late, r;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += soon.tv_nsec < 900000000 ? 100000000 : 0;
	pthread_create(&t, 0, waiter, 0);
	pthread_mutex_lock(&m);
	late = waiting;
	pthread_cond_signal(&c);
	signalled = 1;
	pthread_mutex_unlock(&m);
	pthread_join(t, 0);
	/* alone: nobody can signal any more */
	pthread_mutex_lock(&m);
	r = pthread_cond_timedwait(&c, &m, &soon);
	pthread_mutex_unlock(&m);
	assert(r == ETIMEDOUT);
#ifdef GOOD
	assert(!woken || (late && seen));
#else
	assert(!(late && !woken && seen));
#endif
	return 0;
}
