/* exmcr: a small program that hides its failure from systematic search.
 *
 * Two threads of two rounds each. The failing y == 3 needs thread two to read y == 2 in its second round after thread one
 * has stored x = 1 and before it stores y = 1, inside its critical section; to store y and x after thread one has
 * reset y; and y == 2 comes about only if x == 2 was seen one round earlier. So two branches of two threads have to go the
 * rare way together.
 *
 * The cure takes the lock for thread two's last step and for thread one's check.
 *
 * usage: exmcr */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

#ifdef FIXED
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

static __attribute__((noinline)) void set_x(int n)
{
	x = n; /* BUG:a */
}

static __attribute__((noinline)) void set_y(int n)
{
	y = n; /* BUG:c */
}

static void *one(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		set_x(1);
		set_y(1);
		pthread_mutex_unlock(&lock);

		pthread_mutex_lock(&lock);
		set_y(0);
		pthread_mutex_unlock(&lock);

		LOCK();
		if (x > 1) {
			assert(y != 3); /* BUG:e */
			set_y(2);
		}
		UNLOCK();
	}
	return arg;
}

static __attribute__((noinline)) void step(void)
{
	if (x > 0) {
		int n = y; /* BUG:b */

		y = n + 1; /* BUG:d */
		x = 2;
	}
}

static void *two(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		set_x(0);
		pthread_mutex_unlock(&lock);

		LOCK();
		step();
		UNLOCK();
	}
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
