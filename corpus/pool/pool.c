/* pool.c - the pool.
 *
 * The published bug is in give_back(): it looks whether the pool is closed before it takes the lock, and does not look again.
 * A pool that is closed in between keeps the object for ever. To get there a run must go through the branch "open, keep it"
 * after a close, and find room among the idle ones.
 *
 * The cure looks under the lock. */
#include "pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *p, struct factory *f, int max_active, int max_idle)
{
	memset(p, 0, sizeof(*p));
	p->factory = f;
	p->max_active = max_active;
	p->max_idle = max_idle;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->returned, NULL);
}

void pool_deinit(struct pool *p)
{
	pthread_cond_destroy(&p->returned);
	pthread_mutex_destroy(&p->lock);
}

static __attribute__((noinline)) int is_closed(const struct pool *p)
{
	return p->closed; /* BUG:a */
}

/* The following are called with the lock held. */

static void push_idle(struct pool *p, struct object *o)
{
	o->idle_since = p->clock;
	o->next = p->idle;
	p->idle = o; /* BUG:c */
	p->num_idle++;
}

static struct object *pop_idle(struct pool *p)
{
	struct object *o = p->idle;

	if (o) {
		p->idle = o->next;
		p->num_idle--;
	}
	return o;
}

/* An idle object that is still good, or a new one if we may have one more; NULL if neither. */
static struct object *find_object(struct pool *p)
{
	struct object *o;

	while ((o = pop_idle(p))) {
		if (factory_validate(o))
			return o;
		factory_destroy(p->factory, o);
	}
	return p->num_active < p->max_active ? factory_make(p->factory) : NULL;
}

struct object *pool_borrow(struct pool *p)
{
	struct object *o = NULL;

	pthread_mutex_lock(&p->lock);
	p->clock++;
	while (!p->closed && !(o = find_object(p)))
		pthread_cond_wait(&p->returned, &p->lock);
	if (o) {
		p->num_active++;
		p->borrows++;
	}
	pthread_mutex_unlock(&p->lock);
	return o;
}

/* Keep an object, or destroy it when it is worn out, there are enough, or the pool is closed. */
static void give_back(struct pool *p, struct object *o, int was_active)
{
	int keep = factory_validate(o);

#ifndef FIXED
	if (is_closed(p))
		keep = 0;
#endif
	pthread_mutex_lock(&p->lock);
#ifdef FIXED
	if (is_closed(p))
		keep = 0;
#endif
	p->clock++;
	if (was_active)
		p->num_active--;
	if (p->num_idle >= p->max_idle)
		keep = 0;
	if (keep)
		push_idle(p, o);
	pthread_cond_signal(&p->returned);
	pthread_mutex_unlock(&p->lock);
	if (!keep)
		factory_destroy(p->factory, o);
}

void pool_return(struct pool *p, struct object *o)
{
	give_back(p, o, 1);
}

void pool_add(struct pool *p)
{
	give_back(p, factory_make(p->factory), 0);
}

void pool_evict(struct pool *p, int age)
{
	struct object **at, *gone = NULL;

	pthread_mutex_lock(&p->lock);
	p->clock++;
	at = &p->idle;
	while (*at) {
		struct object *o = *at;

		if (p->clock - o->idle_since > age) {
			*at = o->next;
			o->next = gone;
			gone = o;
			p->num_idle--;
			p->evicted++;
		} else {
			at = &o->next;
		}
	}
	pthread_mutex_unlock(&p->lock);
	while (gone) {
		struct object *next = gone->next;

		factory_destroy(p->factory, gone);
		gone = next;
	}
}

void pool_close(struct pool *p)
{
	struct object *o;

	pthread_mutex_lock(&p->lock);
	p->closed = 1; /* BUG:b */
	while ((o = pop_idle(p)))
		factory_destroy(p->factory, o);
	pthread_cond_broadcast(&p->returned);
	pthread_mutex_unlock(&p->lock);
}

int pool_num_idle(struct pool *p)
{
	int n;

	pthread_mutex_lock(&p->lock);
	n = p->num_idle;
	pthread_mutex_unlock(&p->lock);
	return n;
}
