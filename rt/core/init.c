/* rt/core/init.c - the beginning and the end.
 *
 * rt_init runs before the first constructor of the target where it can (cc's .preinit_array entry,
 * our own constructor, or the first hook that anyone calls), so it may not rely on libc having set
 * up `environ`. Without a mode in the environment everything stays off: the access hooks do the
 * access and nothing else.
 *
 * One process may hold two copies of libplait: an executable has libplait.a inside, and a library
 * it loads brings libplait.so. The copy whose names everybody sees does the work; the other stays
 * off. */
#include "rt/control/control.h"
#include "rt/interpose/interpose.h"
#include "rt/log/log.h"
#include "rt/modes/graph.h"
#include "rt/modes/order.h"
#include "rt/core/record.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>

int plait_variant = PLAIT_VARIANT_PLAIN;
enum plait_mode rt_mode = PLAIT_MODE_OFF;
uint8_t rt_access = RT_ACCESS_PLAIN;
void (*rt_before_access)(uint32_t kind, const void *p, size_t size, uint32_t site);
void (*rt_atomic_enter)(const void *p);
void (*rt_atomic_leave)(void);
bool rt_server_fork, rt_fork_follows;

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

static enum plait_mode mode_from_environment(void)
{
	static const char *const names[] = PLAIT_MODE_NAMES;
	const char *mode = rt_getenv(PLAIT_ENV_MODE);

	for (size_t i = 0; mode && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(mode, names[i]) == 0)
			return (enum plait_mode)i;
	return PLAIT_MODE_OFF;
}

/* ---- the trace ---- */

static void switch_off(void)
{
	rt_recording = rt_writing = rt_graph = false;
	rt_on_sync = NULL;
	rt_access = RT_ACCESS_PLAIN;
	rt_folder_forget();
}

/* Open the folder and say what is written in this mode. False: no trace. */
static bool start_trace(const char *dir)
{
	if (!rt_folder_open(dir)) {
		switch_off();
		return false;
	}
	rt_writing = rt_mode == PLAIT_MODE_PATH || rt_mode == PLAIT_MODE_FULL ||
		     rt_mode == PLAIT_MODE_CONTROL || rt_mode == PLAIT_MODE_SYNC;
	rt_recording = rt_mode == PLAIT_MODE_FULL || rt_mode == PLAIT_MODE_CONTROL;
	rt_pcs_open();
	rt_note_modules();
	if ((rt_mode == PLAIT_MODE_GRAPH || rt_option("graph")) && !rt_graph_start())
		return rt_mode != PLAIT_MODE_GRAPH;
	return true;
}

static void start_main_thread(void)
{
	struct rt_thread *t;

	memset(rt_run->threads, 0, sizeof(rt_run->threads[0]));
	rt_run->nthreads = 0;
	t = rt_thread_new(NULL, NULL);
	rt_thread_attach(t);
}

void rt_restart(const char *dir)
{
	struct rt_thread main_thread = *rt_self();

	rt_self_ = &rt_nobody;
	rt_buffer_close(&rt_threads[main_thread.index]);
	rt_folder_forget();
	rt_run->nthreads = 0;
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

	if (rt_server_fork || rt_fork_follows || rt_mode == PLAIT_MODE_OFF)
		return;
	memcpy(dir, rt_dir, sizeof(dir));
	order_forked();
	if (rt_mode == PLAIT_MODE_SYNC)
		log_forked();
	switch_off();
	if (t && t != &rt_nobody) {
		rt_values_forget(t);
		t->buffer = (struct rt_buffer){ 0 };
		t->synced = NULL;
		t->hash = t->next_mark = 0;
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
	plait_variant = rt_mode == PLAIT_MODE_OFF || rt_mode == PLAIT_MODE_SYNC || rt_keeps_last
				? PLAIT_VARIANT_PLAIN
			: rt_mode == PLAIT_MODE_PATH ? PLAIT_VARIANT_PATH
			: rt_graph_is_quick()	     ? PLAIT_VARIANT_GRAPH
						     : PLAIT_VARIANT_FULL;
}

/* Registered before anything else, so it runs after all of the target's own handlers. */
static void at_exit(int status, void *arg)
{
	(void)arg;
	control_exit_point();
	rt_note_modules();
	rt_finish(status);
}

/* Mode sync runs the plain variant, with hooks at its atomics. */
static void record_atomics(const struct plait_module *module, uint32_t first_site)
{
	bool none = false;

	for (const struct plait_order_place *p = module->order_places; p < module->order_places_end;
	     p++)
		none |= p->kind == PLAIT_PLACE_NONE;
	if (none || !places_patch(module, first_site))
		__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_NO_ATOMICS, __ATOMIC_RELAXED);
}

void plait_register_module(const struct plait_module *module)
{
	uint32_t first;

	rt_init();
	if (module->version != PLAIT_MODULE_VERSION)
		return;
	first = rt_module_new(module);
	if (first && rt_mode == PLAIT_MODE_SYNC)
		record_atomics(module, first);
	else if (first)
		order_module(module, first);
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
	bool traced;

	if (is_second_copy()) {
		interpose_init(INTERPOSE_NONE);
		return;
	}

	rt_options_read();
	rt_mode = mode_from_environment();
	if (rt_mode == PLAIT_MODE_FULL)
		rt_last_init();
	rt_stepping = rt_mode == PLAIT_MODE_CONTROL;
	traced = rt_mode != PLAIT_MODE_OFF && start_trace(rt_getenv(PLAIT_ENV_DIR));
	if (!traced && rt_mode != PLAIT_MODE_CONTROL)
		rt_mode = PLAIT_MODE_OFF;
	set_variant();
	interpose_init(rt_mode == PLAIT_MODE_OFF ? INTERPOSE_NONE
		       : rt_mode == PLAIT_MODE_PATH || rt_mode == PLAIT_MODE_SYNC
			       ? INTERPOSE_LIFE_ONLY
			       : INTERPOSE_ALL);
	if (rt_mode == PLAIT_MODE_OFF)
		return;
	if (rt_mode == PLAIT_MODE_SYNC)
		log_record_init();
	rt_thread_init();
	rt_failure_init();
	start_main_thread();
	if (rt_mode == PLAIT_MODE_CONTROL) {
		interpose_control_init();
		control_init(&interpose_world);
		if (control_log)
			log_give_init();
		else
			log_hear_init();
	}
	pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
	on_exit(at_exit, NULL);
	interpose_ends_init();
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
	if (rt_on_end && rt_self_)
		rt_on_end(rt_self_);
	rt_record_sv(PLAIT_EV_PROCESS_EXIT, 0, (uint64_t)(int64_t)status);
	rt_folder_finish();
}
