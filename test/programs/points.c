/* Two threads and a counter under a lock. NOISE: what main set up before, arguments, locals whose address
 * is taken, a block that each thread has for itself. RACY: one more counter, without the lock. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, rounds, step;
static volatile int racy;

struct job {
	int first, last;
};

static void add(int *to, int n)
{
	*to += n;
}

static int work(const struct job *job)
{
	int i, sum = 0;
#ifdef NOISE
	int *own = calloc(4, sizeof(*own));

	for (i = job->first; i < job->last * rounds; i += step) {
		add(&sum, own[i % 4]);
		add(&own[i % 4], i);
	}
	free(own);
#else
	(void)job;
	i = 0;
	add(&sum, i);
#endif
	return sum;
}

static void *run(void *arg)
{
	int sum = work(arg);

	pthread_mutex_lock(&lock);
	counter += sum;
	pthread_mutex_unlock(&lock);
#ifdef RACY
	racy = racy + 1;
#endif
	return NULL;
}

int main(void)
{
	static struct job job[2] = { { 0, 2 }, { 1, 3 } };
	pthread_t t[2];
	int i;

	rounds = 3;
	step = 1;
	for (i = 0; i < 2; i++) {
		job[i].first = i;
		pthread_create(&t[i], NULL, run, &job[i]);
	}
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return counter + racy < 0;
}
