/* report/explain-candidate.c - what the terminal and the page say in the same words: a cause that was
 * considered, in one sentence; the faces of a failure. */
#include "report/formats.h"

#include "base/strbuf.h"
#include "explain/explanation.h"

#include <inttypes.h>

enum { FACES_TOLD = 3 };

void advice_describe_faces(const struct shown_advice *a, struct strbuf *out)
{
	size_t told = a->nfaces > FACES_TOLD + 1 ? FACES_TOLD : a->nfaces;
	uint64_t rest = 0;

	for (size_t i = 0; i < told; i++) {
		strbuf_addf(out, "%s%" PRIu64 " ", i ? ", " : " (", a->faces[i].runs);
		strbuf_adds(out, a->faces[i].how ? "with " : "in this way");
		strbuf_adds(out, a->faces[i].how ? a->faces[i].how : "");
	}
	for (size_t i = told; i < a->nfaces; i++)
		rest += a->faces[i].runs;
	if (rest)
		strbuf_addf(out, ", %" PRIu64 " in %zu other ways", rest, a->nfaces - told);
	if (a->nfaces)
		strbuf_adds(out, ")");
}

void candidate_describe(const struct shown_candidate *c, struct strbuf *out)
{
	static const char *const standings[] = STANDING_NAMES;
	const struct shown_advice *a = &c->advice;

	strbuf_addf(out, "(%s) %s", standings[c->standing], c->summary);
	if (a->seen_failing)
		strbuf_addf(out,
			    "; this happens in %" PRIu64 " of %" PRIu64
			    " schedules that fail and in %" PRIu64 " of %" PRIu64 " that pass",
			    a->broken_failing, a->seen_failing, a->broken_passing, a->seen_passing);
	if (a->runs_after)
		strbuf_addf(out, "; with the cure enforced %" PRIu64 " of %" PRIu64 " fail",
			    a->failed_after + a->other_after, a->runs_after);
}
