/* synth/synth.h - from a core dump forward to an execution that leads to it (001 chapter 4).
 *
 *	struct synth_options o = { .core = "core", .program = "./prog.plait-build", .seconds = 60 };
 *	struct synth_result r = { 0 };
 *
 *	err = synth_run(&o, &r);
 *	if (r.found)
 *		...                     r.inputs and r.plait: native runs have shown the failure
 *	synth_result_deinit(&r);
 *
 * The dump is of the program as it was shipped; `program` is the same source, built by unplait cc.
 * Nothing is found that a native run has not shown: its stacks, its signal and the address it faulted
 * on are compared with the dump's. */
#ifndef SYNTH_SYNTH_H
#define SYNTH_SYNTH_H

#include "base/fidelity.h"
#include "base/map.h"
#include "base/vec.h"
#include "run/run.h"

struct crumbs;
struct err;

enum synth_kind { SYNTH_ANY, SYNTH_CRASH, SYNTH_DEADLOCK, SYNTH_RACE, SYNTH_HANG };
/* "crash"; NULL for none. */
const char *synth_kind_name(enum synth_kind kind);
bool synth_kind_parse(const char *name, enum synth_kind *ret);

/* What of the dump may be used, besides the stacks. Each level has those before it. */
enum synth_facts {
	SYNTH_FACTS_STACK, /* nothing */
	SYNTH_FACTS_ARGS,  /* arguments and environment */
	SYNTH_FACTS_ALL	   /* standard input and what the program stored, too */
};
bool synth_facts_parse(const char *name, enum synth_facts *ret);

struct synth_options {
	const char *core, *program;
	const char *shipped;  /* the binary that the dump is of; NULL = where the dump says */
	const char *sysroot;  /* of the libraries that the dump is of; NULL = this machine's */
	enum synth_kind kind; /* SYNTH_ANY: what the dump says */
	enum synth_facts facts;
	double seconds; /* for everything */
	double timeout; /* of one native run */
	uint64_t seed;
	bool force;		     /* take a shipped binary of another build */
	const char *output;	     /* plait to write; with all_causes: folder */
	bool all_causes;	     /* go on after the first execution */
	const struct crumbs *crumbs; /* what else is known of the run; NULL = nothing */
	const char *guide; /* "goal" (NULL too), or "depth", "random-path": to compare with */
};

/* ---- what is wanted ---- */

/* A place of the source. Strings are owned by the goal. */
struct synth_point {
	char *function, *file;
	char *own_name; /* of the function, as all compilers say it (base/demangle.h) */
	unsigned line;
};

struct synth_stack {
	uint32_t tid;			/* in the dump */
	VEC(struct synth_point) points; /* of the program's own code, innermost first */
	VEC(uint64_t)
	offsets; /* of the program's machine frames, as its file counts; innermost first */
	bool whole, guessed; /* as in debug/stack.h */
};

struct synth_goal {
	enum synth_kind kind;
	int signal;	   /* 0 = none */
	bool near_null;	   /* it faulted on an address of the first page */
	bool near_unknown; /* the dump does not say where it faulted */
	bool in_library;   /* it failed inside a function of a library */
	char *message;	   /* what it said when it ended itself: an assertion; NULL = nothing */
	bool has_lines;	   /* the shipped binary has debug information */
	VEC(struct synth_stack)
	stacks; /* the failing thread first; a deadlock: all that wait in it */
};

/* ---- what was found ---- */

struct synth_inputs {
	VEC(char *) args; /* with the program's name; NULL-terminated */
	VEC(char *) env;  /* NAME=value; NULL-terminated */
	char *input;	  /* standard input; NULL = none */
	size_t input_len;
};
void synth_inputs_deinit(struct synth_inputs *in);

/* One of several ways to the same failure. */
struct synth_cause {
	char *plait;		/* an execution of it */
	const char *kind;	/* as explain says: "atomicity"; NULL = not known */
	char *summary, *advice; /* NULL = none */
};

struct synth_result {
	struct synth_goal goal;
	bool found;	/* a native run of `program` fails as the dump says */
	bool shipped;	/* so does one of the shipped binary */
	bool exhausted; /* not found: every path within the bounds was tried */
	bool interrupted;
	struct synth_inputs inputs;
	struct run_result run;
	char *plait;	     /* where it was saved; NULL */
	char *shipped_plait; /* a run of the shipped binary itself; NULL */
	const char *how;     /* "the dump's own input", "search" ... */
	struct names facts;  /* what the dump told, in words */
	/* variables that the program stored to: the shipped binary's run and the dump hold the same, or not */
	struct names agree, differ;
	struct names crumbs; /* which of them are used, in words */
	struct names notes;  /* what the answer leaves out */
	uint64_t attempts;   /* native runs */
	uint64_t states, questions;
	double seconds_read, seconds_search, seconds_native;
	VEC(struct synth_cause) causes; /* all_causes: told apart by what mends them */
	bool causes_complete;		/* with all remedies no schedule that was tried fails */
	/* how good the answer is (base/fidelity.h) */
	struct fidelity fidelity;
	unsigned replays,
		same;	 /* replays of the execution in the unplait build; those that fail alike */
	double original; /* seconds of the original execution: */
	bool original_in_dump; /* processor time, as the dump says; else of one replay */
};
struct err *synth_run(const struct synth_options *o, struct synth_result *ret);
void synth_result_deinit(struct synth_result *r);

#endif
