/* rt/control/engine.h - private to rt/control/ (and, through quick.h, to the access hooks): the state of
 * the engine, and what its files call of each other. */
#ifndef RT_CONTROL_ENGINE_H
#define RT_CONTROL_ENGINE_H

#include "rt/control/control.h"

/* Which accesses are points. */
enum control_rule {
	CONTROL_RULE_NONE,
	CONTROL_RULE_STEPS, /* where the next decision is due */
	CONTROL_RULE_SITES, /* at some sites, after a long time without one, and atomic ones */
	CONTROL_RULE_ALL,
};

enum { CONTROL_EVENT_NS = 1000 }; /* virtual time per event */

struct control {
	struct plait_control *area;
	const struct control_world *world;
	struct sched sched;
	struct control_thread *current;
	uint32_t nthreads, nalive;
	uint64_t points, writes, time; /* time: beside what events take (control_now) */
	uint64_t clock_looks;	       /* how often somebody has looked at the clock */
	uint64_t skipped;	       /* of the time: by waits that ended early */
	uint64_t quiet_until;	       /* from this step on any access is a point; quick.h */
	bool all_points;
	bool fixed;		/* decisions are being followed */
	uint64_t next_step;	/* fixed: when the next decision is due */
	bool hard_constraints;	/* some that must be kept: every access is a point */
	uint32_t atomic_holder; /* index + 1 of the thread inside an atomic block */
	enum control_rule rule;
	bool direct;   /* nobody but us wants to know of accesses */
	bool counting; /* there is a choice: others are alive, and no decisions are followed */
	/* a bit for each site, by number: this access is a point */
	const uint8_t *point_bits;
	uint32_t point_mask;  /* over its bytes */
	bool vectors;	      /* access vectors are obeyed */
	bool handovers;	      /* the log of mode sync is obeyed */
	bool racing;	      /* the next access counts in it, and is not quick */
	uint64_t quick_again; /* then quick_until is this */
	bool logged_signals;  /* it has signals, whose handlers run in every run of it */
	/* quick.h: from this step on nothing is quick; 0 also before. The second is the same but
	 * for quiet_until. */
	uint64_t quick_until, quick_limit;
	bool simple;   /* nothing but the strategy has a say, and nothing is logged */
	bool noting;   /* accesses teach something ... */
	bool learning; /* ... about what is shared */
	bool focusing; /* the strategy asks which operations are of the focus */
	bool trust;    /* control_trusts() may say yes; trusted: it did */
	bool trusted;
	int waits_outside; /* threads that do: control_waits_outside() */
};
extern struct control control;

/* A broken rule of the engine ends the run and says so in the area, because nothing after it can be
 * believed. It never ends the program of a user who is not under control: the engine runs only
 * there. */
#define CONTROL_ASSERT(holds)                                                                      \
	do {                                                                                       \
		if (unlikely(!(holds)))                                                            \
			control_broken(#holds, __FILE__, __LINE__);                                \
	} while (0)

static inline bool control_logs(void)
{
	return control.area->flags & PLAIT_CONTROL_LOG;
}

/* ---- choice.c ---- */

void control_begin(void); /* from here on the process is under control */
bool control_wait_over(const struct control_thread *t);
bool control_thread_ready(const struct control_thread *t);
/* Is there nobody who could go on, now or later? */
bool control_all_stuck(void);
/* Who goes on; `me` is NULL when the running thread has ended. */
struct control_thread *control_pick(struct control_thread *me);
/* Publish an operation and let the chosen thread go on; it is not a step yet. */
void control_choice_before(struct control_thread *me, const struct control_op *op);
/* The operation that me has published has been executed: everybody who keeps count is told. */
void control_op_executed(struct control_thread *me);
/* A memory access, which is in me->op and me->task.op already and waits for nothing. Returns me. */
struct control_thread *control_access_point(struct control_thread *me);
/* `me` does not come back from code we do not see: somebody else goes on meanwhile. */
void control_away(struct control_thread *me, bool known); /* known: it said so */
/* What was found out about candidates does not hold any more. */
void control_forget_candidates(void);

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

/* ---- follow.c ---- */

/* Real ns since this process was left behind by a child that took over; 0: it was not. */
uint64_t follow_free_time(void);

/* ---- decisions.c ---- */

void decisions_begin(void);
void decisions_record(uint32_t kind, uint32_t value);
/* The thread that the decisions name here, NULL when a timeout changed the picture: ask again.
 * *named: whom a decision named, even if only its wait has timed out by that; NULL: nobody. */
struct control_thread *decisions_follow(struct control_thread *me, bool away,
					struct control_thread **named);
/* All decisions of the schedule have been followed: from here on the strategy decides. */
bool decisions_prefix_over(const struct control_thread *me);
/* The decisions name somebody to go on while the running thread is away. */
bool decisions_away_due(void);
/* The next decision is an alternative, due now. */
bool decisions_choice_due(void);
/* For a systematic search: an operation that was executed without a choice; a choice. */
void decisions_log_step(const struct control_thread *me);
/* A free that is no step: it depends on every access to the block all the same. */
void decisions_log_free(const struct control_thread *me, const void *p, size_t size);
void decisions_log_choice(struct control_thread *me, struct control_thread *chosen,
			  struct sched_task *const *tasks, size_t n);

/* ---- threads.c ---- */

/* After fork, in the child: only the running thread is there. */
void threads_forget_others(void);
extern struct control_thread *control_alive[PLAIT_MAX_THREADS]; /* in order of birth */
extern struct sched_task *control_tasks[PLAIT_MAX_THREADS];	/* the same, for the strategy */
void threads_begin(void);
/* The processor has come (back) to a thread: clear away the one that left it. */
void threads_arrived(void);

/* ---- time.c ---- */

void time_begin(void);
bool time_has_deadline(const struct control_thread *t);
/* It has a deadline, but only a watchdog that is not due. */
bool time_is_patient(const struct control_thread *t);
/* In this run, its wait may end now. */
bool time_may_expire(const struct control_thread *t);
/* Its wait has timed out. early: others could have gone on. */
void time_expire(struct control_thread *t, bool early);
/* A thread has published an operation that may have a deadline. */
void time_published(struct control_thread *t);
/* Somebody waits for a child process, and it has ended before t timed out. */
bool time_waits_for_children(const struct control_thread *t);
/* Threads that only yield or poll go on before the wait of t gives up. */
bool time_is_guarded(const struct control_thread *t);

/* ---- access.c, learn.c ---- */

/* Work out which accesses are points, and which are quick. Whenever something changes that this
 * depends on. */
void control_quick_begin(void);
/* Learning and pairs, for an access or for the published operation that has just been executed. */
void learn_access(struct control_thread *me, const void *p, size_t size, uint32_t site, bool reads,
		  bool writes);
/* The same for an access that has been noted before: only whose value is seen can be new. */
void learn_value(const void *p, size_t size, uint32_t site, bool reads, bool writes);
void learn_op(struct control_thread *me);
/* A thread has just been entered among those alive; parent: NULL for the first. */
void learn_born(struct control_thread *t, const struct control_thread *parent);
/* A block is about to be freed; site 0: by code that we do not see. */
void learn_free(struct control_thread *me, const void *p, size_t size, uint32_t site);
/* me is at a point that may be a choice. */
void learn_point(struct control_thread *me);
/* The order of what this site does matters in this run. */
bool learn_is_focus(uint32_t site);
/* Learning, and races: the access of me that was a point has its turn. */
void control_note_point(struct control_thread *me);
/* Somebody tries a lock that this site gives back. */
bool learn_release_is_point(uint32_t site);

/* ---- budget.c ---- */

void budget_begin(void);
/* At each choice: end the run when it has had its scheduling points. */
void budget_point(void);
/* Before an event, when there may be none left; p: what it accesses, or NULL. */
void budget_event(struct control_thread *me, uint32_t site, const void *p);

/* ---- spin.c ---- */

/* The thread has repeated itself at this site, as far as a read and its value tell. */
void spin_found(struct control_thread *me, uint32_t site);
/* It is where it was the last time at this site, in every detail, and nobody has written since. */
bool spin_repeats(struct control_thread *me, uint32_t site);
/* A number for the thread's registers and stack. */
uint64_t spin_state(const struct control_thread *me);

/* ---- who waits at the condition variable that me signals, or at the futex that it wakes ---- */

static inline bool waits_for_signal_of(const struct control_thread *t,
				       const struct control_thread *me)
{
	uint32_t kind = me->op.kind == PLAIT_EV_FUTEX_WAKE ? PLAIT_EV_FUTEX_WAIT : PLAIT_EV_WOKEN;

	return t->rt && !t->ended && t->op.kind == kind && t->op.wait &&
	       t->op.object == me->op.object && !t->released && !t->timed_out;
}

/* ---- sanitizer.c ---- */

void sanitizer_init(void); /* before the first run */

/* An access that was checked before somebody else ran. Reports it when its memory was freed since. */
void sanitizer_look_again(const struct control_op *op);

/* ---- away.c ---- */

void away_init(void); /* before the first run */

/* ---- report.c: ends of a run ---- */

_Noreturn void control_hang(const char *why);
_Noreturn void control_full(const char *what);
_Noreturn void control_infeasible(void);
_Noreturn void control_log_ended(void);
_Noreturn void control_broken(const char *rule, const char *file, int line);

#endif
