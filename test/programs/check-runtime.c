/* A stand-in for libplait that checks the pruning of `unplait cc`: link with UNPLAIT_TRACE_ALL=1 and
 * UNPLAIT_RUNTIME=this. It watches every access after the first pthread_create and complains when two
 * threads touch the same byte, one of them writing, and one of the two accesses had been judged private
 * (a site without element). Slow, simple, one lock. */
#define _GNU_SOURCE
#include "unplait/hooks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plait_variant = PLAIT_VARIANT_FULL;
__thread uint32_t plait_call_site;
__thread uint64_t plait_bits = 1;

static const struct plait_module *module;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int watching, nthreads = 1;
static __thread unsigned self;
static unsigned long nbad, nseen;

struct entry { /* one byte of memory */
	uintptr_t addr;
	uint64_t readers, writers;	 /* by thread */
	uint32_t private_site[2];	 /* a private read, a private write */
	unsigned private_thread[2];
};
static struct entry *table;
static size_t nslots = 1 << 22;
static unsigned char *reported;

static struct entry *find(uintptr_t addr)
{
	size_t i = (addr * 0x9e3779b97f4a7c15ull) >> 42;

	for (;; i++) {
		struct entry *e = &table[i & (nslots - 1)];

		if (e->addr == addr || e->addr == 0) {
			e->addr = addr;
			return e;
		}
	}
}

static void complain(uint32_t site, uint32_t other, const void *p)
{
	if (!reported[site]) {
		reported[site] = 1;
		nbad++;
		fprintf(stderr, "PRUNED site %u conflicts (other site %u) at %p\n", site, other, p);
	}
}

static void watch(const void *p, size_t n, int write, uint32_t site)
{
	int private = site && module->element_of_site[site - 1] == UINT32_MAX;
	uint64_t me = 1ull << (self % 64);

	if (!__atomic_load_n(&watching, __ATOMIC_RELAXED) || nseen > 20000000)
		return;
	pthread_mutex_lock(&lock);
	nseen++;
	for (size_t i = 0; i < n && i < 4096; i++) {
		struct entry *e = find((uintptr_t)p + i);
		uint64_t others = (write ? e->readers | e->writers : e->writers) & ~me;

		if (others && private)
			complain(site, 0, p);
		for (int k = 0; k < 2; k++) /* an earlier private access by somebody else */
			if (e->private_site[k] && e->private_thread[k] != self && (write || k == 1))
				complain(e->private_site[k], site, p);
		if (private) {
			e->private_site[write] = site;
			e->private_thread[write] = self;
		}
		if (write)
			e->writers |= me;
		else
			e->readers |= me;
	}
	pthread_mutex_unlock(&lock);
}

static void forget(const void *p, size_t n)
{
	if (!p || !watching)
		return;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n; i++) {
		struct entry *e = find((uintptr_t)p + i);

		*e = (struct entry){ .addr = e->addr };
	}
	pthread_mutex_unlock(&lock);
}

static void report(void)
{
	if (getenv("CHECK_VERBOSE") || nbad)
		fprintf(stderr, "checked %lu accesses, %lu wrongly pruned sites\n", nseen, nbad);
	if (nbad)
		_exit(66);
}

void plait_register_module(const struct plait_module *m)
{
	if (m->is_library)
		return;
	module = m;
	table = calloc(nslots, sizeof(*table));
	reported = calloc(m->nsites + 1, 1);
	atexit(report);
}

struct start {
	void *(*fn)(void *);
	void *arg;
	unsigned id;
};

static void *started(void *p)
{
	struct start s = *(struct start *)p;
	char here;

	free(p);
	self = s.id;
	forget(&here - (256 << 10), 300 << 10); /* a stack may have been somebody else's */
	return s.fn(s.arg);
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *s = malloc(sizeof(*s));

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	*s = (struct start){ fn, arg, (unsigned)__atomic_fetch_add(&nthreads, 1, 5) };
	__atomic_store_n(&watching, 1, 5);
	return real(t, a, started, s);
}

#define HOOKS(n, T)                                                                                    \
	T plait_read##n(const void *p, uint32_t site)                                                  \
	{                                                                                              \
		watch(p, n, 0, site);                                                                  \
		return *(const volatile T *)p;                                                         \
	}                                                                                              \
	void plait_write##n(void *p, T v, uint32_t site)                                               \
	{                                                                                              \
		watch(p, n, 1, site);                                                                  \
		*(volatile T *)p = v;                                                                  \
	}                                                                                              \
	T plait_atomic_load##n(const void *p, uint32_t order, uint32_t site)                           \
	{                                                                                              \
		(void)order;                                                                           \
		watch(p, n, 0, site);                                                                  \
		return __atomic_load_n((const T *)p, 5);                                               \
	}                                                                                              \
	void plait_atomic_store##n(void *p, T v, uint32_t order, uint32_t site)                        \
	{                                                                                              \
		(void)order;                                                                           \
		watch(p, n, 1, site);                                                                  \
		__atomic_store_n((T *)p, v, 5);                                                        \
	}                                                                                              \
	T plait_atomic_cas##n(void *p, T expected, T desired, uint32_t order, uint32_t site)           \
	{                                                                                              \
		(void)order;                                                                           \
		watch(p, n, 1, site);                                                                  \
		__atomic_compare_exchange_n((T *)p, &expected, desired, 0, 5, 5);                      \
		return expected;                                                                       \
	}                                                                                              \
	T plait_atomic_rmw##n(void *p, T v, uint32_t op, uint32_t order, uint32_t site)                \
	{                                                                                              \
		T old = __atomic_load_n((T *)p, 5), new;                                               \
		(void)order;                                                                           \
		watch(p, n, 1, site);                                                                  \
		do {                                                                                   \
			switch (op) {                                                                  \
			case PLAIT_RMW_ADD: new = old + v; break;                                      \
			case PLAIT_RMW_SUB: new = old - v; break;                                      \
			case PLAIT_RMW_AND: new = old & v; break;                                      \
			case PLAIT_RMW_NAND: new = (T)~(old & v); break;                               \
			case PLAIT_RMW_OR: new = old | v; break;                                       \
			case PLAIT_RMW_XOR: new = old ^ v; break;                                      \
			case PLAIT_RMW_UMAX: new = old > v ? old : v; break;                           \
			case PLAIT_RMW_UMIN: new = old < v ? old : v; break;                           \
			default: new = v;                                                              \
			}                                                                              \
		} while (!__atomic_compare_exchange_n((T *)p, &old, new, 0, 5, 5));                    \
		return old;                                                                            \
	}
HOOKS(1, uint8_t)
HOOKS(2, uint16_t)
HOOKS(4, uint32_t)
HOOKS(8, uint64_t)

void plait_read_range(const void *p, size_t n, uint32_t site) { watch(p, n, 0, site); }
void plait_write_range(void *p, size_t n, uint32_t site) { watch(p, n, 1, site); }
void plait_fence(uint32_t order, uint32_t site) { (void)order; (void)site; __atomic_thread_fence(5); }
void plait_branch(uint32_t successor, uint32_t site) { (void)successor; (void)site; }
void plait_flush_bits(void) { plait_bits = 1; }
void plait_path_switch(uint32_t a, uint32_t b) { (void)a; (void)b; }
void plait_path_value(uint64_t v) { (void)v; }
void plait_path_input(uint32_t s, uint64_t v) { (void)s; (void)v; }
void plait_path_input_range(uint32_t s, const void *p, size_t n) { (void)s; (void)p; (void)n; }

void *plait_malloc(size_t n)
{
	void *p = malloc(n);
	forget(p, n);
	return p;
}
void *plait_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);
	forget(p, n * size);
	return p;
}
void *plait_realloc(void *old, size_t n)
{
	void *p = realloc(old, n);
	if (p != old)
		forget(p, n);
	return p;
}
void *plait_memalign(size_t a, size_t n)
{
	void *p = aligned_alloc(a, n);
	forget(p, n);
	return p;
}
int plait_posix_memalign(void **r, size_t a, size_t n)
{
	int e = posix_memalign(r, a, n);
	if (!e)
		forget(*r, n);
	return e;
}
void plait_free(void *p) { free(p); }
void plait_note_alloc(void *p, size_t n) { forget(p, n); }
void plait_note_free(void *p) { (void)p; }
