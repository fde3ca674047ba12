/* fig51: the program of figure 5.1, whose failure needs another path as well as another schedule.
 *
 * Thread two resets y only if it has seen w, and w is set only by a thread one that has seen z. The order that fails is
 * z = 1; then thread one up to y = 1; then y = 0; then the rest of thread one, on a path it never takes otherwise.
 *
 * The cure makes thread one's block from w to the assertion, and thread two's, one step each.
 *
 * usage: fig51 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int x, y, w, z;

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

/* In functions of their own, so that no compiler forwards the stores of the one to the loads of the other. */
static __attribute__((noinline)) void set_up(void)
{
	if (z > 0)   /* BUG:b */
		w++; /* BUG:c */
	x = 1;
	y = 1; /* BUG:d */
}

static __attribute__((noinline)) void check(void)
{
	if (y == 0)  /* BUG:g */
		x--; /* BUG:h */
	assert(x > 0);
}

static __attribute__((noinline)) void announce(void)
{
	z = 1; /* BUG:a */
}

static __attribute__((noinline)) void reset(void)
{
	if (w > 0)     /* BUG:e */
		y = 0; /* BUG:f */
}

static void *one(void *arg)
{
	LOCK();
	set_up();
	check();
	UNLOCK();
	return arg;
}

static void *two(void *arg)
{
	LOCK();
	announce();
	UNLOCK();
	LOCK();
	reset();
	UNLOCK();
	return arg;
}

int main(void)
{
	pthread_t t1, t2;

	pthread_create(&t1, NULL, one, NULL);
	pthread_create(&t2, NULL, two, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	return 0;
}
