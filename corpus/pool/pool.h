/* pool.h - a pool of reusable objects, shaped like the generic object pool of Apache Commons: objects are borrowed and
 * returned, idle ones are kept for the next borrower up to a limit, and evicted when nobody wants them.
 * Every pool_* function may be called from any thread. */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>

struct object {
	int serial;
	int uses;
	int idle_since; /* ticks of the pool's clock */
	struct object *next;
};

/* Makes and destroys the pooled objects, and knows how many there are. */
struct factory {
	pthread_mutex_t lock;
	int made, destroyed;
};

void factory_init(struct factory *f);
void factory_deinit(struct factory *f);
struct object *factory_make(struct factory *f);
int factory_validate(const struct object *o);
void factory_destroy(struct factory *f, struct object *o);
int factory_living(struct factory *f);

struct pool {
	struct factory *factory;
	pthread_mutex_t lock;
	pthread_cond_t returned;
	struct object *idle; /* most recently returned first */
	int num_idle, max_idle;
	int num_active, max_active;
	int clock; /* one tick per operation */
	int closed;
	int borrows, evicted;
};

void pool_init(struct pool *p, struct factory *f, int max_active, int max_idle);
void pool_deinit(struct pool *p);
/* An object, waiting for one if all are out. NULL when the pool is closed. */
struct object *pool_borrow(struct pool *p);
void pool_return(struct pool *p, struct object *o);
/* Make an object in advance. */
void pool_add(struct pool *p);
/* Destroy objects that have been idle for more than `age` ticks. */
void pool_evict(struct pool *p, int age);
/* Destroy all idle objects; those that are out are destroyed when they are returned. */
void pool_close(struct pool *p);
int pool_num_idle(struct pool *p);

#endif
