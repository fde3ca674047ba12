/* race-verdicts KIND: races of kinds that the corpus lacks, one per KIND. The right verdict is beside each:
 * what a person says who has read the code. 1025 asks for them. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int x, y, seen;
static atomic_int flag;
static int data, copy;
static int *volatile block;
static struct {
	unsigned a : 4, b : 4;
} bits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* fence: no race. Fences on both sides make the relaxed flag publish the data */
static void *fence_writer(void *p)
{
	data = 1;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return p;
}
static void *fence_reader(void *p)
{
	if (atomic_load_explicit(&flag, memory_order_relaxed)) {
		atomic_thread_fence(memory_order_acquire);
		assert(data == 1);
	}
	return p;
}

/* publish: no race. A release store and an acquire load */
static void *publish_writer(void *p)
{
	data = 1;
	atomic_store_explicit(&flag, 1, memory_order_release);
	return p;
}
static void *publish_reader(void *p)
{
	if (atomic_load_explicit(&flag, memory_order_acquire))
		assert(data == 1);
	return p;
}

/* relaxed: single-ordering. A relaxed flag orders nothing in the language, but the data can only be read after it */
static void *relaxed_writer(void *p)
{
	data = 1;
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return p;
}
static void *relaxed_reader(void *p)
{
	while (!atomic_load_explicit(&flag, memory_order_relaxed))
		;
	assert(data == 1);
	return p;
}

/* seqlock: k-witness-harmless. A torn copy is thrown away */
static void *seq_writer(void *p)
{
	atomic_fetch_add(&flag, 1);
	x = 1;
	y = 1;
	atomic_fetch_add(&flag, 1);
	return p;
}
static void *seq_reader(void *p)
{
	int before = atomic_load(&flag), a = x, b = y;

	if (before % 2 == 0 && before == atomic_load(&flag))
		assert(a == b);
	return p;
}

/* bits: output-differs. Neighbouring bit-fields share a word: a write is lost */
static void *bits_one(void *p)
{
	bits.a = 1;
	return p;
}
static void *bits_two(void *p)
{
	bits.b = 1;
	return p;
}

/* freed: spec-violated. The reader may come after the free */
static void *freed_owner(void *p)
{
	free(block);
	return p;
}
static void *freed_reader(void *p)
{
	seen = block[0];
	return p;
}

/* moved: spec-violated. realloc moves the block under the reader */
static void *moved_owner(void *p)
{
	block = realloc(block, 1 << 20);
	return p;
}
static void *moved_reader(void *p)
{
	seen = block[0];
	return p;
}

/* waiting: spec-violated. The condition is looked at without the lock: the signal is lost */
static void *waiting_one(void *p)
{
	if (!x) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	return p;
}
static void *waiting_two(void *p)
{
	x = 1;
	pthread_cond_signal(&changed);
	return p;
}

/* idempotent: k-witness-harmless. Both store the same word */
static void *idempotent(void *p)
{
	x = 7;
	return p;
}

/* mixed: output-differs. An atomic increment against a plain store */
static void *mixed_one(void *p)
{
	atomic_fetch_add((atomic_int *)&copy, 1);
	return p;
}
static void *mixed_two(void *p)
{
	copy = 10;
	return p;
}

/* status: output-differs. The exit status depends on who comes first */
static void *status_one(void *p)
{
	y = x;
	return p;
}
static void *status_two(void *p)
{
	x = 3;
	return p;
}

static const struct {
	const char *name;
	void *(*one)(void *), *(*two)(void *);
} kinds[] = {
	{ "fence", fence_writer, fence_reader },
	{ "publish", publish_writer, publish_reader },
	{ "relaxed", relaxed_writer, relaxed_reader },
	{ "seqlock", seq_writer, seq_reader },
	{ "bits", bits_one, bits_two },
	{ "freed", freed_owner, freed_reader },
	{ "moved", moved_owner, moved_reader },
	{ "waiting", waiting_one, waiting_two },
	{ "idempotent", idempotent, idempotent },
	{ "mixed", mixed_one, mixed_two },
	{ "status", status_one, status_two },
};

int main(int argc, char **argv)
{
	pthread_t a, b;

	block = calloc(4, sizeof(int));
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		pthread_create(&a, NULL, kinds[i].one, NULL);
		pthread_create(&b, NULL, kinds[i].two, NULL);
		pthread_join(a, NULL);
		pthread_join(b, NULL);
		if (!strcmp(argv[1], "bits"))
			printf("%u %u\n", bits.a, bits.b);
		if (!strcmp(argv[1], "mixed"))
			printf("%d\n", copy);
		return !strcmp(argv[1], "status") ? y : 0;
	}
	return 2;
}
