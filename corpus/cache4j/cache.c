/* cache.c - the cache proper: a hash table whose objects also hang in a list by last access. */
#include "cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cache_init(struct cache *c, int max_objects, int max_memory, int ttl)
{
	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
	c->max_objects = max_objects;
	c->max_memory = max_memory;
	c->ttl = ttl;
}

void cache_deinit(struct cache *c)
{
	cache_clear(c);
	pthread_mutex_destroy(&c->lock);
}

/* All static functions below are called with the lock held. */

static struct object **find(struct cache *c, int key)
{
	struct object **at = &c->bucket[(unsigned)key % CACHE_BUCKETS];

	while (*at && (*at)->key != key)
		at = &(*at)->chain;
	return at;
}

static void unlink_age(struct cache *c, struct object *o)
{
	if (o->newer)
		o->newer->older = o->older;
	else
		c->newest = o->older;
	if (o->older)
		o->older->newer = o->newer;
	else
		c->oldest = o->newer;
}

static void link_newest(struct cache *c, struct object *o)
{
	o->newer = NULL;
	o->older = c->newest;
	if (c->newest)
		c->newest->newer = o;
	else
		c->oldest = o;
	c->newest = o;
	o->accessed = c->clock;
}

static void drop(struct cache *c, struct object **at)
{
	struct object *o = *at;

	*at = o->chain;
	unlink_age(c, o);
	c->objects--;
	c->memory -= o->size;
	free(o);
}

static int has_expired(const struct cache *c, const struct object *o)
{
	return c->ttl > 0 && c->clock - o->created > c->ttl;
}

static void make_room(struct cache *c, int size)
{
	while (c->oldest && (c->objects >= c->max_objects || c->memory + size > c->max_memory)) {
		drop(c, find(c, c->oldest->key));
		c->evicted++;
	}
}

void cache_put(struct cache *c, int key, int value, int size)
{
	struct object **at, *o = malloc(sizeof(*o));

	assert(o);
	pthread_mutex_lock(&c->lock);
	c->clock++;
	at = find(c, key);
	if (*at)
		drop(c, at);
	make_room(c, size);
	o->key = key;
	o->value = value;
	o->size = size;
	o->created = c->clock;
	at = find(c, key);
	o->chain = NULL;
	*at = o;
	link_newest(c, o);
	c->objects++;
	c->memory += size;
	pthread_mutex_unlock(&c->lock);
}

int cache_get(struct cache *c, int key, int *ret)
{
	struct object **at;
	int found = 0;

	pthread_mutex_lock(&c->lock);
	c->clock++;
	at = find(c, key);
	if (*at && has_expired(c, *at)) {
		drop(c, at);
		c->expired++;
	} else if (*at) {
		unlink_age(c, *at);
		link_newest(c, *at);
		*ret = (*at)->value;
		found = 1;
	}
	if (found)
		c->hits++;
	else
		c->misses++;
	pthread_mutex_unlock(&c->lock);
	return found;
}

void cache_remove(struct cache *c, int key)
{
	struct object **at;

	pthread_mutex_lock(&c->lock);
	c->clock++;
	at = find(c, key);
	if (*at)
		drop(c, at);
	pthread_mutex_unlock(&c->lock);
}

int cache_size(struct cache *c)
{
	int n;

	pthread_mutex_lock(&c->lock);
	n = c->objects;
	pthread_mutex_unlock(&c->lock);
	return n;
}

void cache_clear(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	while (c->oldest)
		drop(c, find(c, c->oldest->key));
	pthread_mutex_unlock(&c->lock);
}

void cache_clean(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	for (int i = 0; i < CACHE_BUCKETS; i++) {
		struct object **at = &c->bucket[i];

		while (*at) {
			if (has_expired(c, *at)) {
				drop(c, at);
				c->expired++;
			} else {
				at = &(*at)->chain;
			}
		}
	}
	pthread_mutex_unlock(&c->lock);
}

int cache_is_sound(struct cache *c)
{
	int objects = 0, memory = 0;

	pthread_mutex_lock(&c->lock);
	for (struct object *o = c->oldest; o; o = o->newer) {
		objects++;
		memory += o->size;
	}
	objects -= c->objects;
	memory -= c->memory;
	pthread_mutex_unlock(&c->lock);
	return objects == 0 && memory == 0;
}
