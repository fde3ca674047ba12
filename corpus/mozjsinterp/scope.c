/* scope.c - the shared object: properties by slot, and the life of a property.
 *
 * live -> (delete) doomed, may still be in the cache -> (collect) flushed and dead.
 * Dead properties stay where they are, so that a dangling entry is noticed and not guessed. */
#include <assert.h>
#include <stddef.h>

#include "js.h"

static struct property *property_new(int slot, long value)
{
	struct property *p;

	assert(rt->pool_used < PROPS);
	p = &rt->pool[rt->pool_used++];
	p->magic = PROP_LIVE;
	p->slot = slot;
	p->value = value;
	return p;
}

long scope_get(int slot)
{
	struct property *p;
	long value = 0;

	if (cache_find(slot, &value))
		return value;
	pthread_mutex_lock(&rt->scope_lock);
	p = rt->property[slot];
	if (p) {
		value = p->value;
		cache_fill(p);
	}
	pthread_mutex_unlock(&rt->scope_lock);
	return value;
}

void scope_set(int slot, long value)
{
	struct property *p;

	pthread_mutex_lock(&rt->scope_lock);
	p = rt->property[slot];
	if (!p) {
		rt->property[slot] = property_new(slot, value);
	} else {
		pthread_mutex_lock(&rt->cache.lock);
		p->value = value;
		pthread_mutex_unlock(&rt->cache.lock);
	}
	pthread_mutex_unlock(&rt->scope_lock);
}

void scope_delete(int slot)
{
	struct property *p;

	pthread_mutex_lock(&rt->scope_lock);
	p = rt->property[slot];
	if (p) {
		rt->property[slot] = NULL;
		p->next = rt->doomed;
		rt->doomed = p;
	}
	pthread_mutex_unlock(&rt->scope_lock);
}

void scope_collect(void)
{
	struct property *p;

	pthread_mutex_lock(&rt->scope_lock);
	p = rt->doomed;
	rt->doomed = NULL;
	pthread_mutex_unlock(&rt->scope_lock);
	cache_flush();
	pthread_mutex_lock(&rt->cache.lock);
	for (; p; p = p->next)
		p->magic = PROP_DEAD;
	pthread_mutex_unlock(&rt->cache.lock);
}
