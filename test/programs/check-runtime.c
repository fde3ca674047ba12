/* A stand-in for libplait that checks the pruning of `unplait cc`: link with UNPLAIT_TRACE_ALL=1 and
 * UNPLAIT_RUNTIME=this. It watches every access after the first pthread_create and complains when two
 * threads touch the same byte, one of them writing, and one of the two accesses had been judged private
 * (a site without element). Freed memory is forgotten, by whichever thread it was freed, and so are the frames of
 * functions that have returned. Slow, simple, one lock.
 *
 * At the end: exit status 66 when something was wrong. CHECK_REPORT=FILE: the verdict goes to FILE.PID
 * instead, and the exit status stays (for servers and test scripts that look at it). That file is
 * mapped and kept up to date, so that it is there however the process ends. */
#define _GNU_SOURCE
#include "unplait/hooks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int plait_variant = PLAIT_VARIANT_FULL;
__thread uint32_t plait_call_site;
__thread uint64_t plait_bits = 1;
__thread struct plait_values plait_values;
__thread struct plait_shadow plait_shadow;
/* what functions of libc keep (rt/modes/state.c) */
char *plait_state_strtok;
uint64_t plait_state_rand, plait_state_rand48, plait_state_environ;
struct tm plait_state_tm;
char plait_state_asctime[64];
uint64_t plait_state_files, plait_state_locale, plait_state_handlers, plait_state_process;

#define ENOUGH 40000000 /* accesses */

static const struct plait_module *modules[64]; /* executable and libraries, by first site */
static uint32_t bases[64];
static int nmodules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int watching, nthreads = 1;
static __thread unsigned self;
static unsigned long nbad, nseen;

struct byte {
	uint64_t readers, writers; /* by thread */
	uint32_t private_site[2];  /* a private read, a private write */
	uint16_t private_thread[2];
};
#define CHUNK 256
struct chunk {
	uintptr_t number; /* address / CHUNK; 0 = free slot */
	struct byte *bytes;
};
static struct chunk *table;
static const size_t nslots = 1 << 24;
static size_t nchunks;
static uint32_t complained[1000];
static char *verdict; /* CHECK_REPORT, mapped */
static char file[4000];

/* Servers clear their environment (nginx). */
__attribute__((constructor)) static void remember(void)
{
	snprintf(file, sizeof(file), "%s", getenv("CHECK_REPORT") ? getenv("CHECK_REPORT") : "");
}

#define VERDICT "checked %012lu accesses, %06lu wrongly pruned sites\n"

static void renew_verdict(void)
{
	char line[100];
	int n = snprintf(line, sizeof(line), VERDICT, nseen, nbad);

	if (verdict)
		memcpy(verdict, line, (size_t)n);
}

static void open_verdict(void)
{
	char path[4096], line[100];
	int n = snprintf(line, sizeof(line), VERDICT, 0ul, 0ul), fd;

	verdict = NULL;
	if (!*file)
		return;
	snprintf(path, sizeof(path), "%s.%d", file, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0 && write(fd, line, (size_t)n) == n) {
		verdict = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (verdict == MAP_FAILED)
			verdict = NULL;
	}
	if (fd >= 0)
		close(fd);
}

static struct chunk *slot(uintptr_t number)
{
	size_t i = (number * 0x9e3779b97f4a7c15ull) >> 40;

	while (table[i & (nslots - 1)].number && table[i & (nslots - 1)].number != number)
		i++;
	return &table[i & (nslots - 1)];
}

static void *fresh(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static struct byte *find(uintptr_t addr)
{
	static char *spare, *end;
	struct chunk *c = slot(addr / CHUNK);

	if (!c->number) {
		if (spare == end) {
			spare = fresh(64 << 20);
			end = spare ? spare + (64 << 20) : NULL;
		}
		if (!spare || nchunks > nslots / 2)
			return NULL;
		nchunks++;
		c->number = addr / CHUNK;
		c->bytes = (struct byte *)spare;
		spare += CHUNK * sizeof(struct byte);
	}
	return &c->bytes[addr % CHUNK];
}

static void complain(uint32_t site, uint32_t other, const void *p)
{
	for (unsigned long i = 0; i < nbad; i++)
		if (complained[i] == site)
			return;
	if (nbad < 1000)
		complained[nbad++] = site;
	renew_verdict();
	fprintf(stderr, "PRUNED site %u conflicts (other site %u) at %p, thread %u\n", site, other, p, self);
}

/* A library's sites follow those of the modules before it. */
static int is_private(uint32_t site)
{
	for (int i = 0; i < nmodules; i++)
		if (site > bases[i] && site - bases[i] <= modules[i]->nsites)
			return modules[i]->element_of_site[site - bases[i] - 1] == UINT32_MAX;
	return 0;
}

static void watch_byte(struct byte *b, const void *p, int write, uint32_t site, int private)
{
	uint64_t me = 1ull << (self % 64), others = (write ? b->readers | b->writers : b->writers) & ~me;

	if (others && private)
		complain(site, 0, p);
	for (int k = 0; k < 2; k++) /* an earlier private access by somebody else */
		if (b->private_site[k] && b->private_thread[k] != (uint16_t)self && (write || k == 1))
			complain(b->private_site[k], site, p);
	if (private) {
		b->private_site[write] = site;
		b->private_thread[write] = (uint16_t)self;
	}
	if (write)
		b->writers |= me;
	else
		b->readers |= me;
}

static void forget_bytes(uintptr_t at, uintptr_t end)
{
	for (uintptr_t next; at < end; at = next) {
		struct chunk *c = slot(at / CHUNK);

		next = (at / CHUNK + 1) * CHUNK;
		if (next > end)
			next = end;
		if (c->number)
			memset(&c->bytes[at % CHUNK], 0, (next - at) * sizeof(struct byte));
	}
}

#define DEEPEST (8 << 20) /* further away is another stack */

/* The stack of a thread that has come to a hook: what lies below the hook's caller is dead, and a caller that
 * was not there before has a new frame. That it was there is known by where its frame ends and returns to. */
static void enter_frame(const uintptr_t *caller, const uintptr_t *hook)
{
	static __thread struct { uintptr_t end, back; } frames[1000];
	static __thread unsigned n;
	static __thread uintptr_t low; /* as deep as the thread has been */
	uintptr_t here = (uintptr_t)(hook + 2), end = (uintptr_t)(caller + 2);

	if (low && here > low && here - low < DEEPEST)
		forget_bytes(low, here);
	low = here;
	if (end < here || end - here > DEEPEST)
		return;
	while (n && frames[n - 1].end < end)
		n--;
	if (n && frames[n - 1].end == end) {
		if (frames[n - 1].back == caller[1])
			return;
		n--;
	}
	if (n == sizeof(frames) / sizeof(frames[0]))
		n = 0;
	frames[n].end = end;
	frames[n++].back = caller[1];
	forget_bytes(here, end);
}

static void watch_from(const uintptr_t *caller, const uintptr_t *hook, const void *p, size_t n, int write,
		       uint32_t site)
{
	int private = is_private(site);

	if (!__atomic_load_n(&watching, __ATOMIC_RELAXED) || nseen > ENOUGH)
		return;
	pthread_mutex_lock(&lock);
	enter_frame(caller, hook);
	if (++nseen % 64 == 1)
		renew_verdict();
	for (size_t i = 0; i < n && i < 4096; i++) {
		struct byte *b = find((uintptr_t)p + i);

		if (b)
			watch_byte(b, p, write, site, private);
	}
	pthread_mutex_unlock(&lock);
}

/* In a hook, which instrumented code calls; that code has frame pointers. */
#pragma clang diagnostic ignored "-Wframe-address"
#define watch(p, n, write, site)                                                                       \
	watch_from(__builtin_frame_address(1), __builtin_frame_address(0), p, n, write, site)

static void forget(const void *p, size_t n)
{
	if (!p || !__atomic_load_n(&watching, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&lock);
	forget_bytes((uintptr_t)p, (uintptr_t)p + n);
	pthread_mutex_unlock(&lock);
}

static void report(void)
{
	if (!verdict)
		open_verdict();
	renew_verdict();
	if (*file || !nbad)
		return;
	fprintf(stderr, VERDICT, nseen, nbad);
	_exit(66);
}

void plait_register_module(const struct plait_module *m)
{
	if (nmodules == 64)
		return;
	if (!table) {
		table = fresh(nslots * sizeof(*table));
		atexit(report);
	}
	bases[nmodules] = nmodules ? bases[nmodules - 1] + modules[nmodules - 1]->nsites : 0;
	modules[nmodules] = m;
	if (m->module_base)
		*m->module_base = bases[nmodules];
	nmodules++;
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

	if (!real) { /* not earlier: there is no environment before the constructors */
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
		open_verdict();
		pthread_atfork(NULL, NULL, open_verdict);
	}
	*s = (struct start){ fn, arg, (unsigned)__atomic_fetch_add(&nthreads, 1, 5) };
	__atomic_store_n(&watching, 1, 5);
	return real(t, a, started, s);
}

/* float and double, as their bits */
static uint64_t floating(int n, uint32_t op, uint64_t old, uint64_t v)
{
	float f, g;
	double d, e;

	if (n == 4) {
		memcpy(&f, &old, 4);
		memcpy(&g, &v, 4);
		f = op == PLAIT_RMW_FADD ? f + g : f - g;
		memcpy(&old, &f, 4);
	} else {
		memcpy(&d, &old, 8);
		memcpy(&e, &v, 8);
		d = op == PLAIT_RMW_FADD ? d + e : d - e;
		memcpy(&old, &d, 8);
	}
	return old;
}

#define HOOKS(n, T, S)                                                                                 \
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
			case PLAIT_RMW_MAX: new = (S)old > (S)v ? old : v; break;                      \
			case PLAIT_RMW_MIN: new = (S)old < (S)v ? old : v; break;                      \
			case PLAIT_RMW_UMAX: new = old > v ? old : v; break;                           \
			case PLAIT_RMW_UMIN: new = old < v ? old : v; break;                           \
			case PLAIT_RMW_FADD:                                                           \
			case PLAIT_RMW_FSUB: new = (T)floating(n, op, old, v); break;                  \
			default: new = v;                                                              \
			}                                                                              \
		} while (!__atomic_compare_exchange_n((T *)p, &old, new, 0, 5, 5));                    \
		return old;                                                                            \
	}
HOOKS(1, uint8_t, int8_t)
HOOKS(2, uint16_t, int16_t)
HOOKS(4, uint32_t, int32_t)
HOOKS(8, uint64_t, int64_t)

void plait_read_range(const void *p, size_t n, uint32_t site) { watch(p, n, 0, site); }
void plait_write_range(void *p, size_t n, uint32_t site) { watch(p, n, 1, site); }
void plait_atomic_read_range(const void *p, size_t n, uint32_t site) { watch(p, n, 0, site); }
void plait_atomic_write_range(void *p, size_t n, uint32_t site) { watch(p, n, 1, site); }
void plait_racing(void) {}

void plait_scope_begin(void *p, size_t size, uint32_t site)
{
	(void)p, (void)size, (void)site;
}

void plait_scope_end(void *p, size_t size, const char *name, uint32_t site)
{
	(void)p, (void)size, (void)name, (void)site;
}
void plait_fence(uint32_t order, uint32_t site) { (void)order; (void)site; __atomic_thread_fence(5); }
void plait_branch(uint32_t successor, uint32_t site) { (void)successor; (void)site; }
void plait_flush_bits(void) { plait_bits = 1; }
void plait_flush_branch(uint32_t site) { (void)site; plait_bits = 1; }
__attribute__((preserve_all, target("general-regs-only"))) void plait_flush_bits_kept(void) { plait_bits = 1; }
__attribute__((preserve_all, target("general-regs-only"))) void plait_flush_branch_kept(void) { plait_bits = 1; }
/* of variants that nobody runs here */
void plait_shadow_slow(uint32_t s, const void *p, uint32_t n, uint32_t w) { (void)s, (void)p, (void)n, (void)w; }
#define UNUSED(name) void name(void) {}
UNUSED(plait_shadow_read1_kept) UNUSED(plait_shadow_read2_kept) UNUSED(plait_shadow_read4_kept)
UNUSED(plait_shadow_read8_kept) UNUSED(plait_shadow_write1_kept) UNUSED(plait_shadow_write2_kept)
UNUSED(plait_shadow_write4_kept) UNUSED(plait_shadow_write8_kept) UNUSED(plait_order_enter_kept)
UNUSED(plait_order_leave_kept) UNUSED(plait_sync_enter_kept) UNUSED(plait_sync_leave_kept)
UNUSED(plait_sync_load1) UNUSED(plait_sync_load2) UNUSED(plait_sync_load4) UNUSED(plait_sync_load8)
void plait_path_switch(uint32_t a, uint32_t b) { (void)a; (void)b; }
void plait_flush_values(void) {}
UNUSED(plait_flush_values_kept)
void plait_path_value(uint64_t v) { (void)v; }
void plait_path_input(uint32_t s, uint64_t v) { (void)s; (void)v; }
void plait_path_input_text(uint32_t s, const char *p, uint64_t r) { (void)s; (void)p; (void)r; }
void plait_path_input_line(uint32_t s, char *const *p, uint64_t r) { (void)s; (void)p; (void)r; }
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
void *plait_reallocarray(void *old, size_t n, size_t size)
{
	return plait_realloc(old, n * size);
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
void __libc_free(void *p);
void free(void *p) /* libc's and libstdc++'s calls come here, too */
{
	if (p && __atomic_load_n(&watching, __ATOMIC_RELAXED))
		forget(p, malloc_usable_size(p));
	__libc_free(p);
}
void plait_free(void *p) { free(p); }
void plait_note_alloc(void *p, size_t n) { forget(p, n); }
void plait_note_free(void *p) { (void)p; } /* free() will follow */
uint64_t plait_tsc(void) { return __builtin_ia32_rdtsc(); }
uint64_t plait_random(void) { return (uint64_t)random() << 32 ^ (uint64_t)random(); }
