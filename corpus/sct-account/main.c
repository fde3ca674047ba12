/* account - an audit that does not wait for everyone.
 *
 * One thread deposits, one withdraws, one audits. The auditor checks the balance once it has seen
 * the `withdrawn` flag, forgetting that the deposit may still be missing.
 * Cure: the auditor asks for both flags.   usage: main [start=100] [in=30] [out=20] */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct account {
	pthread_mutex_t lock;
	int start, in, out, balance;
	bool deposited, withdrawn;
};

static void *deposit(void *arg)
{
	struct account *acc = arg;

	pthread_mutex_lock(&acc->lock);
	acc->balance += acc->in;
	acc->deposited = true;
	pthread_mutex_unlock(&acc->lock);
	return NULL;
}

static void *withdraw(void *arg)
{
	struct account *acc = arg;

	pthread_mutex_lock(&acc->lock);
	acc->balance -= acc->out;
	acc->withdrawn = true; /* BUG:a */
	pthread_mutex_unlock(&acc->lock);
	return NULL;
}

static bool settled(const struct account *acc)
{
#ifdef FIXED
	return acc->deposited && acc->withdrawn;
#else
	return acc->withdrawn;
#endif
}

static void *audit(void *arg)
{
	struct account *acc = arg;

	pthread_mutex_lock(&acc->lock);
	if (settled(acc))
		assert(acc->balance == acc->start + acc->in - acc->out); /* BUG:b */
	pthread_mutex_unlock(&acc->lock);
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*body[])(void *) = { deposit, withdraw, audit };
	struct account *acc = calloc(1, sizeof(*acc));
	pthread_t t[3];
	int i;

	assert(acc);
	pthread_mutex_init(&acc->lock, NULL);
	acc->start = argc > 1 ? atoi(argv[1]) : 100;
	acc->in = argc > 2 ? atoi(argv[2]) : 30;
	acc->out = argc > 3 ? atoi(argv[3]) : 20;
	acc->balance = acc->start;
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, body[i], acc);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	free(acc);
	return 0;
}
