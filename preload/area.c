/* preload/area.c - the area of this process and the slots in it.
 *
 * The area is made when the first lock is taken or the first thread created, so that programs
 * without threads leave no trace. It is one shared mapping, most of it never touched. No descriptor
 * stays open. Memory is populated slot by slot, off the fast path, with MADV_POPULATE_WRITE: on a
 * full disk that fails where an ordinary store would kill the program with SIGBUS.
 *
 * After fork() the child must not write into its parent's slots: the handler puts a new area over
 * the old one, at the same address, so that every pointer stays right. Locks that other threads
 * of the parent held stay in it as ghosts: nobody in the child will ever release them. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

__thread struct watch_slot *self;
struct watch_header *area;
pthread_key_t end_key;

extern void *__libc_stack_end;

static struct {
	char dir[200];
	uint32_t history, threads;
	uint32_t depth;
} config = { .threads = 8192, .depth = WATCH_DEPTH };
static char exe_path[200];
static bool have_key;
static bool try_first, plain; /* see plain_works */
static int ready;	      /* 0 not yet, 1 somebody is at it, 2 yes, 3 cannot */

/* ---- configuration: UNPLAIT_WATCH=dir=/run/watch,history=64 ---- */

static uint32_t number(const char *s, uint32_t lo, uint32_t hi)
{
	unsigned long v = 0;

	while (*s >= '0' && *s <= '9' && v < 1ul << 24)
		v = v * 10 + (unsigned long)(*s++ - '0');
	return v < lo ? lo : v > hi ? hi : (uint32_t)v;
}

static void configure(const char *s)
{
	while (s && *s) {
		const char *end = strchrnul(s, ',');

		if (strncmp(s, "dir=", 4) == 0 && (size_t)(end - s) - 4 < sizeof(config.dir)) {
			memcpy(config.dir, s + 4, (size_t)(end - s) - 4);
			config.dir[end - s - 4] = 0;
		} else if (strncmp(s, "history=", 8) == 0) {
			config.history = number(s + 8, 0, WATCH_HISTORY_MAX);
		} else if (strncmp(s, "depth=", 6) == 0) {
			config.depth = number(s + 6, 1, WATCH_DEPTH);
		} else if (strncmp(s, "threads=", 8) == 0) {
			config.threads = number(s + 8, 1, 1u << 20);
		}
		s = *end ? end + 1 : end;
	}
}

/* ---- making the mapping ---- */

static void area_path(char *buf, size_t size, uint32_t pid)
{
	char digits[12];
	size_t n = strlen(config.dir), d = 0;

	do
		digits[d++] = (char)('0' + pid % 10);
	while (pid /= 10);
	if (n + d + 8 > size) {
		buf[0] = 0;
		return;
	}
	memcpy(buf, config.dir, n);
	buf[n++] = '/';
	while (d)
		buf[n++] = digits[--d];
	memcpy(buf + n, ".area", 6);
}

static void *map_fd(int fd, void *at, size_t size)
{
	void *p = MAP_FAILED;

	if (fd < 0)
		return MAP_FAILED;
	if (ftruncate(fd, (off_t)size) == 0)
		p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
			 0);
	close(fd);
	return p;
}

/* A file, else a memfd, else memory without a name (the reader then looks for the magic). */
static void *map_area(void *at, size_t size)
{
	struct rlimit limit;
	char path[256];
	void *p = MAP_FAILED;

	/* growing a file beyond the limit is answered with a signal */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= size) {
		if (config.dir[0]) {
			area_path(path, sizeof(path), (uint32_t)getpid());
			unlink(path);
			p = map_fd(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
					0600),
				   at, size);
		}
		if (p == MAP_FAILED)
			p = map_fd((int)syscall(SYS_memfd_create, WATCH_NAME, 1 /* CLOEXEC */), at,
				   size);
	}
	if (p == MAP_FAILED)
		p = mmap(at, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* False only when the memory is known not to be there. */
static bool populate(void *p, size_t size)
{
	return madvise(p, size, MADV_POPULATE_WRITE) == 0 || errno == EINVAL || errno == ENOSYS ||
	       errno == EPERM;
}

static void fill_header(struct watch_header *h)
{
	size_t slot = sizeof(struct watch_slot);

	h->version = WATCH_VERSION;
	h->stacks = config.history ? WATCH_STACKS : 0;
	h->history = config.history;
	slot += h->stacks * sizeof(struct watch_stack);
	slot += h->history * (sizeof(struct watch_release) + sizeof(struct watch_order));
	h->slot_size = (uint32_t)((slot + WATCH_PAGE - 1) / WATCH_PAGE * WATCH_PAGE);
	h->slots_at = WATCH_PAGE + (WATCH_MODULES + 1) * sizeof(struct watch_module);
	h->slots_max = config.threads;
	h->size = h->slots_at + (uint64_t)h->slots_max * h->slot_size;
	h->pid = (uint32_t)getpid();
}

static struct watch_header *area_make(void *at)
{
	struct watch_header plan = { 0 }, *h;

	fill_header(&plan);
	h = map_area(at, plan.size);
	if (!h || !populate(h, plan.slots_at))
		return NULL;
	*h = plan;
	h->address = (uint64_t)h;
	STORE(h->magic, WATCH_MAGIC);
	return h;
}

/* ---- modules ---- */

static void copy_build_id(struct watch_module *m, const uint8_t *p, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)p;
		size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;
		const uint8_t *d = p + sizeof(*n) + name;

		if (sizeof(*n) + name + desc > size)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    memcmp(p + sizeof(*n), "GNU", 4) == 0) {
			m->build_id_len = (uint8_t)(n->n_descsz < 31 ? n->n_descsz : 31);
			memcpy(m->build_id, d, m->build_id_len);
			return;
		}
		p = d + desc;
		size -= sizeof(*n) + name + desc;
	}
}

static void describe_module(struct watch_module *m, const struct dl_phdr_info *info)
{
	const char *name = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : exe_path;
	size_t len = strlen(name);

	m->bias = info->dlpi_addr;
	m->start = UINT64_MAX;
	m->end = 0;
	m->build_id_len = 0;
	m->gone = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_NOTE)
			copy_build_id(m, (const uint8_t *)start, ph->p_memsz);
		if (ph->p_type != PT_LOAD)
			continue;
		m->start = start < m->start ? start : m->start;
		m->end = start + ph->p_memsz > m->end ? start + ph->p_memsz : m->end;
	}
	if (len >= sizeof(m->path))
		len = sizeof(m->path) - 1;
	memcpy(m->path, name, len);
	m->path[len] = 0;
}

static void add_module(const struct watch_module *m)
{
	struct watch_module *modules = (void *)((char *)area + WATCH_PAGE);
	uint32_t i;

	for (i = 0; i < area->modules_used && i < WATCH_MODULES; i++) {
		if (modules[i].start == m->start && modules[i].end == m->end &&
		    strcmp(modules[i].path, m->path) == 0) {
			STORE(modules[i].gone, 0);
			return;
		}
	}
	i = __atomic_fetch_add(&area->modules_used, 1, __ATOMIC_ACQ_REL);
	if (i >= WATCH_MODULES) {
		__atomic_store_n(&area->modules_used, WATCH_MODULES, __ATOMIC_RELEASE);
		area->lost_modules++;
		return;
	}
	modules[i] = *m;
	if ((uint64_t)(uintptr_t)area_make - m->start < m->end - m->start) {
		area->self_start = m->start;
		area->self_end = m->end;
	}
}

static int note_phdr(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct watch_module m;
	uint64_t pc = *(uint64_t *)arg;

	(void)size;
	describe_module(&m, info);
	if (pc < m.start || pc >= m.end)
		return 0;
	add_module(&m);
	return 1;
}

void module_note(uint64_t pc)
{
	struct watch_module *modules = (void *)((char *)area + WATCH_PAGE);
	uint32_t n = __atomic_load_n(&area->modules_used, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < WATCH_MODULES; i++)
		if (pc >= modules[i].start && pc < modules[i].end && !modules[i].gone)
			return;
	dl_iterate_phdr(note_phdr, &pc);
}

/* Half of the table is left for those that turn out to take locks. */
static int note_new(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long long *adds = arg;
	struct watch_module m;

	if (size < sizeof(*info) || *adds == info->dlpi_adds ||
	    area->modules_used >= WATCH_MODULES / 2)
		return 1;
	describe_module(&m, info);
	add_module(&m);
	return 0;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (size >= sizeof(*info))
		*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

/* A thread that never waits unwinds nothing, and notes none of the modules it locks from. */
void module_note_all(void)
{
	static unsigned long long noted;
	unsigned long long now = 0;

	dl_iterate_phdr(count_adds, &now);
	if (now == noted)
		return;
	dl_iterate_phdr(note_new, &noted);
	noted = now;
}

void module_forget(void)
{
	struct watch_module *modules = (void *)((char *)area + WATCH_PAGE);

	for (uint32_t i = 0; i < area->modules_used && i < WATCH_MODULES; i++)
		STORE(modules[i].gone, 1);
}

/* ---- slots ---- */

struct watch_slot *slot_at(uint32_t i)
{
	return (void *)((char *)area + area->slots_at + (uint64_t)i * area->slot_size);
}

/* Zombies (threads that ended with locks held) are told, so they are reused last: only when the
 * area is full. */
static struct watch_slot *slot_find(uint32_t from_state)
{
	uint32_t used = __atomic_load_n(&area->slots_used, __ATOMIC_ACQUIRE);
	uint32_t hint = __atomic_load_n(&area->hint, __ATOMIC_RELAXED);

	for (uint32_t k = 0; k < used; k++) {
		struct watch_slot *t = slot_at((hint + k) % used);
		uint32_t state = from_state;

		if (__atomic_load_n(&t->state, __ATOMIC_RELAXED) == state &&
		    __atomic_compare_exchange_n(&t->state, &state, WATCH_STARTING, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return t;
	}
	return NULL;
}

static struct watch_slot *slot_new(void)
{
	uint32_t i = __atomic_load_n(&area->slots_used, __ATOMIC_ACQUIRE);

	do
		if (i >= area->slots_max)
			return NULL;
	while (!__atomic_compare_exchange_n(&area->slots_used, &i, i + 1, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE));
	/* nobody but us can see it as free: `used` grew by us, and its state is still 0 */
	return slot_at(i);
}

static void slot_name(struct watch_slot *t, struct watch_slot *parent)
{
	char digits[12];
	size_t n = 0, d = 0;
	uint32_t k;

	if (!parent) {
		/* a thread we did not see being created */
		k = t->tid;
		t->name[n++] = '?';
	} else {
		k = __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED);
		n = strnlen(parent->name, sizeof(t->name));
		memcpy(t->name, parent->name, n);
		if (n + sizeof(digits) >= sizeof(t->name))
			n = sizeof(t->name) - sizeof(digits) - 1;
		t->name[n++] = '.';
	}
	do
		digits[d++] = (char)('0' + k % 10);
	while (k /= 10);
	while (d)
		t->name[n++] = digits[--d];
	t->name[n] = 0;
}

struct watch_slot *slot_claim(struct watch_slot *parent)
{
	struct watch_slot *t = slot_find(WATCH_FREE);
	int saved = errno;

	if (!t) {
		t = slot_new();
		/* a slot between `used` growing and its state changing may be found by another */
		while (t) {
			uint32_t state = WATCH_FREE;

			if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == WATCH_FREE &&
			    __atomic_compare_exchange_n(&t->state, &state, WATCH_STARTING, false,
							__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
				break;
			t = slot_new();
		}
	}
	if (!t)
		t = slot_find(WATCH_EXITED);
	if (t && !t->populated && !populate(t, area->slot_size)) {
		STORE(t->state, WATCH_GHOST); /* n is 0: never used again */
		t = NULL;
	}
	errno = saved;
	if (!t) {
		__atomic_fetch_add(&area->lost_threads, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	t->populated = 1;
	STORE(t->n, 0);
	STORE(t->seq, t->seq + 1);
	t->lost = t->children = t->rounds = t->releases = t->foreign = 0;
	t->stack_mask = WATCH_STACKS - 1;
	t->history = area->history;
	t->try_first = try_first;
	t->plain_kind = plain ? PTHREAD_MUTEX_TIMED_NP : -1;
	t->stack_lo = t->stack_hi = t->pthread = t->tid = 0;
	memset(t->keys, 0, sizeof(t->keys));
	for (uint32_t i = 0; i < WATCH_USES; i++)
		t->uses[i].window = (uint32_t)((char *)&t->windows[i] - (char *)t);
	module_note_all();
	for (uint32_t i = 0; i < area->stacks; i++)
		t->stacks[i].sp = 0;
	if (area->history)
		memset(&t->stacks[area->stacks], 0,
		       area->history * (sizeof(struct watch_release) + sizeof(struct watch_order)));
	if (parent)
		slot_name(t, parent);
	return t;
}

void slot_adopt(struct watch_slot *t, uint64_t lo, uint64_t hi, uint64_t safe)
{
	t->tid = (uint32_t)syscall(SYS_gettid);
	t->pthread = (uint64_t)pthread_self();
	t->stack_lo = lo;
	t->stack_hi = hi;
	t->stack_safe = safe;
	t->samples = WATCH_SAMPLES;
	t->waits = 1;
	t->wide = 0;
	stack_ease(t);
	if (!t->name[0])
		slot_name(t, NULL);
	STORE(t->state, WATCH_LIVE);
	if (have_key)
		pthread_setspecific(end_key, t);
	self = t;
}

void slot_release(struct watch_slot *t)
{
	bool holds = false;

	for (uint32_t i = 0; i < t->n; i++)
		holds |= t->uses[i].state == WATCH_HELD;
	STORE(t->seq, t->seq + 1);
	STORE(t->state, holds ? WATCH_EXITED : WATCH_FREE);
	if (!holds)
		__atomic_store_n(
			&area->hint,
			(uint32_t)(((char *)t - (char *)area - area->slots_at) / area->slot_size),
			__ATOMIC_RELAXED);
}

/* Runs for every thread that ends. Other destructors may take locks too, so we ask to be called
 * again until the last round. */
static void thread_end(void *arg)
{
	struct watch_slot *t = arg;

	if (t != self)
		return;
	if (++t->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end_key, t);
		return;
	}
	self = UNWATCHED;
	slot_release(t);
}

/* ---- the process: first use, fork, exit ---- */

static void main_stack(uint64_t *lo, uint64_t *hi, uint64_t *safe)
{
	struct rlimit limit;
	uint64_t size = 8 << 20;

	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		size = limit.rlim_cur;
	*hi = (uint64_t)__libc_stack_end;
	*lo = *hi - size;
	/* the kernel puts the program's name last: the page it is in is there */
	*safe = (getauxval(AT_EXECFN) | (WATCH_PAGE - 1)) - 8 * (WATCH_WIDE + 2);
	if (*safe > *hi)
		*safe = *hi;
}

/* The stack of a thread somebody else created: glibc puts the thread's descriptor at its top. */
static void other_stack(uint64_t *lo, uint64_t *hi, uint64_t *safe)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0), top = (uint64_t)pthread_self();

	*lo = *hi = *safe = 0; /* unknown: stacks of one frame */
	if (top > here && top - here < 1 << 20) {
		*lo = here - (64 << 10);
		*hi = *safe = top;
	}
}

static bool load(void);

static bool start(void)
{
	int state = 0;

	if (!__atomic_compare_exchange_n(&ready, &state, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return state == 2;
	area = area_make(NULL);
	STORE(ready, area ? 2 : 3);
	return area != NULL;
}

struct watch_slot *self_attach(void)
{
	int saved = errno;
	struct watch_slot *t = NULL;
	uint64_t lo, hi, safe;

	if (!load() || __atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 1)
		return NULL; /* another thread is making the area, or we are, further down */
	if (start())
		t = slot_claim(NULL);
	if (!t) {
		self = UNWATCHED;
		errno = saved;
		return NULL;
	}
	t->name[0] = 0;
	if (syscall(SYS_gettid) == getpid()) {
		t->name[0] = '0';
		t->name[1] = 0;
		main_stack(&lo, &hi, &safe);
	} else {
		other_stack(&lo, &hi, &safe);
	}
	slot_adopt(t, lo, hi, safe);
	errno = saved;
	return t;
}

/* Copy what matters of the parent's area: our own slot, and the locks others held. */
static void inherit(struct watch_header *old, struct watch_slot *mine)
{
	for (uint32_t i = 0; i < old->slots_used; i++) {
		const struct watch_slot *from =
			(void *)((char *)old + old->slots_at + (uint64_t)i * old->slot_size);
		struct watch_slot *to = slot_at(i);
		bool holds = false;

		for (uint32_t k = 0; k < from->n && k < WATCH_USES; k++)
			holds |= from->uses[k].state == WATCH_HELD;
		if (from != mine && !holds)
			continue;
		if (!populate(to, area->slot_size))
			continue;
		memcpy(to, from, area->slot_size);
		if (from != mine)
			to->state = WATCH_GHOST;
	}
	area->slots_used = old->slots_used;
	area->modules_used = old->modules_used;
	area->self_start = old->self_start;
	area->self_end = old->self_end;
	memcpy((char *)area + WATCH_PAGE, (char *)old + WATCH_PAGE,
	       WATCH_MODULES * sizeof(struct watch_module));
}

static void fork_child(void)
{
	struct watch_header *old = area;
	struct watch_slot *mine = self;
	void *copy;
	int saved = errno;

	if (ready != 2) {
		ready = ready == 1 ? 0 : ready;
		return;
	}
	/* move the shared pages aside (same pages, new address), then map ours in their place */
	copy = mremap(old, 0, old->size, MREMAP_MAYMOVE);
	area = copy == MAP_FAILED ? NULL : area_make(old);
	if (!area) {
		/* the old mapping may still be there: never write into the parent's area */
		mmap(old, ((struct watch_header *)old)->size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		ready = 3;
		self = UNWATCHED;
		errno = saved;
		return;
	}
	inherit(copy, (void *)((char *)copy + ((char *)mine - (char *)old)));
	munmap(copy, area->size);
	if ((uintptr_t)mine > (uintptr_t)UNWATCHED)
		mine->tid = (uint32_t)syscall(SYS_gettid);
	errno = saved;
}

/* None for a program with more rights than its user (setuid, file capabilities): the name of a
 * folder to write into must not come from the user. getenv() does not work yet when the dynamic linker calls a malloc that takes a lock; but the
 * kernel put the environment where __libc_stack_end points: argc, argv, NULL, environment. */
static const char *find_env(void)
{
	const uintptr_t *stack = __libc_stack_end;
	char *const *env = (char *const *)(stack + 1 + stack[0] + 1);
	size_t n = sizeof(WATCH_ENV) - 1;

	if (getauxval(AT_SECURE))
		return NULL;
	for (; *env; env++)
		if (strncmp(*env, WATCH_ENV, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* Another preloaded library may stand behind us, and wants its calls. */
static bool is_libc(void *function)
{
	Dl_info a, b;

	return dladdr(function, &a) && dladdr((void *)(uintptr_t)gnu_get_libc_version, &b) &&
	       a.dli_fbase == b.dli_fbase;
}

/* Does libc lock and unlock an ordinary mutex the way lock.c does? Since 2003 every glibc has; one
 * that does not gets all its calls. Releases are noted on the long way, so not with a history. */
static bool plain_works(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	const int tid = (int)syscall(SYS_gettid);
	bool locked, tried;

	if (config.history || real.pthread_mutex_lock(&m) != 0)
		return false;
	locked = m.__data.__lock == 1 && m.__data.__owner == tid && m.__data.__nusers == 1 &&
		 m.__data.__kind == PTHREAD_MUTEX_TIMED_NP;
	real.pthread_mutex_unlock(&m);
	locked = locked && !m.__data.__lock && !m.__data.__owner && !m.__data.__nusers;
	m.__data.__lock = 1;
	tried = real.pthread_mutex_trylock(&m) == EBUSY;
	return locked && tried;
}

/* Usually the constructor; earlier when another library's constructor, or malloc, takes a lock.
 * False while it is being done further up the stack. */
static bool load(void)
{
	static int state; /* 1: at it, 2: done; there is only one thread yet */
	int saved = errno;
	ssize_t n;

	if (state)
		return state == 2;
	state = 1;
	real_resolve();
	configure(find_env());
	unwind_init();
	stack_init(config.depth);
	n = readlink("/proc/self/exe", exe_path, sizeof(exe_path) - 1);
	exe_path[n > 0 ? n : 0] = 0;
	have_key = pthread_key_create(&end_key, thread_end) == 0;
	pthread_atfork(NULL, NULL, fork_child);
	try_first = is_libc((void *)real.pthread_mutex_lock) &&
		    is_libc((void *)real.pthread_mutex_unlock) &&
		    is_libc((void *)real.pthread_rwlock_rdlock) &&
		    is_libc((void *)real.pthread_spin_lock);
	plain = try_first && plain_works();
	errno = saved;
	state = 2;
	return true;
}

__attribute__((constructor)) static void at_load(void)
{
	load();
}

/* A process that reaches exit() has nothing to tell; its file goes. */
__attribute__((destructor)) static void unload(void)
{
	char path[256];

	if (ready != 2)
		return;
	STORE(area->ended, 1);
	if (config.dir[0] && area->pid == (uint32_t)getpid()) {
		area_path(path, sizeof(path), area->pid);
		unlink(path);
	}
}
