/* cache.c - slot to property, and a flag that says when there is nothing to flush. */
#include <assert.h>
#include <string.h>

#include "js.h"

/* Between the steps of a fill or a flush the buggy cache lets go of its lock. */
static void step(struct cache *c)
{
#ifndef FIXED
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->lock);
#else
	(void)c;
#endif
}

int cache_find(int slot, long *value)
{
	struct cache *c = &rt->cache;
	struct property *p;

	pthread_mutex_lock(&c->lock);
	p = c->table[slot];
	if (p) {
		assert(p->magic == PROP_LIVE && p->slot == slot);
		*value = p->value;
		c->hits++;
	} else {
		c->misses++;
	}
	pthread_mutex_unlock(&c->lock);
	return p != NULL;
}

void cache_fill(struct property *p)
{
	struct cache *c = &rt->cache;

	pthread_mutex_lock(&c->lock);
	c->table[p->slot] = p; /* BUG:b */
	step(c);
	c->empty = 0; /* BUG:c */
	c->fills++;
	pthread_mutex_unlock(&c->lock);
}

void cache_flush(void)
{
	struct cache *c = &rt->cache;
	int i;

	pthread_mutex_lock(&c->lock);
	if (!c->empty) {
		for (i = 0; i < SLOTS; i++)
			c->table[i] = NULL; /* BUG:a */
		step(c);
		c->empty = 1; /* BUG:d */
		c->flushes++;
	}
	pthread_mutex_unlock(&c->lock);
}
