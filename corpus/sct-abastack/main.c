/* abastack - the ABA problem.
 *
 * pop: read the head, read its successor, swap the head for the successor. If, between the reads and
 * the swap, another thread pops both nodes and pushes the first back, the swap succeeds and
 * installs a node that somebody else owns.
 * Cure: a version beside the index.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { NODES = 3, NIL = 0 };

static atomic_int next_of[NODES + 1]; /* nodes are numbered from 1 */
static atomic_llong head;             /* node, and version above it */
static atomic_int owned[NODES + 1];

static long long make(long long old, int node)
{
#ifdef FIXED
	return ((old >> 32) + 1) << 32 | node;
#else
	(void)old;
	return node;
#endif
}

static int pop(void)
{
	long long h = atomic_load(&head); /* BUG:a */
	int node, next;

	do {
		node = (int)(h & 0xffffffff);
		if (node == NIL)
			return NIL;
		next = atomic_load(&next_of[node]);
	} while (!atomic_compare_exchange_strong(&head, &h, make(h, next))); /* BUG:c */
	assert(atomic_fetch_add(&owned[node], 1) == 0);
	return node;
}

static void push(int node)
{
	long long h = atomic_load(&head);

	atomic_fetch_sub(&owned[node], 1);
	do
		atomic_store(&next_of[node], (int)(h & 0xffffffff));
	while (!atomic_compare_exchange_strong(&head, &h, make(h, node))); /* BUG:b */
}

static void *once(void *arg)
{
	(void)arg;
	pop();
	pop();
	return NULL;
}

static void *around(void *arg)
{
	int first = pop(), second = pop();

	(void)arg;
	(void)second; /* kept: nobody else may get it */
	if (first != NIL)
		push(first);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int i;

	for (i = NODES; i >= 1; i--) {
		atomic_store(&next_of[i], (int)atomic_load(&head));
		atomic_store(&head, i);
	}
	pthread_create(&a, NULL, once, NULL);
	pthread_create(&b, NULL, around, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
