/* js.h - the runtime that the interpreters share. */
#include <pthread.h>

enum { SLOTS = 8, PROPS = 512, STACK = 16 };
enum { PROP_FREE = 0, PROP_LIVE = 0x11fe, PROP_DEAD = 0xdead };

struct property {
	int magic;
	int slot;
	long value;
	struct property *next; /* in the doomed list */
};

struct cache {
	pthread_mutex_t lock;
	struct property *table[SLOTS];
	int empty; /* nothing in the table: a flush has nothing to do */
	int hits, misses, fills, flushes;
};

struct runtime {
	struct cache cache;

	pthread_mutex_t scope_lock;
	struct property *property[SLOTS]; /* the shared object */
	struct property *doomed;          /* deleted, but perhaps still in the cache */
	struct property pool[PROPS];
	int pool_used;

	pthread_mutex_t gc_lock;
	pthread_cond_t gc_changed;
	int gc_wanted, stopping;
};

enum op { OP_HALT, OP_PUSH, OP_POP, OP_DUP, OP_ADD, OP_JNZ, OP_GET, OP_SET, OP_DELETE, OP_COLLECT };

struct insn {
	enum op op;
	int arg;
};

extern struct runtime *rt;

/* Look a slot up; returns 1 and the value when it is cached. */
int cache_find(int slot, long *value);
/* Enter a property; called with the scope locked, so that the property is alive. */
void cache_fill(struct property *p);
/* Forget everything; called before properties are freed. */
void cache_flush(void);

long scope_get(int slot);
void scope_set(int slot, long value);
void scope_delete(int slot);
void scope_collect(void);

void interpret(const struct insn *code);
