/* rt/core/init.c - the beginning and the end.
 *
 * rt_init runs before the first constructor of the target where it can (cc's .preinit_array entry,
 * our own constructor, or the first hook that anyone calls), so it may not rely on libc having set
 * up `environ`. Without a mode in the environment everything stays off: the access hooks do the
 * access and nothing else.
 *
 * A run folder belongs to the process that creates the file `run` in it. A process that finds the
 * file already there is a descendant that inherited the environment: it stays off, or makes a
 * folder of its own inside (option `follow`).
 *
 * One process may hold two copies of libplait: an executable has libplait.a inside, and a library
 * it loads brings libplait.so. The copy whose names everybody sees does the work; the other stays
 * off. */
#include "rt/control/control.h"
#include "rt/interpose/interpose.h"
#include "rt/modes/order.h"
#include "rt/core/record.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int plait_variant = PLAIT_VARIANT_PLAIN;
enum plait_mode rt_mode = PLAIT_MODE_OFF;
uint8_t rt_access = RT_ACCESS_PLAIN;
void (*rt_before_access)(uint32_t kind, const void *p, size_t size, uint32_t site);
bool rt_server_fork;
char rt_dir[PATH_MAX];

static struct plait_run dummy_run;
struct plait_run *rt_run = &dummy_run;

/* The UNPLAIT_ variables of /proc/self/environ, when environ is not there yet. */
static char environment[2 * PATH_MAX];
static char options[1024];
static uint32_t next_site = 1;

__attribute__((noinline, section("plait_calls"))) long rt_syscall(long nr, long a, long b, long c,
								  long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Keep a variable only while its name is a prefix of ours: the whole environment may be large. */
static void read_environment(void)
{
	static const char ours[] = "UNPLAIT_";
	long fd = rt_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/environ", O_RDONLY | O_CLOEXEC,
			     0, 0, 0);
	size_t len = 0, at = 0; /* kept; in this variable */
	bool kept = true;
	char buf[4096];
	long n;

	while (fd >= 0 && (n = rt_syscall(SYS_read, fd, (long)buf, sizeof(buf), 0, 0, 0)) > 0) {
		for (long i = 0; i < n; i++) {
			if (kept && at < sizeof(ours) - 1 && buf[i] != ours[at]) {
				kept = false;
				len -= at;
			}
			if (kept && len < sizeof(environment) - 2)
				environment[len++] = buf[i];
			at = buf[i] ? at + 1 : 0;
			kept = kept || !buf[i];
		}
	}
	environment[len] = environment[len + 1] = 0;
	if (fd >= 0)
		rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* A program with more rights than its user (setuid, file capabilities) must not take orders, least
 * of all the names of files to write, from the user's environment. */
const char *rt_getenv(const char *name)
{
	size_t len = strlen(name);

	if (getauxval(AT_SECURE))
		return NULL;
	if (environ)
		return getenv(name);
	if (!environment[0])
		read_environment();
	for (const char *e = environment; *e; e += strlen(e) + 1)
		if (strncmp(e, name, len) == 0 && e[len] == '=')
			return e + len + 1;
	return NULL;
}

/* The value is a copy that ends at the comma, in a buffer of this function's. */
const char *rt_option_value(const char *name)
{
	static char value[1024];
	size_t len = strlen(name);

	for (const char *o = options; *o;) {
		size_t word = strcspn(o, ",");

		if (word >= len && strncmp(o, name, len) == 0 && (word == len || o[len] == '=')) {
			size_t n = word == len ? 0 : word - len - 1;

			memcpy(value, o + word - n, n);
			value[n] = 0;
			return value;
		}
		o += word + (o[word] == ',');
	}
	return NULL;
}

bool rt_option(const char *name)
{
	return rt_option_value(name) != NULL;
}

static enum plait_mode mode_from_environment(void)
{
	static const char *const names[] = PLAIT_MODE_NAMES;
	const char *mode = rt_getenv(PLAIT_ENV_MODE);

	for (size_t i = 0; mode && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(mode, names[i]) == 0)
			return (enum plait_mode)i;
	return PLAIT_MODE_OFF;
}

/* ---- modules ---- */

/* Instrumented modules and their site numbers: a process that starts another trace (rt_restart)
 * notes its modules anew. */
static struct {
	const void *anchor;
	uint32_t first_site, nsites;
} registered[PLAIT_MAX_MODULES];
static uint32_t nregistered;

struct module_walk {
	uint32_t n;
	bool changed; /* something was loaded since the last walk */
};

/* How many modules were ever loaded when the table in `run` was last brought up to date. */
static struct {
	unsigned long long adds;
	uint32_t registered;
	const struct plait_run *run;
} walked;

static void find_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * note,
			  struct plait_module_info *m)
{
	const uint8_t *p = (const uint8_t *)(info->dlpi_addr + note->p_vaddr);
	const uint8_t *end = p + note->p_memsz;

	while (p + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)p;
		const uint8_t *name = p + sizeof(*n);
		const uint8_t *desc = name + ((n->n_namesz + 3) & ~3u);

		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
			m->build_id_len = n->n_descsz < sizeof(m->build_id) ? (uint8_t)n->n_descsz
									    : sizeof(m->build_id);
			memcpy(m->build_id, desc, m->build_id_len);
			return;
		}
		p = desc + ((n->n_descsz + 3) & ~3u);
	}
}

static void module_path(const struct dl_phdr_info *info, bool first, struct plait_module_info *m)
{
	long n;

	if (first && !info->dlpi_name[0]) {
		n = rt_syscall(SYS_readlink, (long)"/proc/self/exe", (long)m->path,
			       sizeof(m->path) - 1, 0, 0, 0);
		m->path[n > 0 ? n : 0] = 0;
		return;
	}
	for (n = 0; n < (long)sizeof(m->path) - 1 && info->dlpi_name[n]; n++)
		m->path[n] = info->dlpi_name[n];
	m->path[n] = 0;
}

static void note_sites(struct plait_module_info *m)
{
	uint32_t n = __atomic_load_n(&nregistered, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < PLAIT_MAX_MODULES; i++) {
		uint64_t anchor = (uint64_t)registered[i].anchor;

		if (anchor < m->low || anchor >= m->high)
			continue;
		m->first_site = registered[i].first_site;
		m->nsites = registered[i].nsites;
	}
}

static int note_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module_walk *walk = arg;
	struct plait_module_info m = { .load_address = info->dlpi_addr, .low = UINT64_MAX };
	struct plait_module_info *known = rt_run->modules;
	uint32_t i;

	(void)size;
	if (!walk->changed && info->dlpi_adds == walked.adds && rt_run == walked.run &&
	    rt_run->nmodules && nregistered == walked.registered)
		return 1;
	if (!walk->changed) {
		walk->changed = true;
		walked.adds = info->dlpi_adds;
		walked.run = rt_run;
		walked.registered = nregistered;
	}
	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[k];

		if (ph->p_type == PT_NOTE)
			find_build_id(info, ph, &m);
		if (ph->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + ph->p_vaddr < m.low)
			m.low = info->dlpi_addr + ph->p_vaddr;
		if (info->dlpi_addr + ph->p_vaddr + ph->p_memsz > m.high)
			m.high = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
	}
	module_path(info, walk->n++ == 0, &m);
	for (i = 0; i < rt_run->nmodules; i++)
		if (known[i].low == m.low && known[i].high == m.high) {
			note_sites(&known[i]);
			return 0;
		}
	note_sites(&m);
	if (i < PLAIT_MAX_MODULES) {
		known[i] = m;
		__atomic_store_n(&rt_run->nmodules, i + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

void rt_note_modules(void)
{
	struct module_walk walk = { 0 };

	dl_iterate_phdr(note_module, &walk);
}

/* A library that was unloaded and comes back to the same place keeps its numbers. */
static uint32_t known_first_site(const struct plait_module *module, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (registered[i].anchor == module->anchor &&
		    registered[i].nsites == module->nsites)
			return registered[i].first_site;
	return 0;
}

void plait_register_module(const struct plait_module *module)
{
	uint32_t first, known, n;

	rt_init();
	if (module->version != PLAIT_MODULE_VERSION)
		return;
	n = __atomic_load_n(&nregistered, __ATOMIC_RELAXED);
	known = known_first_site(module, n);
	/* the executable's numbers are constants in its code: it comes first, from 1 */
	first = known ? known
		: module->is_library
			? __atomic_fetch_add(&next_site, module->nsites, __ATOMIC_RELAXED)
			: 1;
	if (!module->is_library)
		__atomic_store_n(&next_site, module->nsites + 1, __ATOMIC_RELAXED);
	if (module->module_base)
		*module->module_base = first - 1;
	if (rt_mode == PLAIT_MODE_OFF || known)
		return;
	if (n < PLAIT_MAX_MODULES) {
		registered[n].anchor = module->anchor;
		registered[n].first_site = first;
		registered[n].nsites = module->nsites;
		__atomic_store_n(&nregistered, n + 1, __ATOMIC_RELEASE);
	}
	rt_note_modules();
	order_module(module, first);
}

/* ---- the run folder ---- */

static bool put_path(char *out, size_t size, const char *dir, const char *name)
{
	size_t d = strlen(dir), n = strlen(name);

	if (d + n + 2 > size)
		return false;
	memcpy(out, dir, d);
	out[d] = '/';
	memcpy(out + d + 1, name, n + 1);
	return true;
}

/* Make rt_dir absolute: the target may change its directory. */
static bool set_dir(const char *dir)
{
	char cwd[PATH_MAX];

	if (!dir || !*dir)
		return false;
	if (dir[0] == '/') {
		if (strlen(dir) + 16 > sizeof(rt_dir))
			return false;
		memcpy(rt_dir, dir, strlen(dir) + 1);
		return true;
	}
	if (rt_syscall(SYS_getcwd, (long)cwd, sizeof(cwd), 0, 0, 0, 0) < 0)
		return false;
	return put_path(rt_dir, sizeof(rt_dir) - 16, cwd, dir);
}

/* Creates and maps `run`; 0, or a negative errno. */
static long create_run(void)
{
	char path[PATH_MAX];
	long fd, p;

	if (!put_path(path, sizeof(path), rt_dir, "run"))
		return -36;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644, 0, 0);
	if (fd < 0)
		return fd;
	p = -28; /* ENOSPC */
	if (rt_buffer_reserve((int)fd, 0, (sizeof(struct plait_run) + 4095) & ~4095ull))
		p = rt_syscall(SYS_mmap, 0, sizeof(struct plait_run), PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p < 0 && p > -4096)
		return p;
	rt_run = (struct plait_run *)p;
	return 0;
}

/* A descendant's own folder, inside the one that is taken. */
static long create_followed(void)
{
	char name[24], dir[PATH_MAX];
	long pid = rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), n = 0;
	char digits[12];

	memcpy(name, "fork-", 5);
	do
		digits[n++] = (char)('0' + pid % 10);
	while (pid /= 10);
	for (long i = 0; i < n; i++)
		name[5 + i] = digits[n - 1 - i];
	name[5 + n] = 0;
	if (!put_path(dir, sizeof(dir) - 16, rt_dir, name))
		return -36;
	memcpy(rt_dir, dir, strlen(dir) + 1);
	n = rt_syscall(SYS_mkdir, (long)rt_dir, 0755, 0, 0, 0, 0);
	return n < 0 ? n : create_run();
}

static void fill_run(void)
{
	struct timespec now = { 0 };

	rt_run->size = sizeof(*rt_run);
	rt_run->version = PLAIT_FORMAT_VERSION;
	rt_run->mode = rt_mode;
	rt_run->clock = rt_stepping ? PLAIT_CLOCK_STEPS : PLAIT_CLOCK_TSC;
	rt_run->pid = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	rt_syscall(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0);
	if (rt_option("sync-only"))
		rt_run->flags |= PLAIT_RUN_SYNC_ONLY;
	rt_run->start_ns = now.tv_sec * 1000000000ll + now.tv_nsec;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(rt_run->magic, PLAIT_RUN_MAGIC, 8);
}

/* The counter's rate, from how far both clocks came during the run. */
static void note_clock_rate(void)
{
	struct timespec now = { 0 };
	int64_t ns;

	rt_syscall(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0);
	ns = now.tv_sec * 1000000000ll + now.tv_nsec - rt_run->start_ns;
	if (!rt_stepping && ns > 0)
		rt_run->clock_hz = (uint64_t)((double)rt_tsc() * 1e9 / (double)ns);
}

static void switch_off(void)
{
	rt_recording = rt_writing = rt_graph = rt_ordering = false;
	rt_access = RT_ACCESS_PLAIN;
	rt_run = &dummy_run;
	rt_dir[0] = 0;
}

/* Open the folder and say what is written in this mode. False: no trace. */
static bool start_trace(const char *dir)
{
	long r;

	if (!set_dir(dir))
		return false;
	r = create_run();
	if (r == -17 /* EEXIST */ && rt_option("follow"))
		r = create_followed();
	if (r < 0) {
		switch_off();
		return false;
	}
	rt_tsc0 = __builtin_ia32_rdtsc();
	rt_writing = rt_mode == PLAIT_MODE_PATH || rt_mode == PLAIT_MODE_FULL ||
		     rt_mode == PLAIT_MODE_CONTROL;
	rt_recording = rt_mode == PLAIT_MODE_FULL || rt_mode == PLAIT_MODE_CONTROL;
	fill_run();
	rt_pcs_open();
	rt_note_modules();
	if ((rt_mode == PLAIT_MODE_GRAPH || rt_option("graph")) && !rt_graph_start())
		return rt_mode != PLAIT_MODE_GRAPH;
	return true;
}

static void start_main_thread(void)
{
	struct rt_thread *t;

	memset(dummy_run.threads, 0, sizeof(dummy_run.threads[0]));
	rt_run->nthreads = 0;
	t = rt_thread_new(NULL, NULL);
	rt_thread_attach(t);
}

void rt_restart(const char *dir)
{
	struct rt_thread main_thread = *rt_self();

	rt_self_ = &rt_nobody;
	rt_buffer_close(&rt_threads[main_thread.index]);
	rt_run = &dummy_run;
	rt_run->nthreads = 0;
	rt_dir[0] = 0;
	rt_recording = rt_writing = false;
	if (dir)
		start_trace(dir);
	start_main_thread();
	rt_threads[0].control = main_thread.control;
	rt_threads[0].graph = main_thread.graph;
	rt_threads[0].nchildren = main_thread.nchildren;
}

/* ---- fork ---- */

/* The child writes nothing into its parent's files: they are mapped in both. */
static void after_fork_in_child(void)
{
	bool follow = rt_writing && rt_option("follow");
	struct rt_thread *t = rt_self_;
	char dir[PATH_MAX];

	if (rt_server_fork || rt_mode == PLAIT_MODE_OFF)
		return;
	memcpy(dir, rt_dir, sizeof(dir));
	order_forked();
	switch_off();
	if (t && t != &rt_nobody) {
		rt_values_forget(t);
		t->buffer = (struct rt_buffer){ 0 };
		t->detached_from_trace = true;
		t->depth = 0;
	}
	if (!follow || rt_mode == PLAIT_MODE_CONTROL) {
		/* what control does in a child is its own business: it asks detached_from_trace */
		return;
	}
	rt_access = rt_mode == PLAIT_MODE_FULL ? RT_ACCESS_RECORD : RT_ACCESS_PLAIN;
	rt_self_ = &rt_nobody;
	if (start_trace(dir))
		start_main_thread();
}

static void after_fork_in_parent(void)
{
	if (!rt_server_fork)
		__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_FORKED, __ATOMIC_RELAXED);
}

/* ---- begin, end ---- */

static void set_variant(void)
{
	plait_variant = rt_mode == PLAIT_MODE_OFF    ? PLAIT_VARIANT_PLAIN
			: rt_mode == PLAIT_MODE_PATH ? PLAIT_VARIANT_PATH
			: rt_graph_is_quick()	     ? PLAIT_VARIANT_GRAPH
						     : PLAIT_VARIANT_FULL;
}

/* Registered before anything else, so it runs after all of the target's own handlers. */
static void at_exit(int status, void *arg)
{
	(void)arg;
	rt_note_modules();
	rt_finish(status);
}

/* The same function under a name that nobody can take away. */
extern __typeof__(plait_register_module) register_here
	__attribute__((alias("plait_register_module"), visibility("hidden")));

/* Does our exported name mean another copy's function? */
static bool is_second_copy(void)
{
	void (*volatile seen)(const struct plait_module *) = plait_register_module;

	return seen != register_here;
}

static void init_once(void)
{
	const char *o = rt_getenv(PLAIT_ENV_OPTIONS);
	bool traced;

	if (is_second_copy()) {
		interpose_init(INTERPOSE_NONE);
		return;
	}

	for (size_t i = 0; o && o[i] && i < sizeof(options) - 1; i++)
		options[i] = o[i];
	rt_mode = mode_from_environment();
	rt_stepping = rt_mode == PLAIT_MODE_CONTROL;
	traced = rt_mode != PLAIT_MODE_OFF && start_trace(rt_getenv(PLAIT_ENV_DIR));
	if (!traced && rt_mode != PLAIT_MODE_CONTROL)
		rt_mode = PLAIT_MODE_OFF;
	set_variant();
	interpose_init(rt_mode == PLAIT_MODE_OFF    ? INTERPOSE_NONE
		       : rt_mode == PLAIT_MODE_PATH ? INTERPOSE_LIFE_ONLY
						    : INTERPOSE_ALL);
	if (rt_mode == PLAIT_MODE_OFF)
		return;
	rt_thread_init();
	rt_failure_init();
	start_main_thread();
	if (rt_mode == PLAIT_MODE_CONTROL)
		control_init();
	pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
	on_exit(at_exit, NULL);
	if (rt_mode == PLAIT_MODE_FULL)
		rt_access = RT_ACCESS_RECORD;
	else if (rt_mode == PLAIT_MODE_CONTROL)
		rt_access = RT_ACCESS_CONTROL;
	else if (rt_mode == PLAIT_MODE_GRAPH)
		rt_access = RT_ACCESS_GRAPH;
	else if (rt_mode == PLAIT_MODE_ORDER || rt_mode == PLAIT_MODE_BLOCK)
		order_init();
}

void rt_init(void)
{
	static int state; /* 0 not yet, 1 being done, 2 done */
	int expected = 0;

	if (likely(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2))
		return;
	if (!__atomic_compare_exchange_n(&state, &expected, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return; /* called from inside init_once: what it calls stays unseen */
	rt_self_ = &rt_nobody;
	init_once();
	if (rt_mode == PLAIT_MODE_OFF)
		rt_self_ = &rt_nobody;
	__atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

__attribute__((constructor(101))) static void constructor(void)
{
	rt_init();
}

void rt_finish(int status)
{
	/* a vfork child shares our memory, not our pid */
	if (!rt_dir[0] || rt_run->ended || !rt_run->pid ||
	    rt_run->pid != (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return;
	rt_save_bits(); /* threads that the end of the process cuts off */
	plait_flush_bits();
	rt_record_sv(PLAIT_EV_PROCESS_EXIT, 0, (uint64_t)(int64_t)status);
	note_clock_rate();
	rt_run->ended = 1;
}
