/* mozjsinterp - a script interpreter whose property cache disagrees with its own `empty` flag.
 *
 * Interpreter threads run small bytecode programs over one shared object. Looking a property up
 * fills a cache; deleted properties are doomed and freed by the collector thread, which first
 * flushes the cache, unless its flag says it is empty. Filling stores the entry, then clears
 * the flag; flushing clears the table, then sets the flag. When a fill falls between the two steps
 * of a flush, an entry stays in a cache that is marked empty: the next collection skips the
 * flush, frees the property, and the entry dangles. Some lookup later hits it.
 * Cure: table and flag change together (cache.c).
 *
 * cache.c the property cache   scope.c the shared object   interp.c the bytecode machine
 * usage: main [interpreters=4] [rounds=4] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "js.h"

enum { MAX = 32 };

struct runtime *rt;

/* The four scripts. Slots 0..3 are properties that come and go, 4..7 are permanent. */
static const struct insn script_define[] = {
	{ OP_PUSH, 7 }, { OP_SET, 0 }, { OP_GET, 0 }, { OP_GET, 4 }, { OP_ADD, 0 }, { OP_SET, 4 },
	{ OP_DELETE, 0 }, { OP_COLLECT, 0 }, { OP_HALT, 0 },
};
static const struct insn script_sum[] = {
	{ OP_GET, 4 }, { OP_GET, 5 }, { OP_ADD, 0 }, { OP_GET, 6 }, { OP_ADD, 0 }, { OP_POP, 0 },
	{ OP_GET, 0 }, { OP_POP, 0 }, { OP_HALT, 0 },
};
static const struct insn script_loop[] = {
	{ OP_PUSH, 3 }, { OP_GET, 1 }, { OP_POP, 0 }, { OP_PUSH, -1 }, { OP_ADD, 0 }, { OP_DUP, 0 },
	{ OP_JNZ, 1 }, { OP_POP, 0 }, { OP_HALT, 0 },
};
static const struct insn script_churn[] = {
	{ OP_PUSH, 1 }, { OP_SET, 1 }, { OP_GET, 1 }, { OP_POP, 0 }, { OP_DELETE, 1 }, { OP_GET, 0 },
	{ OP_POP, 0 }, { OP_COLLECT, 0 }, { OP_HALT, 0 },
};
static const struct insn *const scripts[] = { script_define, script_sum, script_loop, script_churn };

static int rounds;

static void *interpreter(void *arg)
{
	int i, id = *(int *)arg;

	for (i = 0; i < rounds; i++)
		interpret(scripts[(id + i) % 4]);
	return NULL;
}

/* Collect whenever asked to, until told to stop. */
static void *collector(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&rt->gc_lock);
	for (;;) {
		while (!rt->gc_wanted && !rt->stopping)
			pthread_cond_wait(&rt->gc_changed, &rt->gc_lock);
		if (!rt->gc_wanted)
			break;
		rt->gc_wanted = 0;
		pthread_mutex_unlock(&rt->gc_lock);
		scope_collect();
		pthread_mutex_lock(&rt->gc_lock);
	}
	pthread_mutex_unlock(&rt->gc_lock);
	return NULL;
}

static void runtime_init(void)
{
	int slot;

	rt = calloc(1, sizeof(*rt));
	assert(rt);
	rt->cache.empty = 1;
	pthread_mutex_init(&rt->cache.lock, NULL);
	pthread_mutex_init(&rt->scope_lock, NULL);
	pthread_mutex_init(&rt->gc_lock, NULL);
	pthread_cond_init(&rt->gc_changed, NULL);
	for (slot = 4; slot < SLOTS; slot++)
		scope_set(slot, slot * 100);
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 4, id[MAX];
	pthread_t t[MAX], gc;

	rounds = argc > 2 ? atoi(argv[2]) : 4;
	if (n < 1 || n > MAX || rounds < 1 || rounds > 1000)
		return 2;
	runtime_init();
	pthread_create(&gc, NULL, collector, NULL);
	for (i = 0; i < n; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, interpreter, &id[i]);
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	pthread_mutex_lock(&rt->gc_lock);
	rt->stopping = 1;
	pthread_cond_signal(&rt->gc_changed);
	pthread_mutex_unlock(&rt->gc_lock);
	pthread_join(gc, NULL);
	free(rt);
	return 0;
}
