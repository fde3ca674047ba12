/* One lock wrapper reached in many ways, thousands of times, before two threads deadlock: the stacks that are told must
 * be those of the last acquisitions and not of any of the others. The first argument picks which way that is; the ways
 * have frames of two sizes, so that many of them have the same stack pointer. Beyond eight frames lies deep(). With a
 * second argument the threads wait once before, with a lock held that was taken as deep. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t bar;
static int way, practice;
#define CALL __attribute__((noinline))

static CALL void take(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	__asm__ volatile("");
}

static void left(pthread_mutex_t *m, unsigned path, unsigned depth);
static CALL void right(pthread_mutex_t *m, unsigned path, unsigned depth)
{
	if (depth == 0)
		take(m); /* line 23 */
	else if (path & 1)
		left(m, path >> 1, depth - 1); /* line 25 */
	else
		right(m, path >> 1, depth - 1); /* line 27 */
	__asm__ volatile("");
}
static CALL void left(pthread_mutex_t *m, unsigned path, unsigned depth)
{
	volatile char frame[32];
	frame[0] = 0;
	if (depth == 0)
		take(m); /* line 35 */
	else if (path & 1)
		right(m, path >> 1, depth - 1); /* line 37 */
	else
		left(m, path >> 1, depth - 1); /* line 39 */
	__asm__ volatile("");
}

/* further out than what every acquisition compares */
static CALL void deep(pthread_mutex_t *m, unsigned path, unsigned n)
{
	if (n)
		deep(m, path, n - 1);
	else
		left(m, path, 3);
	__asm__ volatile("");
}
static CALL void usual(pthread_mutex_t *m, unsigned path) { deep(m, path, 7); __asm__ volatile(""); }
static CALL void rare(pthread_mutex_t *m, unsigned path) { deep(m, path, 7); __asm__ volatile("nop"); }

static void *work(void *p)
{
	pthread_mutex_t *x = p ? &a : &b, *y = p ? &b : &a, own = PTHREAD_MUTEX_INITIALIZER;
	unsigned r = p ? 1 : 7;

	for (int i = 0; i < 20000; i++) {
		r = r * 1103515245 + 12345;
		left(&own, r >> 16, r >> 24 & 3);
		pthread_mutex_unlock(&own);
		usual(&own, r >> 20);
		pthread_mutex_unlock(&own);
	}
	if (practice) {
		left(&own, 0, 3);
		pthread_barrier_wait(&bar);
		pthread_mutex_unlock(&own);
	}
	left(x, (unsigned)way, 3);
	pthread_barrier_wait(&bar);
	rare(y, (unsigned)way);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t, u;
	way = argc > 1 ? atoi(argv[1]) : 0;
	practice = argc > 2;
	pthread_barrier_init(&bar, NULL, 2);
	pthread_create(&t, NULL, work, &a);
	pthread_create(&u, NULL, work, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	return 0;
}
