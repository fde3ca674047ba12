/* Is a vector of mode order what really happened? Four threads write and read one variable, in bursts of many lengths,
 * so that each of them keeps the element's lock for a while and has it taken away; every read is kept.
 *	turns run FILE          do it, write down what was read
 *	turns check FILE DIR    read DIR/vectors: does each read see the last write before it? */
#include "unplait/vectors.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 60000 };
static unsigned shared;
static unsigned seen[THREADS][ROUNDS];
static pthread_barrier_t all;

static unsigned value(unsigned thread, unsigned round) { return (thread + 1) << 24 | round; }

static void *work(void *p)
{
	unsigned me = (unsigned)(unsigned long)p, x = me * 7919 + 1, burst = 0, *mine = seen[me];

	pthread_barrier_wait(&all);
	for (unsigned i = 0; i < ROUNDS; i++) {
		__atomic_store_n(&shared, value(me, i), __ATOMIC_RELAXED);
		if (burst-- == 0) { /* others write before we read */
			x = x * 1103515245 + 12345;
			burst = 1u << (x >> 16) % 12;
			sched_yield();
		}
		mine[i] = __atomic_load_n(&shared, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int run(const char *path)
{
	pthread_t t[THREADS];
	FILE *f;

	pthread_barrier_init(&all, NULL, THREADS);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	f = fopen(path, "wb");
	return !f || fwrite(seen, sizeof(seen), 1, f) != 1 || fclose(f);
}

static unsigned char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	unsigned char *p = malloc(1 << 26);

	*len = f ? fread(p, 1, 1 << 26, f) : 0;
	if (f)
		fclose(f);
	return p;
}

/* One element's runs in order: does it have all the accesses, and are they as seen? */
static int check_element(const unsigned char *file, size_t used, unsigned element)
{
	unsigned done[THREADS] = { 0 }, last = 0, wrong = 0, total = 0, others = 0;

	for (unsigned sequence = 0, found = 1; found; sequence++) {
		found = 0;
		for (size_t at = sizeof(struct plait_vectors_header); at + sizeof(struct plait_vectors_chunk) <= used;) {
			const struct plait_vectors_chunk *c = (const void *)(file + at);

			at += sizeof(*c) + 4ul * c->nwords;
			if (!c->reserved || c->element != element || c->sequence != sequence)
				continue;
			found = 1;
			for (unsigned i = 0; i < c->nwords && c->words[i]; i++) {
				unsigned t = (c->words[i] & ((1u << PLAIT_VECTORS_THREAD_BITS) - 1)) - 1;
				unsigned n = c->words[i] >> PLAIT_VECTORS_THREAD_BITS;

				for (; n && t < THREADS; n--, total++, done[t]++) {
					if (done[t] % 2 == 0)
						last = value(t, done[t] / 2);
					else {
						others += last >> 24 != t + 1;
						wrong += done[t] / 2 >= ROUNDS || seen[t][done[t] / 2] != last;
					}
				}
			}
		}
	}
	if (total != 2 * THREADS * ROUNDS)
		return -1;
	printf("%u accesses, %s of another's write, %u reads that do not fit\n", total, others > 100 ? "many reads" : "few", wrong);
	return wrong != 0;
}

static int check(const char *path, const char *dir)
{
	char vectors[4096];
	size_t len;
	unsigned char *p = slurp(path, &len);
	const struct plait_vectors_header *h;
	int result = -1;

	if (len != sizeof(seen))
		return 3;
	memcpy(seen, p, len);
	snprintf(vectors, sizeof(vectors), "%s/vectors", dir);
	p = slurp(vectors, &len);
	h = (const void *)p;
	if (len < sizeof(*h) || h->lost)
		return 3;
	for (size_t at = sizeof(*h); at + sizeof(struct plait_vectors_chunk) <= h->used && result < 0;) {
		const struct plait_vectors_chunk *c = (const void *)(p + at);

		at += sizeof(*c) + 4ul * c->nwords;
		if (c->reserved && c->sequence == 0)
			result = check_element(p, h->used, c->element);
	}
	if (result < 0)
		puts("no element has all the accesses");
	return result != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "run"))
		return run(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "check"))
		return check(argv[2], argv[3]);
	return 2;
}
