/* sym/sym.h - the symbolic machine: run a program's bitcode with known or unknown values.
 *
 *	struct sym_program *p;
 *	err = sym_open("prog.c", &p);            source, bitcode, or a binary from `unplait cc`
 *	err = sym_run(p, &config, &result);      concretely, like the native program
 *	err = sym_explore(p, &config, &result);  every path of symbolic arguments, input,
 *environment
 *
 * What the machine cannot do it says: an outcome of kind SYM_UNSUPPORTED names the operation and
 *the source line, and notes list what an answer leaves out. */
#ifndef SYM_SYM_H
#define SYM_SYM_H

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct machine;
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
	/* what a native run with this input did */
	int confirmed; /* 0 not tried, 1 same outcome, -1 other outcome */
	char native[64];
};

struct sym_stats {
	uint64_t ops, forks, states, max_states, paths;
	uint64_t branches;	 /* symbolic branches met */
	uint64_t branch_queries; /* that the state's own model could not decide alone */
	uint64_t queries;	 /* all questions to the solver chain */
	uint64_t by_model, by_cache, by_core, by_enum, by_z3; /* who answered */
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
	uint64_t max_ops;   /* per state; 0 = no limit */
	double max_seconds; /* in all; 0 = no limit */
	uint64_t seed;	    /* of the schedule; 0 = switch only where a thread must wait */
	bool host_files;    /* may read files of this machine */
	bool sym_given;	    /* the given arguments (but the first) and input are symbolic, of their
			       length */
	/* exploration */
	uint32_t sym_args, sym_arg_len; /* that many more arguments of up to that many bytes */
	uint32_t sym_stdin;		/* bytes of symbolic input */
	const char *const *sym_env;	/* names, NULL-terminated */
	uint32_t sym_env_len;
	uint64_t max_states, max_paths, max_errors; /* 0 = no limit */
	uint32_t query_ms;
	const char *order;     /* "depth", "breadth" or "cover" */
	const char *query_log; /* file that receives every query in SMT-LIB, or NULL */
	bool all_errors;       /* report every path to an error, not one per place */
	bool keep_paths;       /* also report paths that end well, with their inputs */
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
/* The same from bitcode in memory. */
struct err *sym_load_bitcode(const void *bytes, size_t len, struct sym_program **ret);
void sym_close(struct sym_program *p);
/* Native twin of the program for confirmations, NULL when there is only bitcode. Borrowed. */
const char *sym_native(const struct sym_program *p);

/* sink, when not NULL, receives the program's output as it is written (fd 1 and 2). */
typedef void sym_sink(void *arg, int fd, const void *data, size_t len);
struct err *sym_run(struct sym_program *p, const struct sym_config *config, sym_sink *sink,
		    void *arg, struct sym_result *ret);
struct err *sym_explore(struct sym_program *p, const struct sym_config *config,
			struct sym_result *ret);
/* Run the native program with each path's input and compare outcomes. */
struct err *sym_confirm(struct sym_program *p, const struct sym_config *config,
			struct sym_result *r);

/* --- following a recorded path --- */

/* Where the decisions of a recorded run come from; a trace reader provides it. Each function
 * returns false when the recording has no more for this thread. Threads are numbered by birth. */
struct sym_recording {
	bool (*next_branch_bit)(void *arg, uint32_t thread, bool *ret);
	/* The value of a shared read that fed an address; NULL = none were recorded. */
	bool (*next_address_value)(void *arg, uint32_t thread, uint64_t *ret);
	/* What the site (function, instruction number) is in the recording. NULL: every branch is
	 * recorded, no read is shared. */
	enum sym_site (*site)(void *arg, const char *function, uint32_t ir);
	void *arg;
};
enum sym_site { SYM_SITE_NONE, SYM_SITE_BRANCH, SYM_SITE_SHARED, SYM_SITE_SHARED_ADDRESS };

/* Run concretely and hand every decision to `bit`: a recording for sym_follow. */
typedef void sym_bit_fn(void *arg, uint32_t thread, bool bit);
struct err *sym_record(struct sym_program *p, const struct sym_config *config, sym_bit_fn *bit,
		       void *arg, struct sym_result *ret);

/* One step of a thread's symbolic trace. */
struct sym_step {
	uint32_t thread;
	enum sym_step_kind {
		SYM_STEP_BRANCH,
		SYM_STEP_READ,
		SYM_STEP_WRITE,

		SYM_STEP_END
	} kind;
	const char *where;
	uint64_t address;
	uint8_t w;
	const char *text; /* the expression; valid during the call */
};
typedef void sym_step_fn(void *arg, const struct sym_step *step);
/* Follow the recording with the configuration's symbolic arguments, input and environment. The
 * constraints along the path are solved: ret->paths.data[0] holds an input that takes it. */
struct err *sym_follow(struct sym_program *p, const struct sym_config *config,
		       const struct sym_recording *recording, sym_step_fn *step, void *arg,
		       struct sym_result *ret);

#endif
