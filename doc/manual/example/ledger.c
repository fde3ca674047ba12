/* A ledger that clerks post to. The total is checked at the end of the day. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct ledger {
	pthread_mutex_t lock;
	long total;
	int posts;
};

static struct ledger ledger = { .lock = PTHREAD_MUTEX_INITIALIZER };

static long read_total(void)
{
	long total;

	pthread_mutex_lock(&ledger.lock);
	total = ledger.total;
	pthread_mutex_unlock(&ledger.lock);
	return total;
}

static void write_total(long total)
{
	pthread_mutex_lock(&ledger.lock);
	ledger.total = total;
	ledger.posts++;
	pthread_mutex_unlock(&ledger.lock);
}

static void *clerk(void *amount)
{
	long before = read_total();

	write_total(before + (long)amount);
	return NULL;
}

int main(void)
{
	pthread_t clerks[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&clerks[i], NULL, clerk, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(clerks[i], NULL);
	printf("total %ld after %d posts\n", ledger.total, ledger.posts);
	assert(ledger.total == 3);
	return 0;
}
