/* race/race.h - the data races of a program, and what each of them does (001 section 7.2).
 *
 *	struct races_options o = { .target = { .argv = argv }, .paths = 5, .schedules = 8 };
 *	struct races_result r = { 0 };
 *
 *	err = races_run(&o, &r);        // find races, then give each a verdict
 *	for (size_t i = 0; i < r.races.len; i++)
 *		puts(race_verdict_name(r.races.data[i].verdict));
 *	races_result_deinit(&r);
 *
 * A race is a pair of source lines that access one element without an order between them. Its
 * verdict is what native runs of both orders have shown (doc/design/races.md). */
#ifndef RACE_RACE_H
#define RACE_RACE_H

#include "run/place.h"
#include "run/run.h"

#include "base/fidelity.h"
#include "base/opt.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct race_reports;
struct suppressions;

/* What a race does; the larger the worse. */
enum race_verdict {
	RACE_NOT_JUDGED,      /* no time was left for it */
	RACE_NOT_REPRODUCED,  /* no run has had both accesses pending at once */
	RACE_SINGLE_ORDERING, /* one of the orders cannot happen: ad-hoc synchronisation */
	RACE_UNDECIDED,	      /* no pair of runs could be compared: both orders fail */
	RACE_HARMLESS,	      /* no difference in k combinations of paths and schedules */
	RACE_NOT_STABLE,      /* the output differs between equal runs: it says nothing */
	RACE_OUTPUT_DIFFERS,  /* the orders lead to different output or exit status */
	RACE_SPEC_VIOLATED,   /* one of the orders leads to a failure */
};
const char *race_verdict_name(enum race_verdict v); /* as in JSON: "spec-violated" */
/* One sentence for people. */
const char *race_verdict_meaning(enum race_verdict v);
/* RACE_SPEC_VIOLATED + 1 when there is no such name. */
enum race_verdict race_verdict_find(const char *name);

enum race_states { RACE_STATES_UNKNOWN, RACE_STATES_SAME, RACE_STATES_DIFFER };

/* One of the two accesses. Strings are owned. */
struct race_side {
	char *file, *function; /* "" = unknown */
	uint32_t line, column;
	bool writes, atomic;
	struct places stack; /* innermost first; empty when no run of ours has shown it */
};

/* A step of a run, near the race. Strings but op are owned. */
struct race_step {
	char *thread, *object, *file;
	const char *op;
	uint32_t number, line; /* of the thread; in the file */
	bool racing;
};

/* One of the two orders, as the run that shows it. */
struct race_order {
	bool seen;
	struct run_result run;	     /* its schedule replays it */
	char *out, *errors;	     /* what it printed; NULL = not seen */
	unsigned tried, same;	     /* replays that ended the same way */
	char *plait;		     /* where it was saved; NULL */
	VEC(struct race_step) steps; /* around the two accesses; empty when not saved */
};

struct race {
	unsigned id;  /* from 1 */
	char *object; /* "queue.filled" */
	char *bucket; /* object, files and functions: the same in another run or build */
	struct race_side side[2];
	enum race_verdict verdict;
	bool proved; /* for this input: every state behind the race was explored */
	enum race_states states;
	unsigned paths, schedules;  /* k: inputs, and pairs of runs over all of them */
	unsigned instances, met;    /* executions looked at; in which both accesses were pending */
	struct race_order order[2]; /* [0]: side[0] comes first */
	int failing;		    /* which order fails; -1 = none */
	char *flag;		    /* single ordering: what the waiting side waits for; NULL */
	char *note;		    /* what the verdict leaves out; NULL */
	char **needs;		    /* arguments that show it, when not the given ones; NULL */
	double seconds;		    /* of work for this race */
	struct fidelity fidelity;
	bool known;    /* in the baseline */
	bool reported; /* --from: the report has it */
};
struct races VEC_FIELDS(struct race);

struct races_options {
	struct target target;
	struct strings tries;	   /* other arguments, a line each, as a shell would split them */
	struct strings inputs;	   /* files for standard input */
	bool one_path;		   /* no inputs of our own making */
	unsigned paths, schedules; /* k */
	unsigned runs;		   /* that look for races, per input */
	double seconds;		   /* 0 = no limit */
	uint64_t seed;
	const char *output;	       /* folder for plaits; NULL = none are kept */
	const struct strings *ignored; /* regular expressions: lines of output that do not count */
	struct race_reports *reports;  /* --from: races that somebody else has seen; NULL */
	struct suppressions *suppressions; /* hits are counted; NULL = none */
};

struct races_result {
	struct races races; /* the worst first */
	uint64_t runs, suppressed;
	uint64_t others;   /* --from: races that the report does not have */
	uint64_t unmet;	   /* predicted races that no run has met, and that are not shown */
	uint64_t unjudged; /* races for which no time was left */
	uint32_t threads, uncontrolled;
	double seconds;
	double original; /* seconds of one plain run */
	bool interrupted;
	unsigned paths;		  /* inputs that were run */
	uint64_t looked, cut_off; /* runs that looked for races; that used up their budget */
	uint64_t failed;	  /* of those that looked: what would come behind was not seen */
	bool fails_alone; /* it fails before it has two threads: there was nothing to look at */
	char *note;	  /* what an answer leaves out; NULL */
};
struct err *races_run(struct races_options *o, struct races_result *ret);
void races_result_deinit(struct races_result *r);
void race_deinit(struct race *r);

#endif
