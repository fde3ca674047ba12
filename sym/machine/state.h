/* sym/machine/state.h - one execution so far: threads with their frames, memory, path condition.
 *
 * Forking is constant time: frames, memory, constraints and models are counted and
 * shared; the state that runs next copies what it changes. Only the frame that is
 * being executed has to belong to its state alone (frame_own). Mutexes and their relatives live in
 * the program's own memory (sched/sync.h), so they fork with it. */
#ifndef SYM_MACHINE_STATE_H
#define SYM_MACHINE_STATE_H

#include "sym/ir/ir.h"
#include "sym/machine/memory.h"
#include "sym/value/path.h"

struct frame {
	uint32_t refs;
	uint32_t pc;
	struct function *f;
	struct frame *caller;
	int32_t ret;	  /* the caller's first result register */
	uint8_t nret;	  /* how many it expects */
	uint32_t allocas; /* newest stack object, 0 = none */
	uint32_t depth;
	uint32_t forks;	   /* symbolic branches met in this call, for the order of exploration */
	expr_id *x;	   /* NULL while every register is concrete; else x[r], 0 = concrete */
	expr_id *x_memory; /* x without the offset for constants */
	uint64_t *r;	   /* registers; r[-nconst] is the first constant */
	uint64_t memory[];
};

/* What a blocked thread waits for. */
enum wait_kind { WAIT_JOIN, WAIT_MUTEX, WAIT_COND, WAIT_SEM, WAIT_BARRIER, WAIT_RWLOCK, WAIT_ONCE };

enum thread_status { TH_RUNNABLE, TH_BLOCKED, TH_SLEEPING, TH_DONE };

struct thread {
	struct frame *top;
	uint8_t status;
	uint8_t wait_kind; /* enum wait_kind */
	bool timed, detached, joined, signalled, timed_out;
	uint8_t phase;	/* how far a call in several steps (cond_wait, barrier, sleep) has come */
	uint32_t saved; /* barrier round, thread joined, depth of a recursive mutex */
	uint64_t wait_address;
	uint64_t wake_time;
	uint32_t tls_first;	/* object id of its first thread-local, 0 = none */
	uint32_t parent, birth; /* thread number, n-th child */
	uint32_t children;
	uint64_t result;
	expr_id result_x;
	uint64_t exception; /* on its way to the landing pad that is about to run */
	uint32_t handler;   /* the number of the type by which it is caught there; 0 = it is not */
	uint64_t steps;	    /* recorded branches so far: the position in its path */
	/* exploring schedules */
	bool fresh;	      /* has not come to its first scheduling point yet */
	uint8_t point;	      /* enum plait_event_kind of the operation it is about to do */
	uint32_t point_site;  /* of an access */
	uint32_t heap, stack; /* objects made so far; of the stack: that are there */
	uint64_t hash[2];     /* of its frames; both 0 = not known */
};

struct state {
	uint32_t id, parent;
	struct memory memory;
	struct thread *threads;
	uint32_t nthreads, current;
	struct constraint *path;
	struct model *model; /* NULL: every symbol is 0 */
	uint64_t clock;
	uint64_t ops;
	uint32_t forks;	      /* branches on the path at which the other side was possible too */
	uint32_t preemptions; /* switches that no thread asked for, of explored schedules */
	uint32_t passed;      /* search: events of the goal that lie behind it */
	uint32_t symbols;     /* symbolic bytes made so far, for naming */
	uint32_t sym_args;    /* symbolic arguments that it was started with */
	uint32_t inputs[2];   /* its symbols among the machine's inputs: from, to */
	bool bounded;	      /* something was given up on this path; the notes say what */
	uint64_t last_new;    /* ops when it last covered something new */
	expr_id undecided;    /* explore: must hold for it to be a state at all; 0 = it is one */
	struct state *next;   /* in the guide's queue */
};

struct state *state_new(void);
struct state *state_fork(struct state *s, uint32_t id);
void state_free(struct state *s);

struct frame *frame_new(struct function *f);
void frame_unref(struct frame *f);
/* The frame itself if only `holder` has it, else a copy, stored there. */
struct frame *frame_own(struct frame **holder);
void frame_make_symbolic(struct frame *f);

/* "0.1.2" */
void thread_name(const struct state *s, uint32_t thread, char *buf, size_t len);

#endif
