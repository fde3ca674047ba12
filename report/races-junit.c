/* report/races-junit.c - races as JUnit XML: one case each; those that matter and are new fail. */
#include "report/formats.h"

#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "race/race.h"
#include "report/ci-cases.h"

static char *details_of(const struct race *r)
{
	struct strbuf text = { 0 };

	for (int i = 0; i < 2; i++) {
		if (!r->order[i].plait)
			continue;
		strbuf_addf(&text, "order %c: unplait replay ", "ab"[i]);
		strbuf_add_shell(&text, r->order[i].plait);
		strbuf_addc(&text, '\n');
	}
	return text.data ? strbuf_detach(&text) : NULL;
}

static struct ci_case case_of(const struct race *r)
{
	struct ci_case c = { .name = xasprintf("%s %s:%u %s:%u", r->object, r->side[0].file,
					       r->side[0].line, r->side[1].file, r->side[1].line),
			     .seconds = r->seconds };

	if (r->verdict >= RACE_OUTPUT_DIFFERS)
		vec_push(&c.failures,
			 (struct ci_failure){ .kind = xstrdup(race_verdict_name(r->verdict)),
					      .message = xstrdup(race_verdict_meaning(r->verdict)),
					      .details = details_of(r),
					      .file = xstrdup(r->side[0].file),
					      .line = r->side[0].line,
					      .known = r->known });
	else if (r->verdict < RACE_HARMLESS && r->verdict != RACE_SINGLE_ORDERING)
		c.skipped = xstrdup(race_verdict_meaning(r->verdict));
	return c;
}

void races_junit(const struct races_result *r, const struct report_view *view, struct strbuf *out)
{
	struct ci_cases cases = { 0 };

	(void)view;
	for (size_t i = 0; i < r->races.len; i++)
		vec_push(&cases, case_of(&r->races.data[i]));
	cases_junit(&cases, "unplait races", out);
	ci_cases_deinit(&cases);
}
