/* sync-readers PAUSES - four threads that mostly load atomics, and store and add now and then, for ever. Two of them also
 * lock, so that there is other order, too. What a thread does next depends on what it has seen, and it sends that to
 * /dev/null now and then: a replay that sees something else ends there. Between two atomics a thread waits for so many instructions `pause`. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, WORDS = 64 };

static _Atomic uint32_t words[WORDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum;
static int pauses, nowhere;

static void *work(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	uint32_t state = me;
	int wait = pauses;

	for (;;) {
		state = state * 1664525 + 1013904223;
		uint32_t at = state >> 8;

		if (at % 32 == me)
			atomic_fetch_add(&words[at / 32 % WORDS], state);
		else if (at % 32 == 31)
			atomic_store_explicit(&words[at / 32 % WORDS], me, memory_order_release);
		else
			state += atomic_load_explicit(&words[at / 32 % 8 * 8], memory_order_acquire);
		for (int i = 0; i < wait; i++)
			__builtin_ia32_pause();
		if (me % 2 && at % 256 == 5) {
			pthread_mutex_lock(&lock);
			sum += state;
			pthread_mutex_unlock(&lock);
		}
		if (at % 256 == 6 && write(nowhere, &state, sizeof(state)) < 0)
			exit(3);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	nowhere = open("/dev/null", O_WRONLY);
	pauses = argc > 1 ? atoi(argv[1]) : 0;
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	work(NULL);
	return 0;
}
