/* sym/machine/machine.h - private to sym/: the machine that runs states.
 *
 * interp.c executes one thread of one state until something happens that the inner loop does not
 * decide; access.c is every memory access that is not trivial; threads.c and builtins.c are what
 * the program can call; explore/ and follow/ decide which state runs next and what a symbolic branch does. */
#ifndef SYM_MACHINE_MACHINE_H
#define SYM_MACHINE_MACHINE_H

#include "sym/value/solver.h"
#include "sym/machine/state.h"
#include "sym/sym.h"

struct val {
	uint64_t c;
	expr_id x; /* 0: c is the value */
};

/* What ended a stretch of execution. */
enum stop {
	STOP_NONE,
	STOP_SWITCH, /* the other loop (concrete/symbolic) has to go on */
	STOP_THREAD, /* this thread cannot or should not go on: let the scheduler choose */
	STOP_END,    /* the state is finished; machine->outcome says how */
	STOP_PARK,   /* the guide took the state back into its queue */
	STOP_BUDGET,
	STOP_POINT, /* exploring schedules: the next operation is a scheduling point */
};

#define CACHE_SIZE 256
struct cache_line {
	uint32_t key;	       /* high half of the address */
	uint32_t rsize, wsize; /* bytes that may be read, written without asking; 0 = ask */
	uint8_t *bytes;
};

/* Decides at symbolic branches and collects what happens. */
struct guide {
	bool follows; /* wants every decision, also those on known values */
	/* The condition may be either; return 1 = true, 0 = false side only. Called with the
	 * decision still open; a guide that explores forks here. */
	bool (*branch)(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc);
	/* An error is possible on this path under `model` but does not end the state. */
	void (*error)(struct machine *m, struct state *s, const struct sym_outcome *o,
		      struct model *model);
	/* A fork that execution itself needs (pointers into several objects): the guide owns it. */
	void (*forked)(struct machine *m, struct state *s);
	/* May be NULL: whether the state should go back into the queue at this block. */
	bool (*park)(struct machine *m, struct state *s);
	/* Following a plait; all of these or none. The operation at the current frame's pc has a
	 * site. read: *v is what memory holds and may be replaced. call: *done means that nothing
	 * is left to do (the result is stored, the pc moved on). */
	const struct site_hooks *sites;
	/* May be NULL: the operation at pc of the running thread's frame f calls a watched function. */
	void (*called)(struct machine *m, const struct frame *f, uint32_t pc);
	bool points; /* stop before each scheduling point: exploring schedules */
	void *data;
};

struct site_hooks {
	enum stop (*read)(struct machine *m, uint64_t address, unsigned w, struct val *v);
	void (*write)(struct machine *m, uint64_t address, unsigned w, struct val v);
	enum stop (*rmw_read)(struct machine *m, uint64_t address, unsigned w, struct val *v);
	void (*rmw_write)(struct machine *m, uint64_t address, unsigned w, struct val v);
	/* Before and after a copy or fill of n bytes; from is 0 for a fill. */
	enum stop (*copy)(struct machine *m, uint64_t to, uint64_t from, uint64_t n, bool after);
	/* The successor that a recorded switch took, 0 = default. */
	enum stop (*pick)(struct machine *m, const struct switch_table *t, expr_id v,
			  uint32_t *successor);
	enum stop (*call)(struct machine *m, struct frame *f, const struct op *o,
			  struct function *callee, bool *done);
	/* A call of the machine's own functions, with or without site. */
	enum stop (*builtin)(struct machine *m, enum builtin id, struct val *a, struct val *ret,
			     bool *done);
	/* A new heap object of that size. */
	uint64_t (*allocate)(struct machine *m, uint64_t size);
	/* A branch in a model on something unknown. */
	enum stop (*undecided)(struct machine *m);
};

struct machine {
	struct ir *ir;
	struct exprs exprs;
	struct solver *solver;
	struct guide *guide;
	const struct sym_config *config;
	struct state *s;       /* running */
	struct model *valued;  /* by which values were computed last; counted */
	uint32_t valued_round; /* of the expressions' evaluation, for that model */
	struct sym_outcome outcome;
	/* exploring schedules */
	bool stops;		   /* several threads are alive: there are scheduling points */
	bool pass;		   /* the next scheduling point is the one that was chosen: go on */
	bool clock_read;	   /* by the program: an input, and it moves with the schedule */
	uint32_t choice, nchoices; /* which of the waiters a signal wakes; how many there were */
	bool halted;		   /* the guide ended the state; the outcome says how */
	bool undecided;		   /* following a plait: a branch of a model on something unknown */
	/* following a full recording: by symbol, what it really was; NULL otherwise */
	const uint64_t *known;
	uint32_t nknown;
	struct sym_stats stats;
	struct cache_line cache[CACHE_SIZE];
	uint64_t op_limit; /* of the current state; UINT64_MAX = none */
	double deadline;
	uint32_t next_state;
	uint64_t rng;
	struct names notes; /* what the answer leaves out */
	struct strbuf scratch;
	VEC(struct sym_input) inputs; /* symbols in order of creation */
	uint32_t sym_args;	      /* symbolic arguments of the next state that starts */
	void (*output)(void *arg, int fd, const void *data, size_t len);
	void *output_arg;
};

void machine_init(struct machine *m, struct ir *ir, const struct sym_config *config);
void machine_deinit(struct machine *m);
/* Place globals and arguments, make thread 0 ready to run main. */
struct err *machine_start(struct machine *m, struct state **ret);
/* The longest time of one question to Z3, in milliseconds. */
static inline uint32_t machine_query_ms(const struct machine *m)
{
	return m->config->query_ms ? m->config->query_ms : SOLVER_QUERY_MS;
}
/* Why the work should stop now (time, Ctrl-C), or NULL. */
const char *machine_should_stop(const struct machine *m);
/* Run until the state ends, parks, or a budget runs out. */
enum stop machine_run(struct machine *m, struct state *s);
/* Run the current thread until something stops it. */
enum stop interp(struct machine *m);

/* End the current state with an outcome at the current operation; always STOP_END. */
enum stop machine_fault(struct machine *m, enum sym_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* An outcome record for the current position, message filled in. */
void machine_outcome(struct machine *m, struct sym_outcome *o, enum sym_kind kind, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));
void machine_note(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline struct thread *current_thread(struct machine *m)
{
	return &m->s->threads[m->s->current];
}
/* The site of the operation at the frame's pc, 0 = none or not following a plait. */
static inline uint32_t site_here(const struct frame *f)
{
	return f->f->sites ? f->f->sites[f->pc] : 0;
}
static inline struct val get_reg(const struct frame *f, int32_t r)
{
	return (struct val){ f->r[r], f->x ? f->x[r] : 0 };
}
static inline void set_reg(struct machine *m, struct frame *f, int32_t r, struct val v)
{
	if (v.x && expr_is_const(&m->exprs, v.x))
		v = (struct val){ expr_get(&m->exprs, v.x)->imm, 0 };
	if (v.x)
		frame_make_symbolic(f);
	if (f->x)
		f->x[r] = v.x;
	f->r[r] = v.c;
}
static inline expr_id val_expr(struct machine *m, struct val v, unsigned w)
{
	unsigned own;

	if (!v.x)
		return expr_const(&m->exprs, w, v.c);
	own = expr_get(&m->exprs, v.x)->w; /* registers hold narrow values zero-extended */
	return own == w	 ? v.x
	       : own < w ? expr_zext(&m->exprs, v.x, w)
			 : expr_extract(&m->exprs, v.x, 0, w);
}
static inline struct val expr_val(struct machine *m, expr_id x)
{
	if (expr_is_const(&m->exprs, x))
		return (struct val){ expr_get(&m->exprs, x)->imm, 0 };
	return (struct val){ 0, x };
}

/* The arguments, input and environment of the running state under a model (sym/explore/explore.c). */
void machine_inputs(struct machine *m, const struct model *model, struct sym_path *p);

/* --- branches and constraints (branch.c) --- */
/* Which way a condition goes here; forks through the guide when it may go both ways. */
bool machine_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc);
/* May cond be true on the current path? A model that says how in *ret (may be NULL). */
enum answer machine_may(struct machine *m, expr_id cond, struct model **ret);
/* Add cond to the path; it must be possible. model: satisfies it, or NULL = the state's own does.
 */
void machine_assume(struct machine *m, struct state *s, expr_id cond, struct model *model);
/* The value the state's model gives; makes it the only one from here on. */
uint64_t machine_concretise(struct machine *m, struct val v, unsigned w, const char *why);
/* One value for v, which becomes concrete; each other value is followed by a fork. STOP_SWITCH: run the
 * operation again. */
enum stop machine_decide(struct machine *m, struct val *v, unsigned w, const char *why);
uint64_t machine_value(struct machine *m, struct state *s, expr_id x);

/* --- memory (access.c) --- */
void cache_clear(struct machine *m);
/* n bytes at addr as a value of w bits. STOP_NONE and *ret, or the state has ended. */
enum stop mem_load(struct machine *m, struct val addr, unsigned w, struct val *ret);
enum stop mem_store(struct machine *m, struct val addr, unsigned w, struct val v);
enum stop mem_copy(struct machine *m, struct val to, struct val from, struct val len);
enum stop mem_fill(struct machine *m, struct val to, struct val byte, struct val len);
/* A string or buffer of the program as concrete bytes (symbolic ones take their model's value). */
enum stop mem_bytes(struct machine *m, uint64_t addr, uint64_t len, uint8_t *out);
enum stop mem_string(struct machine *m, uint64_t addr, char *out, size_t cap);
enum stop mem_write(struct machine *m, uint64_t addr, const void *data, uint64_t len);
uint64_t mem_new(struct machine *m, enum object_kind kind, uint64_t size);
void mem_release_to(struct machine *m, struct frame *f, uint32_t until);
/* The object and offset a concrete address means, for `len` bytes; faults otherwise. */
/* The object whose range the address lies in, also behind its end or freed; NULL: none. */
struct object *mem_find(const struct machine *m, uint64_t addr);
enum stop mem_resolve(struct machine *m, uint64_t addr, uint64_t len, bool write, struct object **o,
		      uint32_t *off);
enum stop mem_free_call(struct machine *m, struct val addr);

/* --- calls (builtins.c, threads.c) --- */
enum stop call_builtin(struct machine *m, struct frame *f, const struct op *o);
enum stop call_thread_builtin(struct machine *m, struct frame *f, const struct op *o,
			      struct val *args, uint32_t n, struct val *ret);
enum stop call_unknown(struct machine *m, struct frame *f, const struct op *o,
		       const struct function *callee);
/* Push a frame for f with these arguments onto the current thread. */
enum stop push_call(struct machine *m, struct function *callee, const struct val *args,
		    uint32_t nargs, int32_t ret, uint8_t nret);
/* Leave the frames that the exception at this address leaves (unwind.c); the current one last. */
enum stop unwind(struct machine *m, uint64_t exception);
enum stop thread_finish(struct machine *m, struct val result);
/* Choose who runs next; false when the state has ended (deadlock) with m->outcome set. */
bool schedule(struct machine *m);
/* Exploring schedules: fork a state for every other thread that could run now. */
void fork_schedules(struct machine *m, bool preemption);
enum stop thread_create(struct machine *m, const struct val *a, struct val *ret);
/* thread: its number, from 0; blocks until it is done. */
enum stop thread_join(struct machine *m, uint32_t thread, struct val out);
void thread_make_tls(struct machine *m, struct thread *t);

#define MAX_EXPLORED_THREADS 64
/* Exploring schedules: stop before the current thread's operation, unless it was chosen. */
enum stop machine_point(struct machine *m, uint8_t kind, uint32_t site);

/* --- symbolic operations (interp-slow.c): everything with an operand that is an expression --- */
enum stop slow_op(struct machine *m, struct frame *f, const struct op *o);

/* --- concrete helpers shared by both loops --- */
void wide_op(struct frame *f, const struct op *o, bool *div0);
void long_double_op(struct frame *f, const struct op *o);
uint64_t intrin_value(const struct op *o, uint64_t a, uint64_t b, uint64_t c);
bool overflow_value(const struct op *o, uint64_t a, uint64_t b, uint64_t *ret);
uint64_t fp_value(const struct op *o, uint64_t a, uint64_t b);
uint64_t fmath_value(const struct op *o, uint64_t a, uint64_t b, uint64_t c);

#endif
