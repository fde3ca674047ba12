/* circularlist - threads rotate a shared list: take the head, process it, append it at the tail.
 *
 * Taking and appending are properly locked, one by one. Two threads can take elements 1 and 2 and
 * append them as 2 and 1: whatever is served in turn is now served out of turn.
 * Cure: one critical section for the rotation.   usage: main [threads=4] [rotations=6] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { ELEMENTS = 8, MAX = 64 };

struct node {
	struct node *next;
	int id;
	int served;
};

static struct {
	pthread_mutex_t lock;
	struct node *head, *tail;
} list = { .lock = PTHREAD_MUTEX_INITIALIZER };
static int rotations;

static void list_append(struct node *n)
{
	n->next = NULL;
	if (list.tail)
		list.tail->next = n;
	else
		list.head = n;
	list.tail = n; /* BUG:b */
}

static struct node *list_take(void)
{
	struct node *n = list.head; /* BUG:a */

	if (n) {
		list.head = n->next;
		if (!list.head)
			list.tail = NULL;
	}
	return n;
}

static void rotate(void)
{
	struct node *n;

	pthread_mutex_lock(&list.lock);
	n = list_take();
#ifndef FIXED
	pthread_mutex_unlock(&list.lock);
#endif
	if (n)
		n->served++;
#ifndef FIXED
	pthread_mutex_lock(&list.lock);
#endif
	if (n)
		list_append(n);
	pthread_mutex_unlock(&list.lock);
}

static void *worker(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < rotations; i++)
		rotate();
	return NULL;
}

static void check_order(void)
{
	struct node *n = list.head;
	int count = 0, expect;

	for (expect = n->id; n; n = n->next, count++) {
		assert(n->id == expect);
		expect = (expect + 1) % ELEMENTS;
	}
	assert(count == ELEMENTS);
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t t[MAX];

	rotations = argc > 2 ? atoi(argv[2]) : 6;
	if (n < 1 || n > MAX || rotations < 1)
		return 2;
	for (i = 0; i < ELEMENTS; i++) {
		struct node *node = calloc(1, sizeof(*node));

		assert(node);
		node->id = i;
		list_append(node);
	}
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	check_order();
	while (list.head)
		free(list_take());
	return 0;
}
