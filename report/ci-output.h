/* report/ci-output.h - findings in the formats that CI systems read: JUnit XML and SARIF 2.1.0. A
 * hunt is one case; `unplait test` has one for each test. */
#ifndef REPORT_CI_OUTPUT_H
#define REPORT_CI_OUTPUT_H

#include "base/vec.h"

#include <stdbool.h>

struct err;
struct hunt_options;
struct hunt_result;
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

/* suite: the name of all cases together. */
struct err *write_junit(const char *path, const char *suite, const struct ci_cases *c);
struct err *write_sarif(const char *path, const struct ci_cases *c);

#endif
