/* Everything that threads do together here, they do by atomics and futexes of their own: a spinlock, a ticket
 * lock, a lock that sleeps, a flag that is spun upon, a counter. Prints who came when. With an argument it
 * asserts that the order was another one. */
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 40 };

static atomic_flag spin = ATOMIC_FLAG_INIT;
static atomic_uint next_ticket, serving;
static atomic_int sleeping; /* 0 free, 1 taken, 2 taken and somebody waits */
static atomic_bool go;
static atomic_long counter;

static char order[3][THREADS * ROUNDS + 1];
static int at[3];

static void note(int lock, int id)
{
	order[lock][at[lock]++] = (char)('a' + id);
}

static void sleep_lock(void)
{
	int c = 0;

	if (atomic_compare_exchange_strong(&sleeping, &c, 1))
		return;
	if (c != 2)
		c = atomic_exchange(&sleeping, 2);
	while (c) {
		syscall(SYS_futex, &sleeping, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
		c = atomic_exchange(&sleeping, 2);
	}
}

static void sleep_unlock(void)
{
	if (atomic_exchange(&sleeping, 0) == 2)
		syscall(SYS_futex, &sleeping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static long sum[THREADS];

static void *work(void *arg)
{
	int id = (int)(long)arg;

	while (!atomic_load_explicit(&go, memory_order_acquire))
		;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned ticket;

		while (atomic_flag_test_and_set(&spin))
			;
		note(0, id);
		atomic_flag_clear(&spin);
		ticket = atomic_fetch_add(&next_ticket, 1);
		while (atomic_load(&serving) != ticket)
			;
		note(1, id);
		atomic_store_explicit(&serving, ticket + 1, memory_order_release);
		sleep_lock();
		note(2, id);
		if (i % 8 == 0)
			usleep(50);
		sleep_unlock();
		sum[id] += atomic_fetch_add_explicit(&counter, id + 1, memory_order_relaxed);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	(void)argv;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	atomic_store(&go, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%s\n%s\n%s\n%ld %ld %ld %ld\n", order[0], order[1], order[2], sum[0], sum[1], sum[2],
	       (long)counter);
	fflush(stdout);
	assert(argc < 2 || strcmp(order[0], order[2]) == 0);
	return 0;
}
