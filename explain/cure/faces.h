/* explain/cure/faces.h - the ways in which schedules fail.
 *
 * One mistake may show several faces: a crash here or there, an assertion, a wait that never ends. Which of
 * them a schedule shows is chance. A few are told apart, by their signature; the failure that is
 * explained is the first of them, though no other schedule may fail in just that way. */
#ifndef EXPLAIN_CURE_FACES_H
#define EXPLAIN_CURE_FACES_H

#include "explain/runner.h"
#include "unplait/abi.h"

enum { FACES = 16, FACE_OWN = 0 };
#define FACES_OWN 1u /* a set of faces, one bit each: only the failure that is explained */

struct face {
	uint64_t signature;
	uint32_t outcome; /* enum plait_outcome_kind */
	struct plait_failure failure;
};

struct faces {
	struct face
		data[FACES]; /* the first is the failure that is explained, and is not filled in */
	size_t len;
};

/* Which of them is this? The first time it becomes one of them. FACES: it passed, or there are too
 * many. */
size_t faces_of(struct faces *all, const struct explain_result *run);

#endif
