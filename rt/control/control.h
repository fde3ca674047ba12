/* rt/control/control.h - the control engine, as the rest of libplait sees it.
 *
 * In control mode one thread of the target runs at a time. Before every operation that another
 * thread could notice, the running thread *publishes* what it is about to do (control_point) and
 *the engine chooses who goes on; when the call returns, the operation is enabled and nobody else
 *runs until the next point. Operations never block: the taken-over functions perform them on the
 *state machines of sched/sync.h.
 *
 *	engine.c       the choice: candidates, strategy, decisions, replay, budgets
 *	access.c       memory accesses: points, spinning, learning, write-to-read pairs
 *	quick.h        those of them that are no points
 *	constraints.c  "a before b", "a to b atomic"
 *	turns.c        the order of turns that FOLLOW keeps to
 *	vectors.c      access vectors: who is next at which element
 *	report.c       how a run ends: deadlock, hang, divergence, in words
 *	away.c         a thread that does not come back from code we do not see
 *	timers.c       alarms and timers in virtual time
 *	gate-*.c       handing the processor from thread to thread
 *	birth.c        stacks and descriptors; threads without a kernel thread
 *	server.c       around main: the fork server
 *	again.c        the next run in the same process
 *	again-calls.c  what it must know about system calls */
#ifndef RT_CONTROL_H
#define RT_CONTROL_H

#include "rt/control/gate.h"
#include "rt/core/rt.h"
#include "sched/strategy.h"

#include <pthread.h>
#include <signal.h>

struct control_thread;
struct sync_mutex;

/* Why an operation may have to wait. NULL where it never does. */
struct control_wait {
	const char *what; /* "to lock a mutex" */
	bool (*ready)(const struct control_thread *t);
	/* number (index + 1) of the thread that must act first, 0 unknown; may be NULL */
	uint32_t (*holder)(const struct control_thread *t);
	uint32_t flags;
};
enum {
	CONTROL_NEEDS_MORE =
		1,	     /* even after a timeout ready must hold: a wait needs its mutex back */
	CONTROL_OUTSIDE = 2, /* ready depends on what changes without an operation of ours */
};

#define CONTROL_NEVER UINT64_MAX /* no deadline */

struct control_op {
	uint32_t kind; /* enum plait_event_kind */
	uint32_t site;
	const void *object;  /* what conflicts are judged by */
	const void *object2; /* for the wait's own use: the mutex of a wait ... */
	uint64_t value;	     /* likewise: a barrier's round ... */
	uint32_t size;
	bool writes;
	const struct control_wait *wait;
	bool cancellable; /* a cancellation point */
	/* what a signal handler does to the wait: nothing; ends it unless SA_RESTART; ends it; ends
	 * it, and cannot have run just before the call */
	enum { CONTROL_GOES_ON, CONTROL_RESTARTS, CONTROL_ENDS, CONTROL_ENDS_SURELY } signals;
	uint64_t deadline; /* virtual time at which the wait gives up; 0 or CONTROL_NEVER: none */
};

enum { CONTROL_SPIN_SLOTS = 8, CONTROL_ROBUST = 8 };

/* What a thread was about to do when a signal handler began; lies on its stack. */
struct control_outer {
	struct control_op op;
	struct sched_op task_op;
	bool released, timed_out;
	uint32_t wait_order;
	struct control_outer *next;
};

struct control_thread {
	struct sched_task task; /* first: the strategy's view */
	struct rt_thread *rt;
	struct control_op op; /* published */
	bool ended, joined, detached;
	bool released;	/* a signal, broadcast or futex wake-up has reached it */
	bool timed_out; /* its deadline was chosen to expire */
	bool sleeping;	/* the pending wait is a sleep: expiry is success */
	bool cancelled, uncancellable;
	uint32_t wait_order;
	uint32_t name;		 /* access vectors: its number among the names */
	uint64_t events;	 /* executed so far */
	uint32_t turn;		 /* FOLLOW: where its next event belongs */
	uint64_t spinning_since; /* control.writes when it was found to spin; 0: not spinning */
	struct {
		uint64_t key, writes;
		uint32_t count;
	} spin[CONTROL_SPIN_SLOTS];
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
};

extern bool control_active; /* this process is under control now */

/* The calling thread if it is under control, else NULL (then: call libc). */
static inline struct control_thread *control_self(void)
{
	struct rt_thread *t;

	if (likely(!control_active))
		return NULL;
	t = rt_self_;
	return t && !t->depth && !t->in_signal ? t->control : NULL;
}

/* ---- called by init.c ---- */
void control_init(void); /* mode control: map the area, note what to do at main */

/* ---- called by the taken-over functions ---- */

/* Publish, be chosen. False: the wait timed out (the operation is not enabled). */
bool control_point(struct control_thread *me, const struct control_op *op);
/* The same for a memory access, which is in me->op and me->task.op already and waits for nothing.
 */
struct control_thread *control_access_point(struct control_thread *me); /* me */
/* An operation that is a step but no scheduling point. */
void control_step(struct control_thread *me, const struct control_op *op);
/* Synchronisation state has changed: threads that spin get another look. */
void control_changed(void);
/* A decision among n alternatives. */
uint32_t control_choose(struct control_thread *me, uint32_t n);
/* Prefer the others for a while. */
void control_yield(struct control_thread *me, uint32_t kind, uint32_t site);
void control_note(enum plait_uncontrolled what);
/* The same failed attempt over and over: part of spin detection. */
void control_spin_check(struct control_thread *me, uint32_t site, const void *object,
			uint64_t value);

/* Threads. `new` is called by the creator, `begin` and `end` in the thread itself. */
struct control_thread *control_thread_new(struct control_thread *parent, struct rt_thread *rt);
void control_thread_drop(struct control_thread *t); /* creation failed */
void control_thread_begin(struct control_thread *t);
void control_thread_end(struct control_thread *t);
struct control_thread *control_thread_find(pthread_t handle); /* not yet joined */
size_t control_nthreads(void);
struct control_thread *control_thread_at(size_t i); /* any, by index */
size_t control_nalive(void);

/* Virtual time, in ns since the run began. */
uint64_t control_now(void);
uint64_t control_clock_read(void); /* the target looked at the clock: it moves a little */

/* ---- called by hooks.c and tsan.c ---- */

/* Around each memory access of the full variant. kind: PLAIT_EV_READ ... WRITE_RANGE. Returns
 * whose it is, NULL: nobody's under control. */
struct control_thread *control_before_access(uint32_t kind, const void *p, size_t size,
					     uint32_t site);
/* value: what a read or a read-modify-write found there. */
void control_after_access(uint32_t kind, const void *p, size_t size, uint32_t site, uint64_t value,
			  bool wrote);

/* ---- ends of a run ---- */
_Noreturn void control_deadlock(void);
_Noreturn void control_hang(const char *why);
_Noreturn void control_misuse(struct control_thread *me, const char *what, const void *object);
_Noreturn void control_diverged(const char *why);
_Noreturn void control_full(const char *what);
_Noreturn void control_infeasible(void);

/* ---- shared by the files of control/ ---- */

/* Which accesses are points. */
enum control_rule {
	CONTROL_RULE_NONE,
	CONTROL_RULE_STEPS, /* where the next decision is due */
	CONTROL_RULE_SITES, /* at some sites, after a long time without one, and atomic ones */
	CONTROL_RULE_ALL,
};

struct control {
	struct plait_control *area;
	struct sched sched;
	struct control_thread *current;
	uint32_t nthreads, nalive, nsleepers;
	uint64_t points, writes, time;
	uint64_t quiet_until; /* from this step on any access is a point; quick.h */
	uint64_t clock_reads, clock_writes;
	uint32_t wait_order;
	bool all_points;
	bool fixed; /* decisions are being followed */
	uint8_t *decisions_next, *decisions_end;
	uint64_t decisions_last;
	uint64_t next_step;	/* fixed: when the next decision is due */
	bool hard_constraints;	/* some that must be kept: every access is a point */
	uint32_t atomic_holder; /* index + 1 of the thread inside an atomic block */
	enum control_rule rule;
	bool direct;   /* nobody but us wants to know of accesses */
	bool counting; /* there is a choice: others are alive, and no decisions are followed */
	/* a bit for each site, by number: this access is a point */
	const uint8_t *point_bits;
	uint32_t point_mask; /* over its bytes */
	bool vectors;	     /* access vectors are obeyed */
	/* quick.h: from this step on nothing is quick; 0 also before. The second is the same but
	 * for quiet_until. */
	uint64_t quick_until, quick_limit;
	bool simple;	  /* nothing but the strategy has a say, and nothing is logged */
	bool noting;	  /* accesses teach something */
	uint64_t signals; /* sent to the process: whoever is chosen first takes them */
	bool io_trust;	  /* io.c may say "not ready" from memory; io_trusted: it did */
	bool io_trusted;
	struct control_thread *timers; /* the thread that stands for the timers, if any */
};
extern struct control control;
/* A step has been executed: count it, and mix it into the run's hash. */
static inline void control_executed(struct control_thread *me, uint32_t kind, uint32_t site)
{
	struct plait_control *a = control.area;

	a->steps = ++rt_steps;
	/* the old value last: whatever is added to it is ready by then */
	a->hash = (a->hash ^ (me->task.id ^ (uint64_t)kind << 16 ^ (uint64_t)site << 24)) *
		  0x100000001b3ull;
	me->events++;
}
bool control_thread_ready(const struct control_thread *t);
void away_init(void); /* away.c: before the first run */
/* engine.c: `me` does not come back from code we do not see: somebody else goes on meanwhile. */
void control_away(struct control_thread *me);
void control_threads_init(void);		   /* sync-thread.c */
void control_thread_arm(struct control_thread *t); /* in the thread itself: watch for its end */
void mutex_owner_ended(struct control_thread *t);  /* sync-mutex.c: robust ones pass on */
/* signals.c: run the handler of a signal that another thread has sent; false: none is due. */
bool signals_deliver(struct control_thread *me);
static inline bool control_signal_due(const struct control_thread *t)
{
	return (t->signals | control.signals) & ~t->signal_mask;
}
/* A signal for one thread, or (t NULL) for the process; code and value are the handler's siginfo.
 * Returns an errno. */
int signals_send(struct control_thread *t, int number, int code, union sigval value);
bool signals_lethal(int number);		  /* would it end the process now? */
void signals_reset(void);			  /* a run begins */
struct control_thread *signals_thread(pid_t tid); /* by the number that gettid gives it */
/* timers.c: nothing but the end of the process would come of the timers that run. */
bool timers_patient(void);
bool timers_periodic(void); /* the next that expires begins again */
void timers_reset(void);
void timers_closed(int fd); /* a descriptor that may be a timerfd is about to be closed */
/* sync-thread.c: a thread of our own, which is there for as long as the process is. */
struct control_thread *control_thread_own(struct control_thread *me, void *(*start)(void *));
void keys_init(void);
void keys_thread_end(void); /* keys.c: the destructors of the calling thread */
/* Once everything about the run is known, and again when a decision has been followed. */
void control_quick_begin(void);
void control_begin(void); /* from here on the process is under control */
/* access.c: learning and pairs, for an operation that has just been executed. */
void access_note(struct control_thread *me, const void *p, size_t size, uint32_t site, bool reads,
		 bool writes);
/* io.c: nobody can run; wait for the outside world if somebody waits for it. */
bool io_wait(void);
void io_forked(void);
void io_done(void); /* something was done to a descriptor: look again who is ready */
/* The same for one thread; false when it does not wait for the outside. */
bool io_wait_for(const struct control_thread *t);
/* A cancellation request that can be acted upon. */
static inline bool control_cancel_due(const struct control_thread *t)
{
	return t->cancelled && !t->uncancellable && t->op.cancellable;
}

#endif
