/* rt/control/birth.c - how threads come into being under control.
 *
 * A thread needs a descriptor that libc has set up: thread-local variables, stack protector,
 * thread-specific data. Only pthread_create makes one. With fibers the kernel thread is of no use
 * beyond that: it notes where its stack is and leaves by a raw system call, so that libc, which
 * sees nothing of it, goes on believing in the thread; the carrier then runs on its stack with its
 * thread pointer. What libc would do at the end (destructors) is done on the fiber, by its end().
 *
 * A descriptor is memory, and memory survives fork: the fork server makes as many threads as the
 * last run needed, and every child finds them ready. Creating a thread then costs no system call.
 * For this the server forks by a raw system call too: libc's fork would clear away the threads
 * that do not exist in the child.
 *
 * Addresses must not depend on who was made when. So stacks are slots of one region, given out in
 * order of creation; and the loader's vector of thread-local blocks (dtv), which pthread_create
 * allocates, comes from beside the slot, not from the target's heap. Threads with a stack of
 * their own choice, and those beyond the slots, are made the ordinary way when they are needed.
 *
 * With futex hand-over a thread is a kernel thread, on the same slots and stack addresses, and with
 * the same end: heap addresses agree too. */
#include "rt/control/gate.h"

#include "rt/control/again.h"

#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

enum {
	SLOTS = 256,
	STACK = 8 << 20,
	GUARD = 4096,
	DTV_BYTES = 1024,
	DESCRIPTOR = 1024, /* libc's thread id is within so many bytes of its beginning */
};

/* Where a kernel thread found itself before it left. */
struct place {
	uint32_t left;
	uint32_t tid;
	pthread_t self;
	void *frame;
};

struct slot {
	pthread_t handle; /* 0: nothing was ever made here */
	void *frame;
	bool ready;    /* a fiber can start here */
	bool parked;   /* a kernel thread waits here for its gate */
	uint32_t tid;  /* of that one */
	uint32_t word; /* set: it has one */
	struct gate *gate;
	bool dtv_used; /* its dtv memory is taken */
	uint32_t next; /* free list, number + 1 */
};

static struct slot slots[SLOTS];
static char dtvs[SLOTS][DTV_BYTES] __attribute__((aligned(64)));
static char *region;
static uint32_t nused, free_slots;
static struct slot *making;
static bool have_others;    /* threads with other stacks than these */
static uint32_t tid_offset; /* of the thread id in libc's descriptor; 0 unknown */

/* ---- what libc's loader allocates while a thread is made ---- */

void *birth_calloc(size_t n, size_t size)
{
	struct slot *s = making;

	if (!s || s->dtv_used || !size || n > DTV_BYTES / size)
		return NULL;
	s->dtv_used = true;
	return memset(dtvs[s - slots], 0, n * size);
}

bool birth_owns(const void *p)
{
	return (uint64_t)p - (uint64_t)dtvs < sizeof(dtvs);
}

size_t birth_bytes(const void *p, size_t wanted)
{
	size_t left = DTV_BYTES - (size_t)((const char *)p - dtvs[0]) % DTV_BYTES;

	return left < wanted ? left : wanted;
}

/* ---- slots ---- */

static char *stack_of(const struct slot *s)
{
	return region + (size_t)(s - slots) * (STACK + GUARD) + GUARD;
}

static uint64_t added_stack; /* bytes of the limit that the program did not ask for */

void birth_add_stack(uint64_t bytes)
{
	struct rlimit limit = { 0 };

	rt_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur + bytes > limit.rlim_max)
		return;
	limit.rlim_cur += bytes;
	if (rt_syscall(SYS_prlimit64, 0, RLIMIT_STACK, (long)&limit, 0, 0, 0) == 0)
		added_stack += bytes;
}

/* False when there is none: the target's limit asks for larger stacks, or no address space. */
static bool have_region(void)
{
	struct rlimit limit = { 0 };
	long p;

	if (region)
		return true;
	rt_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0);
	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur > STACK + added_stack)
		return false;
	p = rt_syscall(SYS_mmap, 0, (long)SLOTS * (STACK + GUARD), PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p < 0 && p > -4096)
		return false;
	region = (char *)p;
	return true;
}

/* A thread that asks for nothing special may live in a slot. */
static bool suits(const pthread_attr_t *attr)
{
	int inherit = PTHREAD_INHERIT_SCHED;
	size_t size = 0;
	void *low = NULL;

	if (!attr)
		return true;
	pthread_attr_getstack(attr, &low, &size);
	pthread_attr_getinheritsched(attr, &inherit);
	/* a stack of libc's choice ends at address 0, as far as libc tells; no pointer arithmetic:
	 * the compiler would rule that out */
	return (!low || (uintptr_t)low + size == 0) && size <= STACK &&
	       inherit == PTHREAD_INHERIT_SCHED;
}

static struct slot *take_slot(const pthread_attr_t *attr)
{
	struct slot *s;

	if (!suits(attr) || !have_region())
		return NULL;
	if (nused < SLOTS)
		return &slots[nused++];
	if (!free_slots)
		return NULL;
	s = &slots[free_slots - 1];
	free_slots = s->next;
	return s;
}

static void set_tid(pthread_t handle, uint32_t tid)
{
	if (tid_offset)
		*(uint32_t *)((char *)handle + tid_offset) = tid;
}

/* libc forgets the thread that was here. */
static void clear_slot(struct slot *s)
{
	if (!s->handle)
		return;
	set_tid(s->handle, 0);
	real.pthread_join(s->handle, NULL);
	s->handle = 0;
	s->ready = s->dtv_used = false;
}

bool birth_may_be_stack(const void *p)
{
	return have_others || (uint64_t)p - (uint64_t)region < (uint64_t)SLOTS * (STACK + GUARD);
}

/* ---- making ---- */

static void find_tid(const struct place *p)
{
	const uint32_t *words = (const uint32_t *)p->self;
	uint32_t i;

	for (i = 16; !tid_offset && i < DESCRIPTOR / 4; i++)
		if (words[i] == p->tid)
			tid_offset = i * 4;
}

/* The kernel thread's whole life. */
static void *note_and_leave(void *arg)
{
	struct place *p = arg;

	rt_self_ = &rt_nobody;
	p->self = pthread_self();
	p->frame = __builtin_frame_address(0);
	p->tid = (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	find_tid(p);
	gate_set_word(&p->left);
	for (;;)
		rt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}

static int make(struct slot *s, const pthread_attr_t *attr, pthread_t *handle,
		void *(*start)(void *), void *arg)
{
	pthread_attr_t own;
	sigset_t all, old;
	int r;

	if (s) {
		clear_slot(s);
		real.mprotect(stack_of(s), STACK, PROT_READ | PROT_WRITE);
		pthread_attr_init(&own);
		pthread_attr_setstack(&own, stack_of(s), STACK);
	} else if (attr) {
		own = *attr; /* shares what attr points to; only the flag differs */
		pthread_attr_setdetachstate(&own, PTHREAD_CREATE_JOINABLE);
	}
	/* the kernel's side of a thread is not undone; and with SIGSYS blocked, as below, a system call
	 * that is caught would kill the process */
	again_give_up();
	sigfillset(&all);
	if (start == note_and_leave) /* no handler may run on it */
		rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, 8, 0, 0);
	making = s;
	r = real.pthread_create(handle, s || attr ? &own : NULL, start, arg);
	making = NULL;
	if (start == note_and_leave)
		rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, 8, 0, 0);
	if (s) {
		pthread_attr_destroy(&own);
		s->handle = r == 0 ? *handle : 0;
	}
	return r;
}

static int make_fiber(struct slot *s, const pthread_attr_t *attr, pthread_t *handle, void **frame)
{
	struct place p = { 0 };
	int r = make(s, attr, handle, note_and_leave, &p);

	if (r)
		return r;
	gate_wait_word(&p.left);
	gate_wait_gone(p.tid);
	*frame = p.frame;
	return 0;
}

bool birth_warm(uint32_t n)
{
	bool changed = false;
	uint32_t i;

	if (!have_region())
		return false;
	for (i = 0; i < n && i < SLOTS; i++) {
		struct slot *s = &slots[i];

		if (!s->ready && make_fiber(s, NULL, &s->handle, &s->frame) == 0)
			changed = s->ready = true;
	}
	__libc_single_threaded = 1; /* as far as the target can tell */
	return changed;
}

uint32_t birth_used(void)
{
	return nused;
}

long birth_fork(void)
{
	uint32_t *tid = (uint32_t *)((char *)pthread_self() + tid_offset);
	void *robust = NULL;
	size_t len = 0;
	long r;

	if (!tid_offset)
		return real.fork();
	rt_syscall(SYS_get_robust_list, 0, (long)&robust, (long)&len, 0, 0, 0);
	r = rt_syscall(SYS_clone, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, 0, 0,
		       (long)tid, 0, 0);
	if (r == 0)
		rt_syscall(SYS_set_robust_list, (long)robust, (long)len, 0, 0, 0, 0);
	return r;
}

void birth_renamed(void)
{
	set_tid(pthread_self(), (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
}

void birth_forked(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		slots[i] = (struct slot){ 0 };
	nused = free_slots = 0;
}

/* ---- threads of the target ---- */

static void *native_start(void *arg)
{
	struct gate *g = arg;

	rt_self_ = &rt_nobody; /* until its turn */
	g->tid = (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	gate_thread(g, __builtin_frame_address(0));
}

/* Kernel threads made before main, for the futex gate: see server.c for who needs them. */
static void *park(void *arg)
{
	struct slot *s = arg;

	rt_self_ = &rt_nobody;
	s->tid = (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	gate_wait_word(&s->word);
	return native_start(s->gate);
}

void birth_park(uint32_t n)
{
	uint32_t i;

	if (!have_region())
		return;
	for (i = 0; i < n && i < SLOTS; i++)
		slots[i].parked = make(&slots[i], NULL, &slots[i].handle, park, &slots[i]) == 0;
	__libc_single_threaded = 1;
}

bool birth_is_parked(uint32_t tid)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slots[i].parked && slots[i].tid == tid)
			return true;
	return false;
}

static int birth_parked(struct gate *g, struct slot *s, pthread_t *handle)
{
	s->parked = false;
	s->gate = g;
	*handle = s->handle;
	__libc_single_threaded = 0;
	gate_set_word(&s->word);
	return 0;
}

static int birth_fiber(struct gate *g, struct slot *s, pthread_t *handle,
		       const pthread_attr_t *attr)
{
	void *frame;
	int r;

	if (s && s->ready) {
		*handle = s->handle;
		frame = s->frame;
		s->ready = false;
		__libc_single_threaded = 0;
	} else {
		r = make_fiber(s, attr, handle, &frame);
		if (r)
			return r;
	}
	set_tid(*handle, (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
	g->thread_pointer = (uint64_t)*handle;
	fiber_prepare(g, frame);
	return 0;
}

int birth_thread(struct gate *g, uint32_t index, pthread_t *handle, const pthread_attr_t *attr)
{
	struct slot *s = take_slot(attr);

	have_others |= !s;
	if (s) {
		g->slot = (uint32_t)(s - slots) + 1;
		g->stack_low = (uint64_t)stack_of(s);
		g->stack_size = STACK;
	}
	if (g->native && s && s->parked)
		return birth_parked(g, s, handle);
	if (g->native)
		return make(s, attr, handle, native_start, g);
	g->tid = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) + index;
	return birth_fiber(g, s, handle, attr);
}

void birth_reap(struct gate *g, pthread_t handle)
{
	if (g->main)
		return;
	if (g->native || !g->slot) {
		if (!g->native)
			set_tid(handle, 0);
		real.pthread_join(handle, NULL);
	}
	if (!g->slot)
		return;
	if (g->native)
		slots[g->slot - 1].handle = 0, slots[g->slot - 1].dtv_used = false;
	slots[g->slot - 1].next = free_slots;
	free_slots = g->slot;
}
