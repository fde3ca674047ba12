/* unplait/control.h - the control area: how the tool steers a run, and what it gets back.
 *
 * One sparse shared file (a memfd whose path is in $UNPLAIT_CONTROL), mapped by the tool, by the
 * fork server in the target and by each run. The tool fills in the request, starts a run, and reads
 * the result after the run has ended. Regions behind the header lie at fixed offsets; pages cost
 * memory only when touched, so nothing here is ever cut short silently: a run that fills a
 * region stops with PLAIT_CONTROL_FULL.
 *
 * A step is one executed event: a memory access or a synchronisation operation of a controlled
 * thread, scheduling point or not. Decisions are keyed by steps, so a schedule means the same
 * whatever set of points produced it. */
#ifndef UNPLAIT_CONTROL_H
#define UNPLAIT_CONTROL_H

#include "unplait/abi.h"
#include "unplait/predicate.h"

#include <stdint.h>

#define PLAIT_CONTROL_MAGIC   "PLAITCTL"
#define PLAIT_CONTROL_VERSION 10

enum plait_strategy {
#define STRATEGY(id, name, summary) PLAIT_STRATEGY_##id,
#include "unplait/strategies.def"
#undef STRATEGY
	PLAIT_STRATEGY_COUNT
};

/* Which accesses are scheduling points (synchronisation always is). */
enum plait_points {
	PLAIT_POINTS_SYNC,    /* none */
	PLAIT_POINTS_LEARNED, /* sites in the points region */
	PLAIT_POINTS_ALL,
};

enum plait_control_flags {
	PLAIT_CONTROL_LEARN = 1,	/* add sites that touch truly shared memory to the points */
	PLAIT_CONTROL_PREFIX = 2,	/* when the decisions end, the strategy takes over */
	PLAIT_CONTROL_EAGER = 4,	/* sleeps and timeouts may end at any time */
	PLAIT_CONTROL_LOG = 16,		/* fill the choices region (for systematic search) */
	PLAIT_CONTROL_PAIRS = 32,	/* fill the pairs region */
	PLAIT_CONTROL_NO_POISON = 64,	/* leave freed memory as it is */
	PLAIT_CONTROL_EARLY = 128,	/* control begins before the constructors */
	PLAIT_CONTROL_SPURIOUS = 256,	/* waits for condition variables may end without a signal */
	PLAIT_CONTROL_AGAIN = 512,	/* the run may reuse a process */
	PLAIT_CONTROL_RACES = 1024,	/* look for data races, and fill the races region */
	PLAIT_CONTROL_HANDOVERS = 2048, /* synchronisation in the order of the log region */
	PLAIT_CONTROL_CUT = 4096, /* nobody knows how the run went on: it ends with its events */
	PLAIT_CONTROL_LATE =
		8192, /* HANDOVERS: what comes before an operation waits for its turn, too */
	PLAIT_CONTROL_TIMED = 32768,  /* HANDOVERS: by the times that the log has */
	PLAIT_CONTROL_PRINTS = 16384, /* note who printed what in the prints region */
};

/* When a wait with a deadline may give up, beyond the case that nobody else can go on. */
enum plait_timeouts {
	PLAIT_TIMEOUTS_LATE,  /* when its time has passed; short waits earlier, in some runs */
	PLAIT_TIMEOUTS_NEVER, /* only sleeps end */
	PLAIT_TIMEOUTS_ANY,   /* at any time */
};
#define PLAIT_TIMEOUTS_NAMES { "late", "never", "any" }

/* How threads hand the processor on (rt/control/gate.h). */
enum plait_gate { PLAIT_GATE_BEST, PLAIT_GATE_FUTEX, PLAIT_GATE_FIBER };

/* How a run ended, beyond what its exit status says. */
enum plait_control_end {
	PLAIT_END_RUNNING, /* nothing was noted: look at the exit status */
	PLAIT_END_EXIT,
	PLAIT_END_DEADLOCK,
	PLAIT_END_BUDGET,     /* step budget used up; a hang if `stopped` */
	PLAIT_END_DIVERGED,   /* the decisions do not fit this run */
	PLAIT_END_FULL,	      /* a region is full, or too many threads */
	PLAIT_END_MISUSE,     /* a destroyed or freed object was used */
	PLAIT_END_INFEASIBLE, /* the access vectors cannot be obeyed */
	PLAIT_END_BROKEN,     /* a rule of the control engine does not hold: our bug */
	PLAIT_END_LOG,	      /* everything in the log of mode sync was done, and nothing else is */
};

/* PLAIT_END_MISUSE: what was misused; `code` of the failure. */
enum plait_misuse {
	PLAIT_MISUSE_FREED = 1,	 /* memory that was freed was read or written */
	PLAIT_MISUSE_FREE_TWICE, /* ... was freed again */
	PLAIT_MISUSE_BEHIND,	 /* memory behind the end of a block was used */
	PLAIT_MISUSE_LOCK,	 /* a lock that was destroyed, or whose memory was freed */
	PLAIT_MISUSE_FREE_OTHER, /* free of what is no block of memory */
};

/* The signal that the tool sends a run which makes no step (rt/control/away.c). */
#define PLAIT_NUDGE 64

/* What could not be controlled in this run. */
enum plait_uncontrolled {
	PLAIT_UNCONTROLLED_EARLY_THREADS = 1, /* threads started before main */
	PLAIT_UNCONTROLLED_FOREIGN = 2,	      /* threads not made by pthread_create */
	PLAIT_UNCONTROLLED_FORK = 4,	      /* forked children run freely */
	PLAIT_UNCONTROLLED_IO = 8,	      /* waited for something outside the process */
	PLAIT_UNCONTROLLED_SIGNAL = 16,	      /* asynchronous signal handlers */
	PLAIT_UNCONTROLLED_SHARED = 32,	      /* process-shared synchronisation objects */
	PLAIT_UNCONTROLLED_CANCEL = 64,	      /* asynchronous cancellation */
	PLAIT_UNCONTROLLED_ROBUST = 256,      /* more robust mutexes held than can be passed on */
	PLAIT_UNCONTROLLED_CONSTRAINT = 128,  /* a constraint had to be dropped to go on */
	PLAIT_UNCONTROLLED_AWAY = 512,	      /* code we do not see kept the processor */
	PLAIT_UNCONTROLLED_CHILD_THREADS = 1024, /* a forked child has started threads */
	PLAIT_UNCONTROLLED_PARENT = 2048, /* a forked child is the run, its parent runs freely */
	PLAIT_UNCONTROLLED_PROC = 4096,	  /* opened a file of /proc that is another each time */
};

/* What the run did that an exploration of all schedules does not cover. */
enum plait_limit {
	PLAIT_LIMIT_TIMER = 1, /* a timer that begins again ran; it never strikes early */
	PLAIT_LIMIT_CLOCK = 2, /* looked at the clock */
	PLAIT_LIMIT_GUARD = 4, /* waited with a long timeout, which never ends early */
	PLAIT_LIMIT_SPIN = 8,  /* a loop that waits was passed over; what it counts may be unseen */
	PLAIT_LIMIT_COPY = 16, /* accessed more than a word at once, beside other threads */
	PLAIT_LIMIT_REUSE = 32, /* one thread freed memory that malloc may give to another */
	PLAIT_LIMIT_ALIAS = 64, /* mapped memory at a second address */
};

/* Which events a constraint speaks of; PLAIT_ANY where a field does not matter. */
#define PLAIT_ANY UINT32_MAX
struct plait_pattern {
	uint32_t thread;	      /* thread index */
	uint32_t site_low, site_high; /* inclusive; low = PLAIT_ANY: any site */
	uint32_t nth;		      /* the n-th match, from 1; PLAIT_ANY: each */
	uint64_t index;		      /* the thread's index-th event, from 1; 0: any */
	uint64_t address;	      /* 0: any */
};

enum plait_constraint_kind {
	PLAIT_CONSTRAINT_BEFORE, /* an event matching b waits until one matching a has run */
	/* from a to b, or the thread's end, no other thread runs, unless that thread cannot */
	PLAIT_CONSTRAINT_ATOMIC,
	PLAIT_CONSTRAINT_LATE, /* an event matching b waits as long as any other thread can run */
	/* wishes: given up without a note when nobody else can run */
	PLAIT_CONSTRAINT_READS, /* the b.nth read matching b should see a write matching a */
	PLAIT_CONSTRAINT_FIRST, /* writes matching a wait until the b.nth read matching b */
	/* no order at all: a signal matching a wakes everybody who waits */
	PLAIT_CONSTRAINT_BROADCAST,
	/* ... the call stack of the event matching a is noted in the stacks region */
	PLAIT_CONSTRAINT_STACK,
	/* both sides of a race at once: an access matching a waits until another thread is about to
	 * make one that matches b and conflicts with it; then a and b, nobody in between.
	 * b.nth: so many accesses matching b, less one, pass before. At most one in a request */
	PLAIT_CONSTRAINT_MEET,
	/* no order at all: an event matching a wakes whoever waits for a condition at b's place */
	PLAIT_CONSTRAINT_WAKE,
};
enum plait_constraint_flags {
	PLAIT_CONSTRAINT_SINGLE = 1,   /* ATOMIC: the block is the event a alone */
	PLAIT_CONSTRAINT_REVERSED = 2, /* MEET: b and then a */
	PLAIT_CONSTRAINT_BOTH = 4,     /* MEET: who comes to b first waits, too */
	PLAIT_CONSTRAINT_LAST = 16,    /* ATOMIC: ends behind the last b of a loop: its thread
				     * synchronises, or several events in a row do not match b */
	PLAIT_CONSTRAINT_FREE = 8,     /* STACK: of the release of the memory at a's address */
};
struct plait_constraint {
	uint32_t kind;
	uint32_t flags;
	struct plait_pattern a, b;
};
#define PLAIT_MAX_CONSTRAINTS 64
#define PLAIT_MAX_FOCUS	      32

/* What became of a BEFORE or a MEET. */
enum plait_fate {
	PLAIT_FATE_OPEN,      /* neither event has run; MEET: not both were reached */
	PLAIT_FATE_MET,	      /* the first has run, and the second not before it */
	PLAIT_FATE_OVERTAKEN, /* the second ran before the first */
	/* MEET: while a was held back nobody could come to b: they wait, or repeat themselves */
	PLAIT_FATE_IMPOSSIBLE,
	PLAIT_FATE_GIVEN_UP, /* MEET: nobody came to b for long, which proves nothing */
};

/* HANDOVERS: how one thread is treated where the decisions end. */
enum plait_aim_kind {
	PLAIT_AIM_NONE,
	PLAIT_AIM_HOLD, /* behind so many of its points at accesses it waits, once, until nobody else may go on */
	PLAIT_AIM_FIRST, /* it goes on whenever it may */
	PLAIT_AIM_MEET, /* the others' next write to what it looks at comes behind so many of its points at accesses */
};
struct plait_aim {
	uint32_t kind;
	uint32_t thread; /* index */
	uint32_t skip;
};

struct plait_control {
	char magic[8];
	uint32_t version, size;

	/* ---- request: written by the tool before a run ---- */
	uint32_t strategy; /* enum plait_strategy */
	uint32_t points;   /* enum plait_points */
	uint32_t flags;	   /* enum plait_control_flags */
	uint32_t depth;	   /* PCT: d; DFS: preemption bound */
	uint64_t seed;
	uint64_t length;       /* PCT: expected number of points */
	uint64_t point_budget; /* scheduling points, then the run ends */
	uint64_t event_budget; /* events, likewise */
	uint64_t replay_len;   /* bytes in the replay region */
	uint64_t prefix_steps; /* PREFIX: when they have ended, nothing changes up to this step */
	uint64_t vectors_len;  /* bytes in the vectors region; 0: none to obey */
	uint64_t turns_len;    /* entries in the turns region, for FOLLOW */
	uint64_t run_number;   /* counts up, for plait_pair.last_run */
	uint32_t nconstraints;
	uint32_t gate;	   /* enum plait_gate */
	uint32_t nfocus;   /* SURW: sites whose order matters; 0: those of all learned points */
	uint32_t nweights; /* SURW: threads in the weights region */
	uint32_t focus[PLAIT_MAX_FOCUS];
	uint32_t timeouts; /* enum plait_timeouts */
	uint32_t noise;	   /* TIMED: by how much times may be wrong, in ticks */
	struct plait_aim aim;
	struct plait_constraint constraints[PLAIT_MAX_CONSTRAINTS];
	char dir[512]; /* record the run's events into this folder; "": do not */

	/* ---- result: written by the run, valid however it ended ---- */
	uint32_t pid;
	uint32_t started;      /* 1: control began; 2: at the first constructor */
	uint32_t end;	       /* enum plait_control_end */
	uint32_t uncontrolled; /* enum plait_uncontrolled */
	uint32_t nthreads, max_alive;
	uint64_t steps, points_taken, switches, preemptions;
	uint64_t hash;		/* of (thread, kind, site) of every step */
	uint64_t decisions_len; /* bytes in the decisions region */
	uint64_t choices_len;	/* entries in the choices region */
	uint64_t diverged_step;
	uint32_t new_pairs;	  /* write-to-read pairs never seen before this run */
	uint32_t new_points;	  /* sites learned in this run */
	uint32_t reads_met;	  /* PLAIT_CONSTRAINT_READS constraints that came true */
	uint32_t vectors_dropped; /* soft access vectors that gave way */
	uint32_t gate_used;
	uint32_t current;  /* thread that runs */
	uint32_t nblocked; /* entries in the blocked region */
	uint32_t slots;	   /* threads that the fork server can have ready for the next run */
	uint8_t constraint_fate[PLAIT_MAX_CONSTRAINTS]; /* enum plait_fate */
	uint64_t meet_step;	 /* MEET: steps executed up to and with the first of the two */
	uint32_t meet_thread[2]; /* ... and by whom */
	uint64_t nudge_step; /* by the tool, during the run: with a nudge, the steps it has seen */
	uint32_t nudge_last; /* by the tool: this nudge is the last, say where everybody is */
	uint32_t stopped;    /* BUDGET: it was shown that nothing changes any more */
	uint32_t limits;     /* enum plait_limit */
	uint32_t owner;	     /* process that took the run over from its parent; 0: none */
	/* HANDOVERS, diverged: thread index + 1 (0: none), the sites of its last check mark that agreed and of its
	 * last operation (0: none), and the steps of the run up to that mark */
	uint32_t left_thread, left_from, left_to;
	uint32_t marks_met; /* check marks of the log that agreed */
	uint64_t left_step;
	uint64_t log_done;  /* operations of the log that were made */
	uint64_t log_clock; /* diverged: the recorded time to which all threads had come */
	char text[8192];    /* deadlock, hang, divergence: in words */
};

/* Regions, as offsets into the file. */
#define PLAIT_CONTROL_POINTS	  (64ull << 10) /* bitmap over site numbers modulo its size */
#define PLAIT_CONTROL_POINTS_SIZE (128ull << 10)
#define PLAIT_CONTROL_SYNC	  (192ull << 10) /* likewise: sites that synchronise */
#define PLAIT_CONTROL_SYNC_SIZE	  (64ull << 10)
#define PLAIT_CONTROL_PAIRS_AT	  (256ull << 10) /* struct plait_pairs, in order of appearance */
#define PLAIT_CONTROL_PAIRS_MAX	  (1ull << 15)
#define PLAIT_CONTROL_PAIRS_INDEX (1ull << 20) /* hash table of places + 1 in it: sched/pairs.h */
#define PLAIT_CONTROL_COUNTS	  (2ull << 20) /* struct plait_count, a hash table: sched/counts.h */
#define PLAIT_CONTROL_COUNTS_MAX  (1ull << 12)
#define PLAIT_CONTROL_PARENTS	  (3ull << 20) /* number of who made it + 1, by thread; 0: nobody */
#define PLAIT_CONTROL_WEIGHTS	  (3584ull << 10) /* uint32_t, by thread: sched_params.weights */
#define PLAIT_CONTROL_RUN	  (4ull << 20)	  /* struct plait_run, when there is no folder */
#define PLAIT_CONTROL_IDS	  (7ull << 20)	  /* struct plait_ids */
#define PLAIT_CONTROL_IDS_MAX	  4096
#define PLAIT_CONTROL_BLOCKED                                                                      \
	(8ull << 20) /* struct plait_blocked per waiting thread, at a deadlock */
#define PLAIT_CONTROL_BLOCKED_MAX    4096
#define PLAIT_CONTROL_STACKS	     (12ull << 20) /* struct plait_stack, by constraint */
#define PLAIT_CONTROL_RACES_AT	     (13ull << 20) /* struct plait_races */
#define PLAIT_CONTROL_RACES_MAX	     4096
#define PLAIT_CONTROL_PREDICATE_AT   (15ull << 20) /* struct plait_predicate, for all runs */
#define PLAIT_CONTROL_PRINTS_AT	     (14ull << 20) /* struct plait_prints */
#define PLAIT_CONTROL_PRINTS_MAX     (1ull << 15)
#define PLAIT_CONTROL_REPLAY	     (16ull << 20) /* decisions to follow */
#define PLAIT_CONTROL_REPLAY_SIZE    (1ull << 30)
#define PLAIT_CONTROL_DECISIONS	     (2ull << 30) /* decisions taken */
#define PLAIT_CONTROL_DECISIONS_SIZE (1ull << 30)
#define PLAIT_CONTROL_CHOICES	     (4ull << 30) /* struct plait_choice */
#define PLAIT_CONTROL_CHOICES_MAX    (1ull << 25)
/* struct plait_vectors_request (vectors.h) */
#define PLAIT_CONTROL_VECTORS	   (5632ull << 20)
#define PLAIT_CONTROL_VECTORS_SIZE (512ull << 20)
#define PLAIT_CONTROL_TURNS	   (6ull << 30) /* struct plait_turn */
#define PLAIT_CONTROL_TURNS_MAX	   (1ull << 24)
#define PLAIT_CONTROL_INPUTS	   (6656ull << 20) /* struct plait_inputs */
#define PLAIT_CONTROL_LOG_AT	   (6912ull << 20) /* struct plait_log_place */
#define PLAIT_CONTROL_SIZE	   (7ull << 30)

/* What the target reads from the outside by name. `given` is for the runs: pairs of a name, as the
 * target gives it, and of what is to be opened in its place, each with a NUL. `named` comes from them,
 * all runs of a session: names that were opened or asked about, in order of appearance, each with a
 * letter before it ('r' to be read, 'w' to be written) and the absolute path behind it; or with one of
 * the letters below, and what it was. */
#define PLAIT_INPUT_OUTSIDE 'o' /* somebody outside of the process has said something */
#define PLAIT_INPUT_UNHEARD 'u' /* ... in a way that is not written down */
#define PLAIT_INPUTS_GIVEN  (16u << 20)
#define PLAIT_INPUTS_NAMED  (1u << 20)
struct plait_inputs {
	uint32_t given_len, named_len;
	uint32_t lock; /* of named */
	uint32_t lost; /* names for which there was no room */
	char given[PLAIT_INPUTS_GIVEN];
	char named[PLAIT_INPUTS_NAMED];
};

/* The log of a run in mode sync (log.h), for all runs of a session: its file, "" = none. */
struct plait_log_place {
	char path[4096];
};

/* One turn of the order that FOLLOW keeps to: the thread executes events until it has executed
 * `upto` in all. A turn stands for events, not for places in the run: the thread whose pending
 * event belongs to the earliest turn goes on, so the order survives a schedule that differs here
 * and there. */
struct plait_turn {
	uint32_t thread; /* PLAIT_ANY: no turn, but the next alternative to choose is `upto` */
	uint32_t next;	 /* the next entry of this thread (or the next choice); PLAIT_ANY: none */
	uint64_t upto;
};

/* A write site whose value a read site has seen, or could see: both have touched the same address.
 * Survives from run to run. Locks count as both: what they see is the last
 * operation on the lock. */
struct plait_pair {
	uint32_t write_site, read_site; /* write_site 0: the initial value */
	uint32_t count;			/* runs in which it was seen; 0: possible, not seen yet */
	uint32_t last_run;		/* run_number, modulo 2^32 */
};
struct plait_pairs {
	uint32_t n, bits; /* of the index; 0: nothing there yet */
	struct plait_pair pair[PLAIT_CONTROL_PAIRS_MAX];
};

/* Bytes of standard output and of standard error when the processor passed from this thread to another.
 * Only where there was something new. */
struct plait_print {
	uint32_t thread, reserved;
	uint64_t out, errors;
};
struct plait_prints {
	uint32_t n, lost; /* lost: notes for which there was no room */
	struct plait_print print[PLAIT_CONTROL_PRINTS_MAX];
};

/* The processes of a run: the number that the target sees, and the kernel's. */
struct plait_id {
	uint32_t id, real;
};
struct plait_ids {
	uint32_t n, reserved; /* n may be larger than the table: then some are missing */
	struct plait_id id[PLAIT_CONTROL_IDS_MAX];
};

/* How many points a thread had at a site, in the last run in which it had any. */
struct plait_count {
	uint32_t thread, site; /* thread: number + 1; 0: the entry is free */
	uint32_t run, count;
};

/* A thread that waits when the run ends in a deadlock (or uses up its budget). */
struct plait_blocked {
	uint32_t thread, holder; /* holder: thread index, PLAIT_ANY when nobody holds it */
	uint32_t kind;		 /* enum plait_event_kind of the pending operation */
	uint32_t site;
	uint64_t object;
	char what[40]; /* "to lock a mutex" */
	uint32_t nframes, reserved;
	uint64_t frames[PLAIT_MAX_FRAMES];
};

enum plait_choice_flags {
	PLAIT_CHOICE_CHOSEN = 1,
	PLAIT_CHOICE_RUNNING = 2,     /* it ran until now: choosing another preempts it */
	PLAIT_CHOICE_WRITES = 4,      /* its operation changes the object */
	PLAIT_CHOICE_ALTERNATIVE = 8, /* no thread, but an alternative (which waiter wakes) */
	PLAIT_CHOICE_EXECUTED = 16,   /* executed without a choice */
	PLAIT_CHOICE_ANYTHING =
		32, /* a signal, or where one may be handled: it conflicts with everything */
};
/* Where an event happened: what PLAIT_CONSTRAINT_STACK asked for. */
struct plait_stack {
	uint64_t step;	  /* the event's clock; 0: it did not happen */
	uint32_t nframes; /* innermost first; the first few may be the runtime's */
	uint32_t reserved;
	uint64_t frames[PLAIT_MAX_FRAMES]; /* return addresses */
};

/* Two accesses of this run that race: doc/design/races.md. Each unordered pair of sites once. */
enum plait_race_flags {
	PLAIT_RACE_WRITES = 1, /* of the first; those of the second are 4 bits further up */
	PLAIT_RACE_ATOMIC = 2,
	PLAIT_RACE_FREES = 4, /* the block was freed */
	PLAIT_RACE_SECOND_SHIFT = 4,
};
struct plait_race {
	uint32_t first_site, second_site; /* in the order of this run */
	uint32_t first_thread, second_thread;
	uint64_t first_step, second_step; /* the events' clocks */
	uint64_t address;		  /* the first byte that both touch */
	uint32_t flags, count;		  /* count: how often, in either order */
};
struct plait_races {
	uint32_t n;
	uint32_t looked;  /* 1: this run looked for races; 2: it stopped doing so before its end */
	uint64_t dropped; /* races without room here */
	uint64_t lost;	  /* accesses that were not remembered: more races may be there */
	struct plait_race race[PLAIT_CONTROL_RACES_MAX];
};

/* One candidate at one choice: entries of the same step stand together, the chosen one first. */
struct plait_choice {
	uint64_t step;
	uint64_t object;
	uint64_t mutex; /* that a wait for a condition releases or takes back; 0: none */
	uint32_t thread, site;
	uint32_t kind;	/* enum plait_event_kind of the pending operation */
	uint32_t flags; /* enum plait_choice_flags */
	uint32_t size;	/* bytes of the object that are accessed; 0: all that it is */
	uint32_t reserved;
};

#endif
