/* bank: a lost update that is noticed only at the end.
 *
 * Clerks pay into accounts of their own and book every payment in the bank's total as well. An account has one
 * clerk, so it needs no lock; the total is everybody's, and its load and store are not one step.
 *
 * usage: bank [CLERKS [PAYMENTS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CLERKS 16

struct account {
	int number;
	int balance;
};

static struct account accounts[MAX_CLERKS];
static int bank_total;
static int payments = 10;
#ifdef FIXED
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static __attribute__((noinline)) int read_total(void)
{
	return bank_total; /* BUG:a */
}

static __attribute__((noinline)) void write_total(int n)
{
	bank_total = n; /* BUG:b */
}

static void book(int amount)
{
#ifdef FIXED
	pthread_mutex_lock(&total_lock);
#endif
	write_total(read_total() + amount);
#ifdef FIXED
	pthread_mutex_unlock(&total_lock);
#endif
}

static void *clerk(void *arg)
{
	struct account *a = arg;

	for (int i = 1; i <= payments; i++) {
		int amount = a->number * 10 + i;

		a->balance += amount;
		book(amount);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int clerks = argc > 1 ? atoi(argv[1]) : 2;
	int accounts_total = 0;
	pthread_t thread[MAX_CLERKS];

	payments = argc > 2 ? atoi(argv[2]) : payments;
	if (clerks < 1 || clerks > MAX_CLERKS) {
		fprintf(stderr, "usage: bank [CLERKS(1-%d) [PAYMENTS]]\n", MAX_CLERKS);
		return 2;
	}
	for (int i = 0; i < clerks; i++) {
		accounts[i].number = i + 1;
		accounts[i].balance = 0;
		pthread_create(&thread[i], NULL, clerk, &accounts[i]);
	}
	for (int i = 0; i < clerks; i++)
		pthread_join(thread[i], NULL);

	for (int i = 0; i < clerks; i++)
		accounts_total += accounts[i].balance;
	assert(accounts_total == bank_total);
	return 0;
}
