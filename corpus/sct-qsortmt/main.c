/* qsort_mt - quicksort with a pool of threads.
 *
 * A thread that splits its range gives one half to an idle pool thread, or keeps both. A pool
 * thread tells that it is idle, drops the pool's lock, takes it again and sleeps without another
 * look at whether it has been given work meanwhile.
 * Cure: look, in a loop, before sleeping.   usage: main [elements=24] [helpers=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 16, SMALL = 4 };

struct helper {
	pthread_t thread;
	pthread_cond_t wake;
	int idle, has_work;
	int low, high;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static struct helper helper[MAX];
static int helpers, pending, stopping;
static int *data;

static void sort_small(int low, int high)
{
	int i, k;

	for (i = low + 1; i < high; i++)
		for (k = i; k > low && data[k - 1] > data[k]; k--) {
			int swap = data[k];

			data[k] = data[k - 1];
			data[k - 1] = swap;
		}
}

static int partition(int low, int high)
{
	int pivot = data[high - 1], i, store = low;

	for (i = low; i < high; i++)
		if (data[i] < pivot || i == high - 1) {
			int swap = data[i];

			data[i] = data[store];
			data[store++] = swap;
		}
	return store - 1;
}

/* Give a range to an idle helper; 0 when there is none. */
static int give(int low, int high)
{
	int i, given = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < helpers && !given; i++)
		if (helper[i].idle) {
			helper[i].idle = 0;
			helper[i].low = low;
			helper[i].high = high;
			helper[i].has_work = 1;
			pending++;
			pthread_cond_signal(&helper[i].wake); /* BUG:b */
			given = 1;
		}
	pthread_mutex_unlock(&lock);
	return given;
}

static void sort(int low, int high)
{
	while (high - low > SMALL) {
		int middle = partition(low, high);

		if (!give(low, middle))
			sort(low, middle);
		low = middle + 1;
	}
	sort_small(low, high);
}

static void *help(void *arg)
{
	struct helper *me = arg;

	pthread_mutex_lock(&lock);
	for (;;) {
		me->idle = 1; /* BUG:a */
#ifdef FIXED
		while (!me->has_work && !stopping)
			pthread_cond_wait(&me->wake, &lock);
#else
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		if (!stopping)
			pthread_cond_wait(&me->wake, &lock); /* BUG:c */
#endif
		if (!me->has_work)
			break;
		me->has_work = 0;
		pthread_mutex_unlock(&lock);
		sort(me->low, me->high);
		pthread_mutex_lock(&lock);
		if (--pending == 0)
			pthread_cond_signal(&finished);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 24;
	unsigned seed = 12345;

	helpers = argc > 2 ? atoi(argv[2]) : 3;
	if (n < 1 || n > 100000 || helpers < 1 || helpers > MAX)
		return 2;
	data = calloc(n, sizeof(*data));
	assert(data);
	for (i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		data[i] = (int)(seed >> 16) % 1000;
	}
	for (i = 0; i < helpers; i++) {
		pthread_cond_init(&helper[i].wake, NULL);
		pthread_create(&helper[i].thread, NULL, help, &helper[i]);
	}
	sort(0, n);
	pthread_mutex_lock(&lock);
	while (pending > 0)
		pthread_cond_wait(&finished, &lock);
	stopping = 1;
	for (i = 0; i < helpers; i++)
		pthread_cond_signal(&helper[i].wake);
	pthread_mutex_unlock(&lock);
	for (i = 0; i < helpers; i++)
		pthread_join(helper[i].thread, NULL);
	for (i = 1; i < n; i++)
		assert(data[i - 1] <= data[i]);
	free(data);
	return 0;
}
