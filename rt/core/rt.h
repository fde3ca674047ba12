/* rt/core/rt.h - inside libplait: what all of its rooms share.
 *
 * libplait lives in somebody else's process. It calls no malloc and no stdio, and never exits. It
 * saves errno around its own system calls. What cannot be written is counted, the trace is marked,
 * and the target goes on.
 *
 * The rooms, and what each may include (scripts/lint checks it):
 *
 *	core/       this room: life of the process and its threads, records, failures
 *	control/    the control engine; sees core
 *	modes/      what instrumented code calls; sees core and control
 *	interpose/  the taken-over functions of libc; sees core and control
 *
 * Core calls the rooms above it through the pointers at the end of this header. One file sees every
 * room, because it starts them: core/init.c.
 *
 * The files of core:
 *
 *	init.c         mode, variant, fork and exit; starts the rooms
 *	environment.c  the environment, and the options in it
 *	folder.c       the run folder and its file `run`
 *	modules.c      loaded modules and their site numbers
 *	thread.c       who is who: rt_self, names by birth order
 *	buffer.c       per-thread mapped files that survive everything
 *	last.c         the flight recorder: only the last seconds are kept
 *	record.c       events into buffers (record.h: the fast path)
 *	values.c       values of address-feeding loads, as blocks in a buffer
 *	failure.c      fatal signals, assert(), abort()
 *	pcs.c          program counters as sites
 *	elements.c     which element of an access vector an event belongs to
 *	real.h         libc's own functions, below our hooks (libc.def lists them) */
#ifndef RT_CORE_RT_H
#define RT_CORE_RT_H

#include "unplait/effects.h"
#include "unplait/hooks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* A thread's window and event file: bytes between next and end are mapped and zero. */
struct rt_buffer {
	uint8_t *next;	   /* where the next record begins */
	uint8_t *limit;	   /* below it a short record needs no questions asked; record.h */
	uint8_t *clock_at; /* from here on the next record gets a clock in front */
	uint8_t *end;	   /* NULL: nothing mapped (yet, or any more) */
	uint8_t *window;   /* start of the mapped window */
	uint64_t written;  /* bytes in the event file */
	uint64_t lost;	   /* events lost since the last one that was written */
	bool broken;	   /* the file cannot grow any more */
};

/* The block that a thread's plait_values points into; values.c. */
struct rt_values {
	uint8_t *block, *block_end; /* NULL: none is open */
	struct plait_values *self;  /* of the thread that opened it */
	uint32_t size;		    /* of the next one */
	uint32_t held;		    /* blocks that wait for a signal handler to return */
};

/* Set in rt_thread.depth while a record is being written: a signal handler that interrupts it must
 * not write another one into the middle. */
#define RT_BUSY 0x80000000u

/* What every record touches comes first, and no two threads share a line of the cache. */
struct rt_thread {
	struct rt_buffer buffer __attribute__((aligned(128)));
	uint64_t last_address;
	uint32_t last_site;
	uint32_t depth; /* > 0: we are inside libplait; do not record or schedule */
	uint64_t last_clock;
	uint32_t index;		   /* into plait_run.threads */
	uint32_t nchildren;	   /* how many threads it has created */
	void *held;		   /* mode order: the element whose lock it holds */
	uint32_t nested;	   /* accesses of signal handlers inside such an access */
	struct plait_cells *cells; /* mode sync: what it reads without a lock; NULL: nothing */
	uint64_t
		*synced; /* mode sync: its count of operations, in its window; NULL: not recorded */
	uint64_t hash, next_mark; /* ... of what it did, and the count of its next check mark */
	uint64_t *bits;		  /* its plait_bits */
	struct rt_values values;
	bool ended;
	bool in_signal;			/* inside a signal handler of the target */
	bool detached_from_trace;	/* after fork without `follow` */
	bool controlled;		/* its end is the control engine's business */
	uint64_t stack_low, stack_size; /* 0: ask libc */
	void *control;			/* the control engine's own per-thread state */
	void *graph;			/* the graph collector's own per-thread state */
	void *start_routine, *start_arg;
	uint64_t handle; /* its pthread_t, once known; libc uses it again */
	uint32_t birth;	 /* its number among all births: 0 is main, the youngest has the greatest */
	int64_t began_ns; /* last.c: when its event file began; 0: not yet */
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

extern struct rt_thread rt_threads[PLAIT_MAX_THREADS]; /* by index */
/* Stands for threads that must not be recorded: after their end, beyond PLAIT_MAX_THREADS, and
 * during rt_init. Its depth is never 0. */
extern struct rt_thread rt_nobody;

/* thread.c. A child is named while its parent creates it: index and ordinal are fixed before the
 * kernel thread exists. NULL when there are too many. */
struct rt_thread *rt_thread_new(struct rt_thread *parent, void *start_routine);
void rt_thread_unborn(struct rt_thread *t); /* there was no kernel thread for it */
void rt_thread_attach(struct rt_thread *t); /* in the new thread itself; NULL = nobody */
/* Its last act; idempotent. thread.c calls it itself in the last round of TLS destructors, so that
 * user code in destructors is still recorded; the control engine may call it earlier. */
void rt_thread_end(struct rt_thread *t);
void rt_thread_init(void);

/* init.c. Idempotent; called from .preinit_array, a constructor, or the first hook. */
void rt_init(void);
/* Seal what can be sealed; called on every way out that we can see. */
void rt_finish(int status);
/* For the fork server: set rt_server_fork around fork(), so that the child is not detached; then,
 * in the child, start a new run in folder `dir` (NULL: without a trace). */
extern bool rt_server_fork;
/* Set around a fork whose child may go on with the run: nothing is switched off in it. */
extern bool rt_fork_follows;
void rt_restart(const char *dir);

/* environment.c. An environment variable, even before libc has set up environ. */
const char *rt_getenv(const char *name);
/* Options of $UNPLAIT_OPTIONS: "name" or "name=value", with commas between them. */
void rt_options_read(void);
bool rt_option(const char *name);
const char *rt_option_value(const char *name); /* NULL: absent; valid until the next call */

/* folder.c. Absolute path of the run folder, "" when there is none. */
extern char rt_dir[];
/* Create or take over a run folder and set rt_run. False: nothing can be recorded. */
bool rt_folder_open(const char *dir);
void rt_folder_forget(void); /* rt_run is the private dummy again */
/* The same for a while: what happens in this process is not noted for the run. Returns rt_run. */
struct plait_run *rt_run_hide(void);
void rt_folder_finish(void); /* the last facts about the run */

/* modules.c. Bring the table of loaded modules up to date (takes the loader's lock). */
void rt_note_modules(void);
/* Number the sites of an instrumented module; 0: it is known already, or not ours to number. */
uint32_t rt_module_new(const struct plait_module *module);

/* buffer.c. At least n bytes of room, or NULL (nothing can be written; the loss is counted). */
uint8_t *rt_buffer_room(struct rt_thread *t, size_t n);
/* dir/tNNNNN, its event file, or w..., s... */
#define RT_BUFFER_PATH 4200
bool rt_buffer_path(char path[RT_BUFFER_PATH], char letter, uint32_t index);
void rt_buffer_close(struct rt_thread *t);
/* Reserve the bytes [from, from + n) of a file, zeroed, so that storing into a mapping of them
 * cannot fail; false when there is no room. */
bool rt_buffer_reserve(int fd, uint64_t from, uint64_t n);
/* Zeroed memory that costs nothing until it is touched; NULL when there is none. flags: more of
 * mmap's. */
void *rt_reserve_memory(size_t n, int flags);

/* last.c. Option `last`: only the last seconds are kept, of threads and their files. */
extern bool rt_keeps_last;
void rt_last_init(void);
/* The window has been written to the thread's event file: begin another one if it is time, or if the
 * file may not grow. */
void rt_last_turn(struct rt_thread *t, bool may_grow);
/* The disk is full: give up what is oldest. False: there is nothing. */
bool rt_last_make_room(struct rt_thread *t);
/* Empty the place of a thread that ended long ago, for another thread. False: no thread has ended so long ago. */
bool rt_last_place(uint32_t *ret);
/* A new thread gets its name; it has ended. */
void rt_last_born(struct rt_thread *t);
void rt_last_ended(uint32_t index);

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
void rt_record_range(uint32_t kind, uint32_t site, const void *p, size_t size);
void rt_record_text(uint32_t kind, uint32_t site, const char *text);
/* streams.c: no race in std::cout and its siblings; said before the second thread begins. */
void rt_streams_benign(void);
/* In mode full a synchronisation event gets the next number of one global sequence, taken while the
 * object is held, so that events of one object are in true order. In mode control the
 * engine sets the clock: the number of events so far. */
extern uint64_t rt_steps;
/* Modes path and full, and control with the trace on: threads, allocation, texts and input are
 * written even where rt_recording is false. */
extern bool rt_writing;
void rt_record_bytes(uint32_t kind, uint32_t site, const void *p, size_t n);
void rt_record_stack(const void *low, size_t size);
void rt_record_number(uint32_t kind, uint64_t n); /* SIGNAL_ENTER ... */
void rt_record_output(uint32_t site, int fd, uint64_t n);
void rt_record_futex(uint32_t kind, uint32_t site, const void *word, uint64_t n, int result);
void rt_record_branch(uint32_t site, uint32_t successor);
void rt_record_bits(uint32_t count, uint64_t bits);
void rt_record_failure(uint32_t outcome, uint32_t site, const char *text);

/* values.c: the open block of values is over; before a record with a clock of its own, and before
 * the window changes. */
void rt_values_close(struct rt_thread *t);
/* Around a signal handler. */
void rt_values_interrupted(struct rt_thread *t, struct rt_values *saved,
			   struct plait_values *saved_place);
void rt_values_resumed(struct rt_thread *t, const struct rt_values *saved,
		       const struct plait_values *saved_place);
/* The window is another process's now, or a handler left by a jump. */
void rt_values_forget(struct rt_thread *t);

/* What the access hooks of the full variant do. */
enum rt_access {
	RT_ACCESS_PLAIN,   /* nothing but the access */
	RT_ACCESS_RECORD,  /* mode full */
	RT_ACCESS_CONTROL, /* control_before_access(), then record if rt_recording */
	RT_ACCESS_OTHER,   /* rt_before_access() */
	RT_ACCESS_GRAPH,   /* rt_graph_access() */
	RT_ACCESS_ORDER,   /* modes order and block: order.h */
};
extern uint8_t rt_access;
/* Mode graph: called before the access. */
/* Mode sync: around every atomic that a hook performs; NULL otherwise. */
extern void (*rt_atomic_enter)(const void *p);
extern void (*rt_atomic_leave)(void);
extern void (*rt_before_access)(uint32_t kind, const void *p, size_t size, uint32_t site);

/* failure.c. Fill in rt_run->failure (the first caller wins) and record a FAILURE event.
 * Async-signal-safe. */
void rt_failure(enum plait_outcome_kind kind, int signal, int code, const void *address,
		const char *text);
/* Modes path and full: keep the branch bits that other threads have not written yet. */
void rt_save_bits(void);
/* Return addresses from the frame pointer fp on, within the stack of that thread. Returns how many
 * there are. */
uint32_t rt_walk_frames(uint32_t thread, uint64_t fp, uint64_t *frames, uint32_t max);
/* Handlers for fatal signals, and an alternate stack for this thread. */
void rt_failure_init(void);
void rt_failure_thread(void);
struct sigaction;
bool rt_failure_signal(int signal);		  /* one that it handles? */
void rt_failure_action(struct sigaction *action); /* how it handles it */

/* pcs.c: a site number for a program counter (see PLAIT_PC_SITE_FIRST); 0 when there is no room. */
uint32_t rt_pc_site(const void *pc);
void rt_pcs_open(void);
void rt_pcs_share(void);

/* Take plait_call_site; code without sites is known by its program counter. Only directly inside a
 * hook_* function: the return address is the caller's. */
__attribute__((always_inline)) static inline uint32_t rt_take_site(void)
{
	uint32_t site = plait_call_site;

	plait_call_site = 0;
	return site ? site : rt_pc_site(__builtin_return_address(0));
}

/* The raw system call, without errno. */
long rt_syscall(long nr, long a, long b, long c, long d, long e, long f);

/* ---- what the rooms above do when core meets it; NULL: nothing ---- */

/* A synchronisation event, in its true place; also threads, allocation. Modes order, block, control.
 */
struct rt_sync {
	uint32_t kind, site;
	const void *object, *object2; /* object2: the mutex of a wait */
	uint64_t n;		      /* as events.def has it */
	int result;
	uint32_t thread; /* FORK, JOIN */
};
extern void (*rt_on_sync)(const struct rt_sync *s);
/* The constructors have run, and main is about to be called. Mode sync. */
extern void (*rt_on_main)(void);
/* The thread ends, or the process by it. Mode sync. */
extern void (*rt_on_end)(struct rt_thread *t);
/* A signal has come, and its handler is about to be called. Mode sync. */
extern void (*rt_on_signal)(int number);
/* A fault at *address. True: the access will succeed now. False: *address is what the program meant
 * to access. Mode graph. */
extern bool (*rt_on_fault)(int signal, uint64_t *address);
/* Where the program has the instruction that runs at pc, which may be a patched copy. Mode order. */
extern uint64_t (*rt_true_pc)(uint64_t pc);
/* A fatal signal has been noted, and the process is about to die of it. Mode control. */
extern void (*rt_on_death)(int wait_status);

#endif
