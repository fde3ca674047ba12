/* rt/control/control.h - the control engine, as the taken-over functions see it.
 *
 * In control mode one thread of the target runs at a time. Before every operation that another
 * thread could notice, the running thread *publishes* what it is about to do (control_point), and
 * the engine chooses who goes on. When the call returns, the operation is enabled, and nobody else
 * runs until the next point. Operations never block: the taken-over functions perform them on the
 * state machines of sched/sync.h.
 *
 *	engine.h       what the files of this room share
 *	choice.c       the choice: candidates, strategy, who goes on
 *	decisions.c    decisions are recorded, and followed on replay; the log of choices
 *	threads.c      a thread's life under control
 *	time.c         virtual time: deadlines, waits that end early
 *	access.c       memory accesses: which are points, spinning
 *	quick.h        accesses that are no points, for the hooks of modes/
 *	budget.c       a run that takes too long: does it still make progress?
 *	spin.c         loops that wait for another thread
 *	clocks.c       data races, while the run goes on
 *	predicate.c    a condition that the user wants to hold
 *	learn.c        which sites touch shared memory; write-to-read pairs
 *	constraints.c  "a before b", "a to b atomic"
 *	gone.c         locks that are not there any more
 *	turns.c        the order of turns that FOLLOW keeps to
 *	vectors.c      access vectors: who is next at which element
 *	handovers.c    the order of synchronisation of a run in mode sync
 *	report.c       how a run ends: deadlock, hang, divergence, in words
 *	sanitizer.c    AddressSanitizer looks again after a switch
 *	inputs.c       files that are given to the target in place of others
 *	ids.c          which process is which
 *	follow.c       when a forked child is the run
 *	away.c         a thread that does not come back from code we do not see
 *	gate-*.c       handing the processor from thread to thread
 *	birth.c        stacks and descriptors; threads without a kernel thread
 *	server.c       around main: the fork server
 *	again.c        the next run in the same process
 *	again-calls.c  what it must know about system calls
 *
 * The engine never includes rt/interpose/. What it needs from there it calls through struct
 * control_world. */
#ifndef RT_CONTROL_CONTROL_H
#define RT_CONTROL_CONTROL_H

#include "rt/control/gate.h"
#include "rt/core/rt.h"
#include "sched/strategy.h"

#include <pthread.h>
#include <signal.h>

struct control_thread;
struct sync_mutex;
struct plait_log;

/* Why an operation may have to wait. NULL where it never does. */
struct control_wait {
	const char *what; /* "to lock a mutex" */
	bool (*ready)(const struct control_thread *t);
	/* number (index + 1) of the thread that must act first, 0 unknown; may be NULL */
	uint32_t (*holder)(const struct control_thread *t);
	uint32_t flags;
};
enum {
	/* even after a timeout ready must hold: a wait needs its mutex back */
	CONTROL_NEEDS_MORE = 1,
	/* ready depends on what changes without an operation of ours */
	CONTROL_OUTSIDE = 2,
	/* it waits for nothing: the log of mode sync has no more of it */
	CONTROL_LOG_ENDS = 4,
};

#define CONTROL_NEVER UINT64_MAX /* no deadline */

struct control_op {
	uint32_t kind; /* enum plait_event_kind */
	uint32_t site;
	const void *object; /* what conflicts are judged by */
	/* for the wait's own use: the mutex of a wait ...; where a descriptor is used, plait_state_files */
	const void *object2;
	uint64_t value; /* likewise: a barrier's round ... */
	uint32_t size;
	bool writes;
	const struct control_wait *wait;
	bool cancellable; /* a cancellation point */
	bool logged;	  /* counts as an operation of mode sync's log */
	bool racing;	  /* so does this one: a plain access on a racing line */
	bool sends; /* a signal is sent or taken, or a cancellation: others may do another thing next */
	bool shared; /* the object is process-shared: another process may end the wait */
	/* what a signal handler does to the wait */
	enum {
		CONTROL_GOES_ON,     /* nothing */
		CONTROL_RESTARTS,    /* ends it unless SA_RESTART */
		CONTROL_ENDS,	     /* ends it */
		CONTROL_ENDS_SURELY, /* ends it, and cannot have run just before the call */
	} signals;
	uint64_t deadline; /* virtual time at which the wait gives up; 0 or CONTROL_NEVER: none */
};

enum { CONTROL_SPIN_SLOTS = 8, CONTROL_ROBUST = 8 };

/* What a thread was about to do when a signal handler began; lies on its stack. */
struct control_outer {
	struct control_op op;
	struct sched_op task_op;
	bool released, timed_out;
	struct control_outer *next;
};

struct control_thread {
	struct sched_task task; /* first: the strategy's view */
	struct rt_thread *rt;
	struct control_op op; /* published */
	bool ended, joined, detached;
	bool released;	  /* a signal, broadcast or futex wake-up has reached it */
	bool timed_out;	  /* its deadline was chosen to expire */
	bool guard;	  /* its deadline is far away: time.c */
	uint64_t skipped; /* control.skipped when it began to wait */
	bool cancelled, uncancellable;
	uint32_t name;		 /* access vectors: its number among the names */
	uint32_t log_name;	 /* its number in the log; PLAIT_ANY: it is not there */
	uint64_t events;	 /* executed so far */
	uint64_t held_key;	 /* stands for the set of locks it holds */
	uint64_t noted_salt;	 /* quick.h: mixed into what it has noted */
	uint8_t race_ignores;	 /* accesses that do not count: PLAIT_EV_IGNORE */
	bool waits_outside;	 /* control_waits_outside() */
	uint32_t turn;		 /* FOLLOW: where its next event belongs */
	uint64_t spinning_since; /* control.writes when it was found to spin; 0: not spinning */
	struct {
		uint64_t key, writes;
		uint32_t count;
	} spin[CONTROL_SPIN_SLOTS];
	struct {
		uint64_t state, writes;
		uint32_t site;
	} repeat[CONTROL_SPIN_SLOTS]; /* spin.c */
	uint64_t repeats;  /* control.writes when it came back to the same state; for meet.c */
	const void *frame; /* where it published, for backtraces by others */
	struct gate gate;
	pthread_t handle;
	void *(*start)(void *);
	void *arg;
	void *result;
	unsigned destructor_rounds;
	struct sync_mutex *robust[CONTROL_ROBUST]; /* robust mutexes it holds */
	uint32_t nrobust;
	uint64_t signals;	     /* pending, by number - 1 */
	uint64_t signal_mask;	     /* blocked */
	bool interrupted;	     /* its last wait was ended by a signal handler */
	struct control_outer *outer; /* inside a handler: what it interrupted */
	uint64_t draws;		     /* random numbers that it has got */
	const void *freeing;	     /* the block whose release has just been a step */
};

/* The running thread begins to wait in code that we do not see, by looking again and again; or it no
 * longer does. away.c. */
void control_waits_outside(bool begins);

/* The log of mode sync that this run gets its inputs from; NULL: none. */
extern const struct plait_log *control_log;
/* What a run under control heard from others, for a replay of it; NULL: none, or there is a control_log. */
extern const struct plait_log *control_heard;
/* There is one, but the tool is of another version than this runtime. */
extern bool control_log_is_strange;
/* A folder for what this run writes, for as long as the session lasts; NULL: there is no log. */
const char *control_own_folder(void);

extern bool control_active;  /* this process is under control now */
extern bool control_forked;  /* ... its parent is, and it is not */
extern bool control_virtual; /* its world is that of a run: from the first constructor on */

/* The calling thread if it is under control, else NULL (then: call libc). */
static inline struct control_thread *control_self(void)
{
	struct rt_thread *t;

	if (likely(!control_active))
		return NULL;
	t = rt_self_;
	return t && !t->depth && !t->in_signal ? t->control : NULL;
}

/* ---- what the engine asks of the taken-over functions ---- */

struct control_world {
	/* A run begins: forget the signals and timers of the last one. */
	void (*begin)(void);
	/* In the main thread, when control begins: call control_thread_end() at its end. */
	void (*watch_end)(struct control_thread *t);
	/* A thread has ended: pass its robust mutexes on. */
	void (*thread_ended)(struct control_thread *t);
	/* Run the handler of a signal that is due for this thread; false: none is. */
	bool (*deliver)(struct control_thread *me);
	/* Run the handler of this signal at once; false: it has none. */
	bool (*handle)(struct control_thread *me, int number);
	/* Nobody can run. Wait for the outside world if t (NULL: anybody) waits for it. False:
	 * nothing outside can help. */
	bool (*wait_outside)(const struct control_thread *t);
	/* The timers that run can only end the process. */
	bool (*timers_patient)(void);
	/* The timer that expires next begins again. */
	bool (*timers_periodic)(void);
	/* This process is a forked child: it has none of its parent's timers. */
	void (*forget_timers)(void);
	/* Wait so many ns of real time for children that somebody waits for. True: one has ended. */
	bool (*wait_for_children)(uint64_t ns);
	/* Others have made steps since a timer struck the last time. */
	bool (*timers_rested)(void);
};

/* Called by init.c in mode control: map the area, note what to do at main. */
void control_init(const struct control_world *world);

/* ---- called by the taken-over functions ---- */

/* Publish, be chosen. False: the wait timed out (the operation is not enabled). */
bool control_point(struct control_thread *me, const struct control_op *op);
/* The common case: an operation that changes an object and cannot block. */
static inline void control_touch(struct control_thread *me, uint32_t kind, uint32_t site,
				 const void *object)
{
	control_point(me, &(struct control_op){
				  .kind = kind, .site = site, .object = object, .writes = true });
}
/* An operation that is a step but no scheduling point. */
void control_step(struct control_thread *me, const struct control_op *op);
/* An operation that gives a lock back. It is a scheduling point only where somebody could notice
 * that it has not happened yet. Threads that wait for the lock cannot: they become candidates at
 * this thread's next point, which is as good. A thread that only tries the lock can. */
void control_release(struct control_thread *me, uint32_t kind, uint32_t site, const void *object);
/* The process is about to end, and no hook will be called again. What the other threads still do
 * before that, or not, is a choice. */
void control_exit_point(void);
/* This run follows a schedule. */
bool control_is_fixed(void);
/* A replay has a decision to follow right here. */
bool control_decision_due(void);
/* Synchronisation state has changed: threads that spin get another look. */
void control_changed(void);
/* A thread of the log has got its next answer, which the recorded run had at this time. */
void control_log_answered(uint32_t thread, uint64_t clock);
/* If the log has this signal next, behind the last operation of me: run its handler. */
void control_take_logged_signal(struct control_thread *me, int number);
/* Is the order of a log followed, in which the next operation of me succeeded? */
bool control_log_succeeds(const struct control_thread *me);
/* The attempt that me has just made, or the wait that may time out, failed in the recorded run, whatever
 * it finds here. A decision, so that a replay by decisions does the same. */
bool control_refused(struct control_thread *me);
/* A decision among n alternatives. */
uint32_t control_choose(struct control_thread *me, uint32_t n);
/* Prefer the others for a while. */
void control_yield(struct control_thread *me, uint32_t kind, uint32_t site);
/* The same failed attempt over and over: part of spin detection. */
void control_spin_check(struct control_thread *me, uint32_t site, const void *object,
			uint64_t value);
void control_note(enum plait_uncontrolled what);
void control_limit(enum plait_limit what);
/* Does the request for this run have this flag? */
bool control_asked(enum plait_control_flags flag);
/* A constraint wants the signal that me has just executed to wake everybody. */
bool control_wakes_all(const struct control_thread *me);
/* One kernel thread runs everybody. */
bool control_has_fibers(void);
/* May a thread be called "not ready" from memory, without asking the kernel again? The engine asks
 * again before it says that nobody can run. */
bool control_trusts(void);
/* From here on this process runs freely: it is a forked child, or the run is over. */
void control_stop(void);

/* A forked child may become the run (follow.c). Before fork: may it? In the child: it begins, and takes
 * over before it creates a thread. In the parent, with the kernel's number: did it? */
bool control_may_follow(void);
void control_child_begins(void);
bool control_child_takes_over(void);
bool control_child_took_over(long child);
void control_left_behind(void);
/* This process is not under control, but has the run's clock: a parent that was left behind, a child
 * that may yet take over. */
bool control_keeps_time(void);

/* Threads. `new` and `birth` are called by the creator, `begin` and `end` in the thread itself. */
struct control_thread *control_thread_new(struct control_thread *parent, struct rt_thread *rt);
/* Make it, once its start, gate.body and gate.end are set. Returns what pthread_create would; when
 * that is no success, the thread is forgotten. */
int control_thread_birth(struct control_thread *me, struct control_thread *t,
			 const pthread_attr_t *attr);
void control_thread_begin(struct control_thread *t);
void control_thread_end(struct control_thread *t);
struct control_thread *control_thread_find(pthread_t handle); /* not yet joined */
/* me has joined t. */
void control_joined(struct control_thread *me, struct control_thread *t);
/* me has taken a lock that excludes everybody else; me is about to give it back. */
void control_holds(struct control_thread *me, const void *lock);
void control_gives_back(struct control_thread *me, const void *lock);
size_t control_nthreads(void);
struct control_thread *control_thread_at(size_t i); /* any, by index */

/* Files by the name that the target gives: what to open in its place, NULL: the file itself. */
const char *control_input_find(const char *name);
/* The target opens it ('r', 'w'); path: the same, absolute. Or what the letters of plait_inputs say. */
void control_input_note(char how, const char *name, const char *path);

/* Processes of this run: the number that the target sees, and the kernel's. A number that is not
 * known is its own answer. */
void control_ids_reset(void);
void control_id_note(uint32_t id, uint32_t real);
uint32_t control_id_real(uint32_t id);
uint32_t control_id_virtual(uint32_t real);

/* Virtual time, in ns since the run began. */
uint64_t control_now(void);
uint64_t control_clock_read(void); /* the target looked at the clock: it moves a little */

/* Signals that are pending at the process, by number - 1: the next chosen thread takes them. */
extern uint64_t control_signals;
/* The thread that stands for the timers; NULL: there are none. */
extern struct control_thread *control_timers;

static inline bool control_signal_due(const struct control_thread *t)
{
	return (t->signals | control_signals) & ~t->signal_mask;
}

/* A cancellation request that can be acted upon. */
static inline bool control_cancel_due(const struct control_thread *t)
{
	return t->cancelled && !t->uncancellable && t->op.cancellable;
}

/* ---- called by the hooks of instrumented code ---- */

/* Around each memory access of the full variant. kind: PLAIT_EV_READ ... WRITE_RANGE. Returns
 * whose it is, NULL: nobody's under control. */
struct control_thread *control_before_access(uint32_t kind, const void *p, size_t size,
					     uint32_t site);
/* Before instrumented code gives a block back: a write of all of it. Code that was not built by us
 * may hold locks of libc that we do not see: its frees are no steps, and heap_freeing sees them. */
void control_before_free(void *p, uint32_t site);
/* value: what a read or a read-modify-write found there. */
void control_after_access(const void *p, uint32_t site, uint64_t value, bool wrote);

/* ---- ends of a run ---- */
/* What is followed does not fit this run. */
_Noreturn void control_diverged(const char *why);
/* The target has sent something else than the log says. */
void control_sent_other(void);
_Noreturn void control_deadlock(void);
/* what: the same in every run, it tells failures apart; detail: what differs, or ""; site: of the
 * access, 0: not known. */
_Noreturn void control_misuse(enum plait_misuse kind, const char *what, const void *object,
			      const char *detail, uint32_t site);
/* What the user wants to hold does not; site: of the last operation, 0: not known. */
_Noreturn void control_predicate_broken(const char *text, uint32_t site);
/* "0.1": the name of the thread with this number. */
void control_thread_name(char *out, size_t size, uint32_t index);

#endif
