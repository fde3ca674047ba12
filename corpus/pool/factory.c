/* factory.c - makes, checks and destroys what the pool keeps. */
#include "pool.h"

#include <assert.h>
#include <stdlib.h>

#define WORN_OUT 5 /* uses */

void factory_init(struct factory *f)
{
	pthread_mutex_init(&f->lock, NULL);
	f->made = f->destroyed = 0;
}

void factory_deinit(struct factory *f)
{
	pthread_mutex_destroy(&f->lock);
}

struct object *factory_make(struct factory *f)
{
	struct object *o = calloc(1, sizeof(*o));

	assert(o);
	pthread_mutex_lock(&f->lock);
	o->serial = ++f->made;
	pthread_mutex_unlock(&f->lock);
	return o;
}

int factory_validate(const struct object *o)
{
	return o->serial > 0 && o->uses < WORN_OUT;
}

void factory_destroy(struct factory *f, struct object *o)
{
	pthread_mutex_lock(&f->lock);
	f->destroyed++;
	pthread_mutex_unlock(&f->lock);
	free(o);
}

int factory_living(struct factory *f)
{
	int n;

	pthread_mutex_lock(&f->lock);
	n = f->made - f->destroyed;
	pthread_mutex_unlock(&f->lock);
	return n;
}
