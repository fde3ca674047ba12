/* Worst case for path recording: a tight loop whose every branch depends on a shared value. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* keeps the compiler from turning a branch into a conditional move */
#define BRANCH(n) __asm__ volatile("" : "+r"(n))

static volatile uint32_t seed = 12345;
static uint32_t results[2];

static void *work(void *arg)
{
	uint32_t x = seed + (uint32_t)(long)arg, n = 0;

	for (int i = 0; i < 150000000; i++) {
		x = x * 1664525 + 1013904223;
		if (x & 0x10000) {
			n += x;
			BRANCH(n);
		} else {
			n ^= x;
		}
		if (x & 0x200000) {
			n = (n << 3) | (n >> 29);
			BRANCH(n);
		}
	}
	results[(long)arg] = n;
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	seed = 12345; /* a write that the threads may see: their branches depend on it */
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%u %u\n", results[0], results[1]);
}
