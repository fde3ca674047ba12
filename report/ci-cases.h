/* report/ci-cases.h - findings as CI systems see them, to be written as JUnit XML or SARIF. A
 * hunt is one case; `unplait test` has one for each test. */
#ifndef REPORT_CI_CASES_H
#define REPORT_CI_CASES_H

#include "base/vec.h"

#include <stdbool.h>

struct err;
struct hunt_options;
struct hunt_result;
struct report_format;
struct suite_results;

struct ci_failure {
	char *kind, *message; /* "deadlock"; in words */
	char *details;	      /* how to see it again, and why it happens; NULL */
	char *file;	      /* where; NULL = not known */
	unsigned line;
	bool known; /* not new: a note, no failure */
};
struct ci_case {
	char *name;
	double seconds;
	char *skipped; /* why nothing can be said about it; NULL */
	struct ci_failures VEC_FIELDS(struct ci_failure) failures;
};
struct ci_cases VEC_FIELDS(struct ci_case);
void ci_cases_deinit(struct ci_cases *c);

/* What is in a result, as cases. */
void ci_from_hunt(const struct hunt_options *o, const struct hunt_result *r, struct ci_cases *ret);
void ci_from_suite(const struct suite_results *r, struct ci_cases *ret);

/* suite: the name of all cases together. Without a path it does nothing. */
struct err *ci_cases_write(const struct ci_cases *c, const char *suite,
			   const struct report_format *format, const char *path);

#endif
