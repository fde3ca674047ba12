/* suite/suite.h - the tests of a binary or a build folder, and a hunt through all of them.
 *
 *	struct suite s = { 0 };
 *	struct suite_results r = { 0 };
 *
 *	err = suite_find(words, &s);            // asks the binary, CTest or Meson for its tests
 *	suite_keep_matching(&s, &patterns, &names);
 *	err = suite_hunt(&s, &options, &r);     // every test under control, a fair share of time each
 *
 * One test is one command: what its framework calls a test, selected by its arguments. Each is
 * hunted by an `unplait hunt` of its own, so that many run at once and none can disturb another,
 * and so that what we say about it is what the user gets who types that command. */
#ifndef SUITE_SUITE_H
#define SUITE_SUITE_H

#include "base/vec.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct framework;
struct names;
struct strbuf;
struct strings;

struct suite_test {
	char *name;			   /* as the framework says it; unique in the suite */
	struct words command;		   /* the program and its arguments */
	struct words environment;	   /* more variables, "NAME=value" */
	char *folder;			   /* where it is started; NULL = ours */
	const struct framework *framework; /* NULL: a plain program */
	int skip_status;		   /* the exit status that means "skipped"; 0 = none */
	const char *unable;		   /* why it cannot be hunted at all; NULL */
};
void suite_test_deinit(struct suite_test *t);

struct suite {
	char *what; /* "./queue-test (GoogleTest)" */
	struct suite_tests VEC_FIELDS(struct suite_test) tests;
};
void suite_deinit(struct suite *s);

/* words: a binary with its arguments, or a build folder; empty = the folder we are in. ERR_ENV when
 * there are no tests. */
struct err *suite_find(char *const *words, struct suite *ret);
/* Keep tests whose name matches one of the patterns, as the shell matches file names, or is one of
 * the names. */
void suite_keep_matching(struct suite *s, const struct strings *patterns,
			 const struct strings *names);
/* Keep tests whose program was built from a file that differs from the revision, as debug info and
 * git say; and those whose program has no debug info. */
struct err *suite_keep_changed(struct suite *s, const char *revision);

/* Why no test of this program can come under control: its framework prevents it. NULL: nothing does. */
const char *suite_unable(const char *program);
/* What keeps the test framework of this program from forking; NULL when it has none that forks. */
const char *suite_fork_advice(const char *program);

/* What we can say about a test (verdicts.def). */
enum verdict {
#define VERDICT(id, name, text) VERDICT_##id,
#include "suite/verdicts.def"
#undef VERDICT
	VERDICTS
};
const char *verdict_name(enum verdict v);
/* In words. */
const char *verdict_text(enum verdict v);

struct suite_result {
	const struct suite_test *test; /* borrowed from the suite */
	enum verdict verdict;
	bool known; /* the baseline has it: does not fail the run */
	uint64_t runs, threads;
	uint64_t unfinished; /* of the runs: cut off when their budget was used up */
	double seconds;
	char *why;	      /* in words: what was not under control; may be NULL */
	char *note;	      /* what hunt says about the program; may be NULL */
	char *kind, *message; /* of the failure; NULL */
	char *file;	      /* where it failed; NULL = not known */
	unsigned line;
	char *callers; /* of that place, the nearest first, as FILE:LINE; NULL = not known */
	unsigned replays, same; /* confirming replays */
	char *plait;
	char *cause, *advice, *tried; /* what explain says; NULL */
	bool explained;		      /* ... and has confirmed */
};
struct suite_results VEC_FIELDS(struct suite_result);
void suite_results_deinit(struct suite_results *r);

struct suite_options {
	double seconds; /* for all tests together; 0 = no limit */
	uint64_t runs;	/* for each test; 0 = no limit */
	uint64_t seed;
	unsigned jobs;	      /* tests at a time */
	double timeout;	      /* real seconds per run; 0 = hunt's default */
	const char *timeouts; /* as hunt's --timeouts; NULL = its default */
	const char *output;   /* folder for plaits; it is made */
	const char *baseline; /* file of known failures; NULL = none */
	bool no_explain;
	/* Called with each result, in the order of the suite. */
	void (*tell)(void *arg, const struct suite_result *r);
	void *arg;
};
/* After Ctrl-C: the tests that were not hunted have that verdict, and *interrupted is set. */
struct err *suite_hunt(const struct suite *s, const struct suite_options *o,
		       struct suite_results *ret, bool *interrupted);

/* `unplait COMMAND PLAIT` for a test that failed, as a line for the shell. */
void suite_command(const struct suite_result *r, const char *command, struct strbuf *out);

/* The new findings and what is not conclusive, as the exit status of a command: 0, 1 or 4. */
int suite_status(const struct suite_results *r);

/* ---- known failures: one line per test, its name, a tab, and what it does ---- */

struct err *baseline_load(const char *path, struct names *ret);
bool baseline_knows(const struct names *known, const struct suite_result *r);
struct err *baseline_write(const char *path, const struct suite_results *r);

#endif
