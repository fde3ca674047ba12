/* rt/rt.h - inside libplait: what its files share.
 *
 * Life inside somebody else's process: no malloc, no stdio, no exit; errno is saved around our own
 * system calls; whatever cannot be written is counted, the trace is marked, the target goes on.
 *
 *	init.c       mode, run folder, variant, fork and exit handling
 *	thread.c     who is who: rt_self, names by birth order
 *	buffer.c     per-thread mapped files that survive everything
 *	record.c     events into buffers
 *	hooks.c      memory accesses of the full variant     path.c  branch bits of the path variant
 *	alloc.c      allocation                              tsan.c  the -fsanitize=thread interface
 *	interpose.c  taking over libc's functions; sync-*.c, io.c, time.c: the taken-over functions
 *	control/     the control engine (control.h is its interface to the rest) */
#ifndef RT_RT_H
#define RT_RT_H

#include "unplait/abi.h"
#include "unplait/hooks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* A thread's event file: bytes between next and end are mapped and zero. */
struct rt_buffer {
	uint8_t *next, *end; /* NULL: nothing mapped (yet, or any more) */
	uint8_t *window;     /* start of the mapped window */
	uint64_t offset;     /* of the window in the file */
};

struct rt_thread {
	uint32_t index;	    /* into plait_run.threads */
	uint32_t nchildren; /* how many threads it has created */
	uint32_t last_site;
	uint64_t last_address;
	uint64_t last_clock;
	struct rt_buffer buffer;
	uint32_t depth;		  /* > 0: we are inside libplait; do not record or schedule */
	bool in_signal;		  /* inside a signal handler of the target */
	bool detached_from_trace; /* after fork without `follow` */
	void *control;		  /* the control engine's own per-thread state */
	void *graph;		  /* the graph collector's own per-thread state */
	void *start_routine, *start_arg;
};

extern enum plait_mode rt_mode;
extern struct plait_run *rt_run; /* never NULL: a private dummy when there is no folder */
extern __thread struct rt_thread *rt_self_;

/* The calling thread; registers threads that nobody announced (created by foreign code). */
struct rt_thread *rt_self_slow(void);
static inline struct rt_thread *rt_self(void)
{
	return likely(rt_self_ != NULL) ? rt_self_ : rt_self_slow();
}

/* thread.c. A child is named while its parent creates it: index and ordinal are fixed before the
 * kernel thread exists. NULL when there are too many. */
struct rt_thread *rt_thread_new(struct rt_thread *parent, void *start_routine);
void rt_thread_attach(struct rt_thread *t); /* in the new thread itself */
void rt_thread_end(struct rt_thread *t);    /* its last act */

/* init.c. Idempotent; called from .preinit_array, a constructor, or the first hook. */
void rt_init(void);
/* Seal what can be sealed; called on every way out that we can see. */
void rt_finish(int status);
/* Options of $UNPLAIT_OPTIONS. */
bool rt_option(const char *name);
const char *rt_option_value(const char *name); /* NULL = absent; points into the environment copy */

/* buffer.c. At least n bytes of room, or NULL (nothing can be written; the loss is counted). */
uint8_t *rt_buffer_room(struct rt_thread *t, size_t n);

/* record.c: one function per field layout. Each is a no-op unless this run records events
 * (rt_recording), and sets the thread's clock first. */
extern bool rt_recording; /* mode full, or control with the trace on */
void rt_record_sa_r(uint32_t kind, uint32_t site, const void *object, int result);
void rt_record_sa_n(uint32_t kind, uint32_t site, const void *object, uint64_t n);
void rt_record_wait(uint32_t kind, uint32_t site, const void *cond, const void *mutex, int result);
void rt_record_thread(uint32_t kind, uint32_t site, uint32_t thread, int result);
void rt_record_sv(uint32_t kind, uint32_t site, uint64_t value);
void rt_record_access(uint32_t kind, uint32_t site, const void *p, uint32_t size, uint64_t value,
		      uint64_t value2);
void rt_record_text(uint32_t kind, uint32_t site, const char *text);
/* In mode full a synchronisation event gets the next number of one global sequence, taken while the
 * object is held, so that events of one object are in true order. In mode control the
 * engine sets the clock: the number of events so far. */
extern uint64_t rt_steps;

/* Fill in rt_run->failure (first caller wins) and record a FAILURE event. Async-signal-safe. */
void rt_failure(enum plait_outcome_kind kind, int signal, int code, const void *address,
		const char *text);
/* Frame-pointer walk from the caller, bounded by the thread's stack. Returns the count. */
uint32_t rt_backtrace(uint64_t *frames, uint32_t max);

/* Take plait_call_site, or fall back to 0. */
static inline uint32_t rt_take_site(void)
{
	uint32_t site = plait_call_site;

	plait_call_site = 0;
	return site;
}

/* The raw system call, without errno. */
long rt_syscall(long nr, long a, long b, long c, long d, long e, long f);

#endif
