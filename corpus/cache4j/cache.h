/* cache.h - a bounded object cache with time to live, least-recently-used eviction and a cleaner thread,
 * shaped like the Java library cache4j. Every cache_* function may be called from any thread. */
#ifndef CACHE_H
#define CACHE_H

#include <pthread.h>

#define CACHE_BUCKETS 8

struct object {
	int key;
	int value;
	int size;     /* what it counts against the memory limit */
	int created;  /* in ticks of the cache's clock */
	int accessed;
	struct object *chain;        /* next in the bucket */
	struct object *newer, *older; /* by last access */
};

struct cache {
	pthread_mutex_t lock;
	struct object *bucket[CACHE_BUCKETS];
	struct object *newest, *oldest;
	int objects, max_objects;
	int memory, max_memory;
	int ttl;   /* ticks an object lives, 0: for ever */
	int clock; /* one tick per operation */
	int hits, misses, evicted, expired;
};

void cache_init(struct cache *c, int max_objects, int max_memory, int ttl);
void cache_deinit(struct cache *c);
void cache_put(struct cache *c, int key, int value, int size);
/* True and the value in *ret when the object is there and alive. */
int cache_get(struct cache *c, int key, int *ret);
void cache_remove(struct cache *c, int key);
int cache_size(struct cache *c);
void cache_clear(struct cache *c);
/* Remove what has outlived its time. */
void cache_clean(struct cache *c);
/* Do the counters agree with the lists? */
int cache_is_sound(struct cache *c);

/* The thread that calls cache_clean() now and then. It naps in between, and changing the interval interrupts the nap.
 * An interrupt is only caught inside the cleaner's try block. */
struct cleaner {
	struct cache *cache;
	pthread_t thread;
	pthread_mutex_t config_lock;
	int interval; /* ticks of a nap */
	pthread_mutex_t lock;
	int sleeping; /* the cleaner may be interrupted */
	int in_try;   /* it is where it catches interrupts */
	int interrupted;
	int rounds;
	int cleanings;
};

void cleaner_start(struct cleaner *cl, struct cache *c, int interval, int rounds);
void cleaner_join(struct cleaner *cl);
void cleaner_set_interval(struct cleaner *cl, int interval);

#endif
