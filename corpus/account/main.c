/* account: a transfer holds the lock of the account it takes from, and not of the one it gives to.
 *
 * Each manager pays into, draws from and transfers out of an account of their own, to the next one in the ring. Every
 * operation is locked, but transfer() with the wrong lock for half of what it does, and an update of the receiver is lost.
 *
 * usage: account [ACCOUNTS [ROUNDS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ACCOUNTS 16

struct account {
	pthread_mutex_t lock;
	int amount;
	const char *owner;
};

static struct account accounts[MAX_ACCOUNTS];
static int count = 4;
static int rounds = 4;

/* The caller should hold the lock of the account. */
static void change(struct account *a, int by)
{
	int n = a->amount; /* BUG:a */

	a->amount = n + by; /* BUG:b */
}

static void deposit(struct account *a, int money)
{
	pthread_mutex_lock(&a->lock);
	change(a, money);
	pthread_mutex_unlock(&a->lock);
}

static void withdraw(struct account *a, int money)
{
	pthread_mutex_lock(&a->lock);
	change(a, -money);
	pthread_mutex_unlock(&a->lock);
}

static void transfer(struct account *from, struct account *to, int money)
{
	pthread_mutex_lock(&from->lock);
	change(from, -money);
#ifdef FIXED
	pthread_mutex_unlock(&from->lock);
	pthread_mutex_lock(&to->lock);
	change(to, money);
	pthread_mutex_unlock(&to->lock);
#else
	change(to, money);
	pthread_mutex_unlock(&from->lock);
#endif
}

static void *manager(void *arg)
{
	struct account *mine = arg;
	struct account *next = &accounts[(mine - accounts + 1) % count];

	for (int i = 0; i < rounds; i++) {
		deposit(mine, 300);
		withdraw(mine, 100);
		transfer(mine, next, 99);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"ann", "bob", "cid", "dot"};
	pthread_t thread[MAX_ACCOUNTS];

	count = argc > 1 ? atoi(argv[1]) : count;
	rounds = argc > 2 ? atoi(argv[2]) : rounds;
	if (count < 2 || count > MAX_ACCOUNTS) {
		fprintf(stderr, "usage: account [ACCOUNTS(2-%d) [ROUNDS]]\n", MAX_ACCOUNTS);
		return 2;
	}
	for (int i = 0; i < count; i++) {
		pthread_mutex_init(&accounts[i].lock, NULL);
		accounts[i].amount = 100;
		accounts[i].owner = names[i % 4];
	}
	for (int i = 0; i < count; i++)
		pthread_create(&thread[i], NULL, manager, &accounts[i]);
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	/* What an account gives to the next one it gets from the one before. */
	for (int i = 0; i < count; i++)
		assert(accounts[i].amount == 100 + rounds * 200);
	return 0;
}
