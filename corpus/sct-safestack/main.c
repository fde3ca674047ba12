/* safestack - a lock-free stack of array indices that looks right and is not.
 *
 * Pop refuses to take the last element, which is meant to rule out that a stale successor is
 * used; it is not enough: a popper reads the head and its successor, others pop and push around it
 * until head is the same again with another successor, and the popper's compare-and-swap
 * succeeds. Two threads then own one index. Known as a hard one: it needs three threads and at least
 * five preemptions.
 * Cure: the head carries a version and the successor is only read.   usage: main [threads=3] [rounds=2] */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MAX = 16 };

struct cell {
	atomic_int value;
	atomic_int next;
};

struct stack {
	atomic_int count;
	atomic_llong head; /* index in the low half; version above it, when there is one */
	struct cell cell[MAX];
};

static struct stack *s;
static int rounds, threads;

static int head_index(long long head)
{
	return (int)(head & 0xffffffff) - 1;
}

static long long head_make(long long old, int index)
{
#ifdef FIXED
	return ((old >> 32) + 1) << 32 | (unsigned)(index + 1);
#else
	(void)old;
	return index + 1;
#endif
}

static int pop(void)
{
	while (atomic_load(&s->count) > 1) {
		long long h = atomic_load(&s->head); /* BUG:a */
		int index = head_index(h), next;

		if (index < 0)
			continue;
#ifdef FIXED
		next = atomic_load(&s->cell[index].next);
#else
		next = atomic_exchange(&s->cell[index].next, -1);
		if (next < 0)
			continue; /* the end, or somebody else is at it */
#endif
		if (atomic_compare_exchange_strong(&s->head, &h, head_make(h, next))) { /* BUG:c */
			atomic_fetch_sub(&s->count, 1);
			return index;
		}
#ifndef FIXED
		atomic_exchange(&s->cell[index].next, next);
#endif
	}
	return -1;
}

static void push(int index)
{
	long long h = atomic_load(&s->head);

	do
		atomic_store(&s->cell[index].next, head_index(h));
	while (!atomic_compare_exchange_strong(&s->head, &h, head_make(h, index))); /* BUG:b */
	atomic_fetch_add(&s->count, 1);
}

static void *worker(void *arg)
{
	int i, id = *(int *)arg;

	for (i = 0; i < rounds; i++) {
		int tries, mine = -1;

		for (tries = 0; mine < 0 && tries < 3; tries++)
			mine = pop();
		if (mine < 0)
			continue;
		atomic_store(&s->cell[mine].value, id);
		assert(atomic_load(&s->cell[mine].value) == id);
		push(mine);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MAX];
	int i, id[MAX];

	threads = argc > 1 ? atoi(argv[1]) : 3;
	rounds = argc > 2 ? atoi(argv[2]) : 2;
	if (threads < 1 || threads > MAX || rounds < 1)
		return 2;
	s = calloc(1, sizeof(*s));
	assert(s);
	for (i = 0; i < threads; i++)
		atomic_store(&s->cell[i].next, i + 1 < threads ? i + 1 : -1);
	atomic_store(&s->head, 1);
	atomic_store(&s->count, threads);
	for (i = 0; i < threads; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, worker, &id[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	free(s);
	return 0;
}
