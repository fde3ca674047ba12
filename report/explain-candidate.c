/* report/explain-candidate.c - a cause that was considered, in one sentence: the terminal and the page
 * say the same. */
#include "report/formats.h"

#include "base/strbuf.h"
#include "explain/explanation.h"

#include <inttypes.h>

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
