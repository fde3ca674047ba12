/* sync-loads SEED THREADS STEPS WORDS - a program made from a seed: each thread loads, stores, adds, exchanges and
 * compares atomics of all sizes, and mixes everything that it sees into a number. Prints the numbers: they are the same
 * in another run only if every atomic saw the same value. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static union {
	_Atomic uint64_t q[64];
	_Atomic uint32_t l[128];
	_Atomic uint16_t w[256];
	_Atomic uint8_t b[512];
} memory;
static _Atomic int waiting;
static unsigned seed, nthreads, nsteps, nwords;
static uint64_t seen[16];

static uint64_t mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 29);
}

static uint32_t next(uint32_t *state)
{
	return *state = *state * 1664525 + 1013904223;
}

static uint64_t step(unsigned kind, unsigned at, uint32_t v)
{
	uint64_t expected = v % 3;

	switch (kind) {
	case 0:
		return atomic_load_explicit(&memory.b[at * 8 + v % 8], memory_order_relaxed);
	case 1:
		return atomic_load(&memory.w[at * 4 + v % 4]);
	case 2:
		return atomic_load_explicit(&memory.l[at * 2 + v % 2], memory_order_acquire);
	case 3:
		atomic_store_explicit(&memory.l[at * 2], v, memory_order_release);
		return 0;
	case 4:
		return atomic_fetch_add(&memory.q[at], v % 5);
	case 5:
		atomic_compare_exchange_strong(&memory.q[at], &expected, v);
		return expected;
	case 6:
		return atomic_exchange(&memory.b[at * 8], (uint8_t)v);
	default:
		return atomic_load(&memory.q[at]);
	}
}

/* Thread k writes once in 2^(k % 4 * 2 + 2) steps or so; otherwise it reads. */
static void *work(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	uint32_t state = seed * 31 + me;
	uint64_t h = me;

	atomic_fetch_add(&waiting, 1);
	while (atomic_load(&waiting) < (int)nthreads)
		;
	for (unsigned i = 0; i < nsteps; i++) {
		static const unsigned char loads[4] = { 0, 1, 2, 7 };
		uint32_t r = next(&state) >> 8;
		int writes = (r >> 14 & ((4u << me % 4 * 2) - 1)) == 0;

		h = mix(h, step(writes ? 3 + r % 4 : loads[r % 4], r / 4 % nwords, r >> 6));
	}
	seen[me] = h;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[16];

	seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	nthreads = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
	nsteps = argc > 3 ? (unsigned)atoi(argv[3]) : 10000;
	nwords = argc > 4 ? (unsigned)atoi(argv[4]) : 4;
	if (nthreads > 16 || nwords < 1 || nwords > 64)
		return 2;
	for (uintptr_t i = 0; i < nthreads; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < nthreads; i++)
		printf("saw %016llx\n", (unsigned long long)seen[i]);
	return 0;
}
