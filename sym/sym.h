/* sym/sym.h - the symbolic machine: run a program's bitcode with known or unknown values.
 *
 *	struct sym_program *p;
 *	err = sym_open("prog.c", &p);            source, bitcode, or a binary from `unplait cc`
 *	err = sym_run(p, &config, &result);      concretely, like the native program
 *	err = sym_explore(p, &config, &result);  every path of symbolic arguments, input, environment
 *
 * What the machine cannot do it says: an outcome of kind SYM_UNSUPPORTED names the operation and
 * the source line, and notes list what an answer leaves out. */
#ifndef SYM_SYM_H
#define SYM_SYM_H

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct machine;
struct sym_end;
struct sym_program;

enum sym_kind {
	SYM_EXIT,   /* the program ended by itself */
	SYM_ASSERT, /* an assertion failed */
	SYM_ABORT,
	SYM_NULL,   /* null dereference */
	SYM_BOUNDS, /* outside its object */
	SYM_USE_AFTER_FREE,
	SYM_DOUBLE_FREE,
	SYM_BAD_FREE,
	SYM_BAD_POINTER, /* points nowhere */
	SYM_READONLY,	 /* write to a constant */
	SYM_DIV_ZERO,
	SYM_STACK, /* recursion too deep */
	SYM_DEADLOCK,
	SYM_LIVELOCK,	 /* threads run, but the program can no longer end */
	SYM_UNREACHABLE, /* code that the compiler was promised never runs */
	SYM_UNSUPPORTED,
	SYM_BUDGET,   /* operations, depth or time used up */
	SYM_DIVERGED, /* a recording that this program cannot have made */
	SYM_RECORDING_END,
	SYM_KINDS
};
const char *sym_kind_name(enum sym_kind kind);
/* Is this a defect of the program (rather than its end, or ours)? */
bool sym_kind_is_error(enum sym_kind kind);

/* How one path ended. Strings are owned by the result they are in. */
struct sym_outcome {
	enum sym_kind kind;
	int code; /* exit status */
	char message[256];
	char where[160]; /* file:line of the innermost frame of the program's own code */
	char function[64];
	char thread[32];
	uint32_t function_index, pc;
	char stack[512]; /* "f (x.c:3) < main (x.c:9)" */
};

/* A byte or value of unknown origin that a solution assigns. */
struct sym_input {
	uint32_t symbol;
	uint8_t source; /* enum sym_source */
	uint32_t index; /* which argument, file ... */
	uint32_t offset;
};
enum sym_source {
	SYM_FROM_ARG,
	SYM_FROM_STDIN,
	SYM_FROM_ENV,
	SYM_FROM_FILE,
	SYM_FROM_CALL,
	SYM_FROM_PROGRAM
};

/* One explored path with the input that takes it. */
struct sym_path {
	struct sym_outcome outcome;
	uint32_t id, parent;
	uint64_t ops;
	uint32_t nargs;
	char **args; /* solved; argv[0] first */
	size_t *arg_lens;
	uint8_t *input; /* standard input */
	size_t input_len;
	uint32_t nenv;
	char **env; /* NAME=value */
	uint32_t constraints;
	bool lacks; /* at its end global memory does not hold what the goal needs */
	/* what a native run with this input did */
	int confirmed; /* 0 not tried, 1 same outcome, -1 other outcome */
	char native[64];
};

struct sym_stats {
	uint64_t ops, forks, states, max_states, paths;
	uint64_t branches;	 /* symbolic branches met */
	uint64_t branch_queries; /* that the state's own model could not decide alone */
	uint64_t queries;	 /* all questions to the solver chain */
	uint64_t by_model, by_cache, by_core, by_enum, by_local, by_z3; /* who answered */
	uint64_t unknown;
	uint64_t exprs, symbols;
	double seconds, solver_seconds, z3_seconds, load_seconds;
	uint64_t blocks_covered, blocks_total;
};

struct sym_config {
	const char *const *args; /* argv[0] included */
	uint32_t nargs;
	const char *const *env; /* NULL-terminated; NULL = empty */
	const void *input;	/* standard input */
	size_t input_len;
	uint64_t max_ops;	  /* per state; 0 = no limit */
	double max_seconds;	  /* in all; 0 = no limit */
	int (*interrupted)(void); /* asked now and then: not 0 means stop; may be NULL */
	uint64_t seed;		  /* of the schedule; 0 = switch only where a thread must wait */
	bool host_files;	  /* may read files of this machine */
	bool sym_given; /* the given arguments (but the first) and input are symbolic, of their
			   length */
	/* exploration */
	uint32_t sym_args,
		sym_arg_len; /* that many more arguments of up to that many bytes; sym_search:
					 * up to that many */
	uint32_t sym_stdin;  /* bytes of symbolic input */
	const char *const *sym_env; /* names, NULL-terminated */
	uint32_t sym_env_len;
	uint32_t preemptions; /* explore: schedules with up to that many switches that no thread
			       * asked for, at synchronisation calls; 0 = one schedule. schedules: the same,
			       * at every point; 0 = any number */
	const char *within; /* schedules, with preemptions: only while the thread that is left is in
			       * this function, or in one that it called (its own name); NULL = anywhere */
	uint32_t steps_after; /* schedules, with preemptions: behind the last one; 0 = to the end */
	bool behind_calls;    /* schedules, with preemptions: only behind synchronisation calls */
	uint64_t max_states, max_paths, max_errors; /* 0 = no limit */
	uint64_t max_work; /* schedules: a measure of time that is the same everywhere, roughly
			    * nanoseconds; 0 = no limit */
	uint32_t query_ms;
	const char *order;     /* "depth", "breadth" or "cover" */
	const char *query_log; /* file that receives every query in SMT-LIB, or NULL */
	bool all_errors;       /* report every path to an error, not one per place */
	bool exit_is_error;    /* schedules: an exit status other than 0 is an error, too */
	bool whole_ends;       /* schedules: two deadlocks differ if the stack of any thread does */
	bool keep_paths;       /* also report paths that end well, with their inputs */
	/* schedules: told of each end when it is met first; true = look no further. What it takes is not counted
	 * as time of the search. May be NULL */
	bool (*ended)(void *arg, const struct sym_end *end);
	void *ended_arg;
};

struct sym_result {
	struct sym_outcome outcome; /* of sym_run */
	struct strbuf out, err_out; /* what the program wrote */
	VEC(struct sym_path) paths; /* of sym_explore: errors first found first */
	struct names notes;
	struct sym_stats stats;
	bool complete; /* every path was followed to its end */
};
void sym_result_deinit(struct sym_result *r);

/* Source (.c, .cc, .cpp), bitcode, or an ELF file with a .plait.bc section. */
struct err *sym_open(const char *path, const char *const *cflags, struct sym_program **ret);
/* The same of what the front end made of the sources, before any optimiser; *ret is NULL if the file does not have it
 * (`unplait cc --unplait-source-bitcode`). It has no sites. */
struct err *sym_open_source(const char *path, struct sym_program **ret);
void sym_close(struct sym_program *p);

/* sink, when not NULL, receives the program's output as it is written (fd 1 and 2). */
typedef void sym_sink(void *arg, int fd, const void *data, size_t len);
struct err *sym_run(struct sym_program *p, const struct sym_config *config, sym_sink *sink,
		    void *arg, struct sym_result *ret);
struct err *sym_explore(struct sym_program *p, const struct sym_config *config,
			struct sym_result *ret);
/* A place of the source that a search is to come to. */
struct sym_point {
	const char *function; /* its own name (base/demangle.h) */
	unsigned line;	      /* 0 = any of the function */
};

/* An operation of the bitcode. */
struct sym_place {
	uint32_t function, pc;
};

/* Something that happened on the way to the goal: one of these calls was made. */
struct sym_event {
	const struct sym_place *places;
	size_t n;
};

/* A part of a global variable was stored to: it holds this value, or anything but it. */
struct sym_stored {
	const char *global; /* as the source calls it */
	uint64_t size;	    /* of the variable */
	uint64_t offset;
	uint64_t value;
	uint8_t bytes; /* 1, 2, 4 or 8 */
	bool differs;
};

/* The stack to reach: function and line from main, or from a thread's first function, inwards. */
struct sym_goal {
	const struct sym_point *points;
	uint32_t n;
	bool near_null;		     /* its last operation used an address of the first page */
	const struct sym_goal *next; /* the stack of another thread; NULL */
	/* of the first stack: what happened before, in this order, with anything in between */
	const struct sym_event *events;
	uint32_t nevents;
	/* of the first stack: what memory held; those before others count more */
	const struct sym_stored *stored;
	uint32_t nstored;
};

/* What the program's text says about the ways to a goal: distances and intermediate goals. Computed once,
 * used by any number of searches; borrows the program and the goal. for_guide: with intermediate goals, which
 * "depth" and "random-path" do without. */
struct sym_aim;
struct sym_aim *sym_aim_new(struct sym_program *p, const struct sym_goal *goal, bool for_guide);
void sym_aim_free(struct sym_aim *a);
/* How many of the goal's stored variables the search looks for. */
uint32_t sym_aim_stored(const struct sym_aim *a);

/* A path that ends in an error, or well after several threads ran. at: with the goal's stack. Return true to end
 * the search. */
typedef bool sym_found_fn(void *arg, const struct sym_path *path, bool at);
/* Search for a path to the goal, nearest states first, within the configuration's sizes and limits.
 * config->order: "goal" (or NULL); "depth" and "random-path" do without the goal's distances, to
 * compare with. ret->complete: every path within the sizes was followed to its end, or can no longer
 * come to the goal. */
struct err *sym_search(struct sym_program *p, const struct sym_config *config,
		       const struct sym_aim *aim, sym_found_fn *found, void *arg,
		       struct sym_result *ret);
/* From now on no way to a goal calls one of these library functions; NULL: any may be called. Aims that are made later
 * know it. Returns how many of them the program calls. */
uint32_t sym_never_called(struct sym_program *p, const struct names *names);
/* Has an optimiser changed the bitcode, so that it has other branches and lines than the source? */
bool sym_is_optimised(const struct sym_program *p);
/* Does the source of the program have a function of this (demangled) name? Inlined ones count. */
bool sym_has_function(struct sym_program *p, const char *name);
/* Every call of the program with a constant text among its arguments. The text is the program's. */
struct sym_call_text {
	struct sym_place at;
	const char *callee, *text;
	const char *function; /* where it is: its own name */
	unsigned line;
};
typedef void sym_call_text_fn(void *arg, const struct sym_call_text *call);
void sym_call_texts(struct sym_program *p, sym_call_text_fn *fn, void *arg);
/* What of the program's functions can be recognised in another build of it: calls and constant texts, in the order of
 * the operations. Names are the program's; functions have the numbers of struct sym_place. */
struct sym_mark {
	enum sym_mark_kind {
		SYM_MARK_IMPORT,  /* text: a library function that is called */
		SYM_MARK_CALL,	  /* callee: a function of the program */
		SYM_MARK_POINTER, /* a call through a pointer */
		SYM_MARK_TEXT	  /* text: a constant */
	} kind;
	uint32_t pc, callee;
	const char *text;
	bool null; /* one of the arguments may be a null pointer (a guess) */
};
struct sym_sketch {
	const char *name; /* its own name; NULL = of no interest: a model, or without code */
	bool follows;	  /* it loads or stores through pointers */
	VEC(struct sym_mark) marks;
	VEC(uint32_t) nulls; /* operations that may use a null pointer (a guess) */
};
struct sym_sketches VEC_FIELDS(struct sym_sketch); /* by number of the function */
void sym_sketches_init(struct sym_sketches *s, struct sym_program *p);
void sym_sketches_deinit(struct sym_sketches *s);
/* The frames that an operation stands for, the outermost first; at most `most`, returns how many. */
uint32_t sym_points_at(struct sym_program *p, struct sym_place at, struct sym_point *ret,
		       uint32_t most);
/* The names of the environment variables that the program asks for, as far as they are constants. */
void sym_env_names(struct sym_program *p, struct names *ret);

/* Run the native program with each path's input and compare outcomes. */
struct err *sym_confirm(struct sym_program *p, const struct sym_config *config,
			struct sym_result *r);

/* --- every schedule --- */

/* One scheduling decision: this thread does its next operation. */
struct sym_turn {
	uint32_t thread; /* by birth */
	uint32_t site;	 /* of an access, in the binary's table; 0: a call */
	uint8_t kind;	 /* enum plait_event_kind of a call */
	bool timed_out;	 /* its wait ended without what it waited for */
	bool gives_up;	 /* nothing but that: another thread has the mutex it needs next */
	uint32_t choice, nchoices; /* a signal: which waiter wakes, by thread; of how many */
};

/* A way in which the program can end, and a schedule to it. */
struct sym_end {
	struct sym_outcome outcome;
	VEC(struct sym_turn)
	turns; /* from the second thread's birth on; without what one thread
		* alone does */
	uint64_t times;
	uint64_t key; /* what tells it from other ends, also from those of another walk */
};

struct sym_schedules {
	VEC(struct sym_end) ends; /* one per outcome and place; first found first */
	uint64_t states, steps;	  /* different states; operations tried in one */
	uint32_t depth;		  /* of the longest schedule */
	bool complete;		  /* there are no other states */
	bool prints;		  /* some schedule writes output */
	bool reads_clock;	  /* some schedule looks at the clock */
	struct names notes;
	struct sym_stats stats;
};
void sym_schedules_deinit(struct sym_schedules *r);

/* Every interleaving of the program's threads, at the scheduling points that a controlled native
 * run has, with known values: depth first, each state once. Needs a binary from `unplait cc`, whose
 * table says which accesses are points. Of the configuration it takes args, env, input,
 * max_seconds, max_states, max_work, max_ops (of a thread between two points), exit_is_error,
 * all_errors (go on after the first) and ended. */
struct err *sym_schedules(struct sym_program *p, const struct sym_config *config,
			  struct sym_schedules *ret);

/* --- following a recorded path --- */

/* Where the decisions of a run come from: every branch, of threads numbered by birth. False when
 * there are no more for this thread. */
struct sym_recording {
	bool (*next_branch_bit)(void *arg, uint32_t thread, bool *ret);
	void *arg;
};

/* Run concretely and hand every decision to `bit`: a recording for sym_follow. */
typedef void sym_bit_fn(void *arg, uint32_t thread, bool bit);
struct err *sym_record(struct sym_program *p, const struct sym_config *config, sym_bit_fn *bit,
		       void *arg, struct sym_result *ret);

/* One step of a thread's symbolic trace, in the order of that thread. Expressions are read with
 * sym/value/expr.h; their numbers stay valid until the following ends, everything else during the call.
 *
 * Addresses are the machine's: every object has a range of its own, stable over the whole trace, so
 * that equal address means same place (also of blocks that were freed: no address is used twice).
 * Pointers in expressions are such addresses. */
struct sym_step {
	uint32_t thread; /* by birth; of a plait: the thread's index there */
	enum sym_step_kind {
		SYM_STEP_BRANCH, /* value: the condition that held (one bit) */
		SYM_STEP_READ,	 /* value: what was read, a symbol of its own */
		SYM_STEP_WRITE,	 /* value: what was written */
		SYM_STEP_RMW,	 /* old: what was read, a symbol; value: what was written */
		SYM_STEP_RANGE,	 /* n bytes were read or written (event says which); the words
				  * follow as reads or writes with `part` set */
		SYM_STEP_SYNC,	 /* event: what it is */
		SYM_STEP_INPUT,	 /* value: what a call brought in from outside */
		SYM_STEP_END	 /* the thread's last: text says how it ended */
	} kind;
	const char *where; /* file:line */
	uint64_t address;  /* of the access, or of the synchronisation object */
	uint8_t w;	   /* bits accessed */
	const char *text;  /* the expression; NULL when not asked for */

	/* following a plait only */
	uint8_t event;	 /* enum plait_event_kind: the event of a full recording it stands for */
	uint32_t site;	 /* in the binary's table */
	uint64_t native; /* the address in the recorded process; 0 = not known */
	uint32_t value;	 /* expression */
	uint32_t old;	 /* RMW: expression */
	uint32_t held;	 /* READ, RMW: what the machine's own memory held there: right when no
			  * other thread writes there */
	uint32_t symbol; /* READ, RMW: the number of the symbol read; UINT32_MAX = none */
	bool known;	 /* READ, RMW, INPUT: the recording has the value (it became an address) */
	uint64_t concrete; /* that value; pointers as addresses of the machine */
	uint64_t address2; /* the mutex of a wait */
	uint64_t n;	   /* bytes of a range; initial count; participants of a barrier */
	uint32_t other;	   /* fork, join: the thread's index in the plait */
	int64_t result;	   /* trylock, timed waits ...: 0 or an errno */
	uint8_t doom;	   /* BRANCH: over how many branches the other side leads to a call that
			    * does not come back; 255: none is near */
	bool fatal;	   /* BRANCH: the side taken leads there over no other branch */
	uint32_t bit;	   /* BRANCH: which bit of its thread's recording, from 1; 0 = none */
	uint64_t writes;   /* BRANCH: sym_writes() of what the other side alone writes */
	bool part;	   /* a word of the range before it */
	bool beyond;	   /* the thread did not end by itself, and its records were used up
			    * before this: it may not have come so far */
	struct exprs *exprs;
	struct machine *machine; /* for sym_peek */
};
/* The byte that the machine's memory holds at an address before this step; false when it is not
 * known, or no such place exists. */
bool sym_peek(const struct sym_step *step, uint64_t address, uint64_t *ret);
struct plait_site;
/* Elements that a site writes, as bits of a small set; 0: none. */
uint64_t sym_writes(const struct plait_site *site);
typedef void sym_step_fn(void *arg, const struct sym_step *step);
/* Follow the recording with the configuration's symbolic arguments, input and environment. The
 * constraints along the path are solved: ret->paths.data[0] holds an input that takes it. */
struct err *sym_follow(struct sym_program *p, const struct sym_config *config,
		       const struct sym_recording *recording, sym_step_fn *step, void *arg,
		       struct sym_result *ret);

/* --- following a plait --- */

struct trace;

struct sym_thread_end {
	uint32_t thread;
	char name[32];
	struct sym_outcome outcome; /* SYM_EXIT: ran to its end */
	bool expected;		    /* the recording ends this way, too */
	uint64_t steps;
	uint64_t bits, values, inputs; /* consumed ... */
	uint64_t bits_left, values_left, inputs_left;
};

struct sym_follow_result {
	VEC(struct sym_thread_end) threads; /* in order of birth */
	uint64_t steps, reads, writes, branches, syncs;
	uint64_t symbols, constraints;
	uint64_t beyond; /* steps after a thread's last record */
	/* what the trace rests on besides the recording: text -> count */
	struct names gaps;
	VEC(uint64_t) gap_counts;
	/* against a full recording */
	bool checked;
	uint64_t events, agree;	 /* recorded events of kinds that traces have; reproduced ones */
	uint64_t open;		 /* of those: the value depends on something that is not recorded */
	struct names mismatches; /* the first few, as text */
	struct sym_stats stats;
	bool complete; /* every thread came to the end of its recording as the recording says */
};
void sym_follow_result_deinit(struct sym_follow_result *r);

/* A thread that takes other sides than it took, '0' or '1' for each bit of its recording. From the
 * first that differs on it goes its own way: calls return unknown values, and what becomes an
 * address is what the thread would see alone. When the bits are used up its trace ends there
 * (SYM_RECORDING_END with bits_left 0). */
struct sym_detour {
	uint32_t thread; /* index in the plait */
	const char *bits;
};

struct sym_follow_options {
	const struct sym_detour *detours;
	size_t ndetours;
	struct trace *check; /* a full recording of the same schedule, or NULL */
	struct sym_program
		*program;	  /* of the plait's binary, opened by the caller; NULL = open it */
	bool text;		  /* fill sym_step.text */
	uint64_t max_ops;	  /* 0 = no limit */
	double max_seconds;	  /* 0 = no limit */
	int (*interrupted)(void); /* as in sym_config */
};

/* Follow a plait of mode path (or full, whose decisions are used, and which is its own check): run
 * each thread of its binary's bitcode along its recorded path. Reads of memory that other threads
 * may write are fresh symbols, inputs have their recorded values. step may be NULL. */
struct err *sym_follow_plait(struct trace *t, const struct sym_follow_options *options,
			     sym_step_fn *step, void *arg, struct sym_follow_result *ret);

#endif
