/* bankacct - two tellers book on one account without a lock around read and write.
 *
 * Each teller reads the balance, computes, and writes it back; the booking list is locked, the
 * balance is not. The books are compared at the end of the day.
 * Cure: the balance is read and written under the lock of the list.   usage: main [bookings=10] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 1000 };

struct account {
	pthread_mutex_t lock; /* guards the list */
	long balance;
	long booking[2 * MAX];
	int bookings;
};

static struct account *account;
static int rounds;

static __attribute__((noinline)) long balance_read(void)
{
	return account->balance; /* BUG:a */
}

static __attribute__((noinline)) void balance_write(long value)
{
	account->balance = value; /* BUG:b */
}

static void book(long amount)
{
#ifdef FIXED
	pthread_mutex_lock(&account->lock);
	balance_write(balance_read() + amount);
#else
	balance_write(balance_read() + amount);
	pthread_mutex_lock(&account->lock);
#endif
	account->booking[account->bookings++] = amount;
	pthread_mutex_unlock(&account->lock);
}

static void *teller(void *arg)
{
	long sign = *(long *)arg;
	int i;

	for (i = 1; i <= rounds; i++)
		book(sign * i * 10);
	return NULL;
}

int main(int argc, char **argv)
{
	long sign[2] = { 1, -2 }, sum = 0;
	pthread_t t[2];
	int i;

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	if (rounds < 1 || rounds > MAX)
		return 2;
	account = calloc(1, sizeof(*account));
	assert(account);
	pthread_mutex_init(&account->lock, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, teller, &sign[i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < account->bookings; i++)
		sum += account->booking[i];
	assert(account->balance == sum);
	free(account);
	return 0;
}
