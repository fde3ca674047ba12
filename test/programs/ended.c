/* A lock, a condition variable, a semaphore or a barrier that is used after its end: ended SHAPE PLACE.
 * PLACE says how it ends: `heap' (freed), `stack' (its function returns), `destroyed'. The waiter sees that the
 * work is done and goes; the notifier uses the object once more. -DCURED: the waiter joins the notifier first. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct request {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	pthread_barrier_t barrier;
	pthread_spinlock_t spin;
	sem_t sem;
	atomic_int done;
};

static pthread_t notifier;
static bool joined;

static void join(void)
{
	if (!joined)
		pthread_join(notifier, NULL);
	joined = true;
}

/* ---- the notifier ---- */

static void signal_it(struct request *r)
{
	pthread_mutex_lock(&r->mutex);
	r->done = 1;
	pthread_mutex_unlock(&r->mutex);
	pthread_cond_signal(&r->cond);
}

static void broadcast_it(struct request *r)
{
	pthread_mutex_lock(&r->mutex);
	r->done = 1;
	pthread_mutex_unlock(&r->mutex);
	pthread_cond_broadcast(&r->cond);
}

static void unlock_it(struct request *r)
{
	pthread_mutex_lock(&r->mutex);
	r->done = 1;
	pthread_mutex_unlock(&r->mutex);
}

static void write_it(struct request *r)
{
	pthread_rwlock_wrlock(&r->rwlock);
	r->done = 1;
	pthread_rwlock_unlock(&r->rwlock);
}

static void spin_it(struct request *r)
{
	pthread_spin_lock(&r->spin);
	r->done = 1;
	pthread_spin_unlock(&r->spin);
}

static void post_it(struct request *r)
{
	r->done = 1;
	sem_post(&r->sem);
}

static void meet_it(struct request *r)
{
	r->done = 1;
	pthread_barrier_wait(&r->barrier);
}

static const struct shape {
	const char *name;
	void (*use)(struct request *r);
	bool waits;
} shapes[] = {
	{ "signal", signal_it, true }, { "broadcast", broadcast_it, true },
	{ "mutex", unlock_it, false }, { "rwlock", write_it, false },
	{ "spin", spin_it, false },    { "semaphore", post_it, false },
	{ "barrier", meet_it, false },
};
static const struct shape *shape;

static void *notify(void *r)
{
	shape->use(r);
	return NULL;
}

/* ---- the waiter ---- */

static void wait_for_it(struct request *r)
{
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->cond, NULL);
	pthread_rwlock_init(&r->rwlock, NULL);
	pthread_barrier_init(&r->barrier, NULL, 1);
	pthread_spin_init(&r->spin, 0);
	sem_init(&r->sem, 0, 0);
	r->done = 0;
	joined = false;
	pthread_create(&notifier, NULL, notify, r);
	if (shape->waits) {
		pthread_mutex_lock(&r->mutex);
		while (!r->done)
			pthread_cond_wait(&r->cond, &r->mutex);
		pthread_mutex_unlock(&r->mutex);
	} else if (!r->done) {
		join();
	}
#ifdef CURED
	join();
#endif
}

static void on_heap(void)
{
	struct request *r = malloc(sizeof(*r));

	wait_for_it(r);
	free(r);
}

static void on_stack(void)
{
	struct request r;

	wait_for_it(&r);
}

static void destroyed(void)
{
	static struct request r;

	wait_for_it(&r);
	pthread_mutex_destroy(&r.mutex);
	pthread_cond_destroy(&r.cond);
	pthread_rwlock_destroy(&r.rwlock);
	pthread_barrier_destroy(&r.barrier);
	pthread_spin_destroy(&r.spin);
	sem_destroy(&r.sem);
}

int main(int argc, char **argv)
{
	assert(argc > 2);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(argv[1], shapes[i].name) == 0)
			shape = &shapes[i];
	assert(shape);
	for (int i = 0; i < 2; i++) { /* the second time in the memory of the first */
		if (strcmp(argv[2], "heap") == 0)
			on_heap();
		else if (strcmp(argv[2], "stack") == 0)
			on_stack();
		else
			destroyed();
		join();
	}
	return 0;
}
