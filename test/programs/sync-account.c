/* Two threads deposit; reading and writing the balance are two critical sections. Prints in which order
 * the lock was taken. With an argument it checks the balance. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance, turns;
static char order[4 * ROUNDS + 1];

static int get(char who)
{
	int b;

	pthread_mutex_lock(&lock);
	order[turns++] = who;
	b = balance;
	pthread_mutex_unlock(&lock);
	return b;
}

static void set(char who, int b)
{
	pthread_mutex_lock(&lock);
	order[turns++] = who;
	balance = b;
	pthread_mutex_unlock(&lock);
}

static void *deposit(void *who)
{
	for (int i = 0; i < ROUNDS; i++) {
		int b = get(*(char *)who);

		usleep(50);
		set(*(char *)who, b + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	(void)argv;
	pthread_create(&a, NULL, deposit, "a");
	pthread_create(&b, NULL, deposit, "b");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%s %d\n", order, balance);
	fflush(stdout);
	assert(argc < 2 || balance == 2 * ROUNDS);
	return 0;
}
