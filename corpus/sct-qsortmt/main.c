/* qsort_mt - quicksort with a pool of threads, as in the multi-threaded qsort of FreeBSD's ports.
 *
 * Every thread of the pool has a state (idle, work, term), a mutex and a condition. A thread that has
 * split its range asks for an idle thread, marks it as working, takes that thread's mutex, writes the range
 * into its description and signals. The mark is set before the mutex is taken: a thread that is on
 * its way to sleep sees that it has work, and sorts the range that is still in its description, which
 * is the old one. The new range is sorted by nobody.
 * The thread that finds everybody idle ends the others. All sleep before the first range is handed
 * out, so the bug needs a thread that has sorted one range already.
 * Cure: take the mutex first.   usage: main [elements=60] [threads=3] */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { MAX = 16, SMALL = 7, FORK = 9 };

enum state { IDLE, WORK, TERM };

struct sorter {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	volatile enum state state;
	int *from;
	int n;
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sorter pool[MAX];
static sem_t asleep;
static int threads, idle;

static struct sorter *allocate(void)
{
	int i;

	pthread_mutex_lock(&pool_lock);
	for (i = 0; i < threads; i++)
		if (pool[i].state == IDLE) {
			idle--;
#ifdef FIXED
			pthread_mutex_lock(&pool[i].lock);
			pool[i].state = WORK;
#else
			pool[i].state = WORK; /* BUG:b */
			pthread_mutex_lock(&pool[i].lock);
#endif
			pthread_mutex_unlock(&pool_lock);
			return &pool[i];
		}
	pthread_mutex_unlock(&pool_lock);
	return NULL;
}

static void swap(int *a, int *b)
{
	int t = *a;

	*a = *b;
	*b = t;
}

static int *median(int *a, int *b, int *c)
{
	return *a < *b ? (*b < *c ? b : *a < *c ? c : a) : (*b > *c ? b : *a < *c ? a : c);
}

static void insertion_sort(int *a, int n)
{
	int i, k;

	for (i = 1; i < n; i++)
		for (k = i; k > 0 && a[k - 1] > a[k]; k--)
			swap(&a[k], &a[k - 1]);
}

/* Smaller ones first, then the pivot; returns its place. */
static int partition(int *a, int n)
{
	int i, store = 0;

	swap(median(a, a + n / 2, a + n - 1), a + n - 1);
	for (i = 0; i < n - 1; i++)
		if (a[i] < a[n - 1])
			swap(&a[i], &a[store++]);
	swap(&a[store], &a[n - 1]);
	return store;
}

static void sort(int *a, int n)
{
	while (n > SMALL) {
		int left = partition(a, n);
		struct sorter *other = left > FORK ? allocate() : NULL;

		if (other) {
			other->from = a;
			other->n = left; /* BUG:d */
			pthread_cond_signal(&other->changed);
			pthread_mutex_unlock(&other->lock);
		} else {
			sort(a, left);
		}
		a += left + 1;
		n -= left + 1;
	}
	insertion_sort(a, n);
}

/* True: everybody is idle, and the others have been told to end. */
static int finished(struct sorter *me)
{
	int i, all;

	pthread_mutex_lock(&pool_lock);
	me->state = IDLE; /* BUG:a */
	all = ++idle == threads;
	for (i = 0; all && i < threads; i++) {
		if (&pool[i] == me)
			continue;
		pthread_mutex_lock(&pool[i].lock);
		pool[i].state = TERM;
		pthread_cond_signal(&pool[i].changed);
		pthread_mutex_unlock(&pool[i].lock);
	}
	pthread_mutex_unlock(&pool_lock);
	return all;
}

static void *work(void *arg)
{
	struct sorter *me = arg;
	enum state state;

	pthread_mutex_lock(&me->lock);
	sem_post(&asleep);
	for (;;) {
		while ((state = me->state) == IDLE)
			pthread_cond_wait(&me->changed, &me->lock);
		pthread_mutex_unlock(&me->lock);
		if (state == TERM)
			return NULL;
		sort(me->from, me->n); /* BUG:c */
		if (finished(me))
			return NULL;
		pthread_mutex_lock(&me->lock);
	}
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 60, *data;
	unsigned seed = 12345;
	struct sorter *first;

	threads = argc > 2 ? atoi(argv[2]) : 3;
	if (n < 1 || n > 100000 || threads < 1 || threads > MAX)
		return 2;
	data = calloc(n, sizeof(*data));
	assert(data);
	for (i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (int)(seed >> 16) % 1000;
	}
	idle = threads;
	sem_init(&asleep, 0, 0);
	for (i = 0; i < threads; i++) {
		pthread_mutex_init(&pool[i].lock, NULL);
		pthread_cond_init(&pool[i].changed, NULL);
		pthread_create(&pool[i].thread, NULL, work, &pool[i]);
	}
	for (i = 0; i < threads; i++) {
		sem_wait(&asleep);
		pthread_mutex_lock(&pool[i].lock); /* free only when its thread waits */
		pthread_mutex_unlock(&pool[i].lock);
	}
	first = allocate();
	first->from = data;
	first->n = n;
	pthread_cond_signal(&first->changed);
	pthread_mutex_unlock(&first->lock);
	for (i = 0; i < threads; i++)
		pthread_join(pool[i].thread, NULL);
	for (i = 1; i < n; i++)
		assert(data[i - 1] <= data[i]);
	free(data);
	return 0;
}
