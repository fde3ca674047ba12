/* A handler is freed and stays in the list that is called later (CVE-2014-1776 and others: use after free of a
 * callback). The block is given to somebody else in between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct handler {
	struct handler *next;
	long (*run)(struct handler *);
	long weight;
};

static struct handler *handlers;

static long weigh(struct handler *h) { return h->weight; }

static __attribute__((noinline)) struct handler *add(long weight)
{
	struct handler *h = malloc(sizeof(*h));

	*h = (struct handler){ handlers, weigh, weight };
	handlers = h;
	return h;
}

static __attribute__((noinline)) void drop(struct handler *h)
{
	free(h); /* BUG:a */
}

static __attribute__((noinline)) long run_all(void)
{
	long sum = 0;

	for (struct handler *h = handlers; h; h = h->next)
		sum += h->run(h);
	return sum;
}

int main(void)
{
	struct handler *second;
	char *name;

	add(1);
	second = add(2);
	add(3);
	drop(second);
	name = malloc(sizeof(struct handler));
	memset(name, 'n', sizeof(struct handler));
	return (int)run_all();
}
