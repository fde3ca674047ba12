/* The ledger with its cure: a post is one critical section. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

struct ledger {
	pthread_mutex_t lock;
	long total;
	int posts;
};

static struct ledger ledger = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *clerk(void *amount)
{
	pthread_mutex_lock(&ledger.lock);
	ledger.total += (long)amount;
	ledger.posts++;
	pthread_mutex_unlock(&ledger.lock);
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
