/* report/races-term.c - the races of a program in a terminal: a line for each, the worst first, and
 * what is worth seeing of those that matter. */
#include "report/formats.h"

#include "base/log.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "race/race.h"
#include "trace/trace.h"

#include <string.h>

static enum color color_of(enum race_verdict v)
{
	switch (v) {
	case RACE_SPEC_VIOLATED:
		return COLOR_RED;
	case RACE_OUTPUT_DIFFERS:
	case RACE_NOT_STABLE:
	case RACE_NOT_REPRODUCED:
	case RACE_NOT_JUDGED:
	case RACE_UNDECIDED:
		return COLOR_YELLOW;
	default:
		return COLOR_GREEN;
	}
}

static void add_side(const struct race_side *s, struct strbuf *out)
{
	strbuf_add_printable(out, s->file[0] ? s->file : "?", "");
	strbuf_addf(out, ":%u (%s%s", s->line, s->atomic ? "atomic " : "",
		    s->writes ? "write" : "read");
	if (s->function[0]) {
		strbuf_adds(out, ", ");
		strbuf_add_printable(out, s->function, "");
	}
	strbuf_adds(out, ")");
}

static void add_headline(const struct race *r, struct strbuf *out)
{
	strbuf_addf(out, "%2u  %s%-18s%s ", r->id, color(color_of(r->verdict)),
		    race_verdict_name(r->verdict), color(COLOR_OFF));
	strbuf_add_printable(out, r->object, "");
	strbuf_adds(out, "  ");
	add_side(&r->side[0], out);
	strbuf_adds(out, " with ");
	add_side(&r->side[1], out);
	strbuf_addf(out, "%s\n", r->known ? "  [known]" : "");
}

/* The first line in which two texts differ. */
static void add_difference(const char *a, const char *b, const char *from, struct strbuf *out)
{
	size_t n = 1;

	while (*a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || memcmp(a, b, la))
			break;
		a += la + (a[la] == '\n');
		b += lb + (b[lb] == '\n');
		n++;
	}
	for (int i = 0; i < 2; i++) {
		const char *text = i ? b : a;
		_cleanup_(xfreep) char *line = xstrndup(text, strcspn(text, "\n"));

		strbuf_addf(out, "      %s, line %zu of order %c: ", from, n, "ab"[i]);
		strbuf_add_printable(out, *text ? line : "(it ends here)", "");
		strbuf_addc(out, '\n');
	}
}

static void add_output(const struct race *r, struct strbuf *out)
{
	const struct race_order *a = &r->order[0], *b = &r->order[1];

	if (strcmp(a->out, b->out))
		add_difference(a->out, b->out, "standard output", out);
	if (strcmp(a->errors, b->errors))
		add_difference(a->errors, b->errors, "standard error", out);
	if (a->run.exit_code != b->run.exit_code)
		strbuf_addf(out, "      exit status of order a: %d, of order b: %d\n",
			    a->run.exit_code, b->run.exit_code);
}

static void add_orders(const struct race *r, struct strbuf *out)
{
	for (int i = 0; i < 2; i++) {
		const struct race_order *o = &r->order[i];

		if (!o->seen)
			continue;
		strbuf_addf(out, "      order %c: %s:%u first", "ab"[i], r -> side[i].file,
			    r->side[i].line);
		if (run_failed(&o->run)) {
			strbuf_addf(out, ": %s%s%s", color(COLOR_RED), outcome_name(o->run.outcome),
				    color(COLOR_OFF));
			if (o->run.text) {
				strbuf_adds(out, ": ");
				strbuf_add_printable(out, o->run.text, "");
			}
		}
		strbuf_adds(out, "\n");
		if (!o->plait)
			continue;
		strbuf_adds(out, "        unplait replay ");
		strbuf_add_shell(out, o->plait);
		if (run_failed(&o->run)) {
			strbuf_adds(out, "    why: unplait explain ");
			strbuf_add_shell(out, o->plait);
		}
		strbuf_adds(out, "\n");
	}
}

static void add_stack(const struct race_side *s, int i, struct strbuf *out)
{
	strbuf_addf(out, "      access %d: ", i + 1);
	for (size_t n = 0; n < s->stack.len; n++) {
		const struct place *p = &s->stack.data[n];

		strbuf_addf(out, "%s%s (%s:%u)", n ? " < " : "", p->function, p->file, p->line);
	}
	strbuf_adds(out, s->stack.len ? "\n" : "no stack\n");
}

static void add_witnesses(const struct race *r, struct strbuf *out)
{
	strbuf_addf(out, "      %s", race_verdict_meaning(r->verdict));
	if (r->verdict == RACE_HARMLESS)
		strbuf_addf(out, ": %u path%s, %u pairs of runs%s%s", r->paths,
			    r->paths == 1 ? "" : "s", r->schedules * r->paths,
			    r->states == RACE_STATES_SAME ? ", both orders lead to the same state"
							  : "",
			    r->proved ? "; proved for this input: every state was explored" : "");
	strbuf_adds(out, "\n");
	if (r->flag)
		strbuf_addf(out, "      %s\n", r->flag);
	if (r->note)
		strbuf_addf(out, "      %s\n", r->note);
}

static void add_details(const struct race *r, struct strbuf *out)
{
	add_witnesses(r, out);
	add_stack(&r->side[0], 0, out);
	add_stack(&r->side[1], 1, out);
	strbuf_adds(out, "      ");
	fidelity_show(&r->fidelity, out);
	strbuf_addc(out, '\n');
}

static void add_needs(const struct race *r, struct strbuf *out)
{
	if (!r->needs)
		return;
	strbuf_adds(out, "      it shows with other arguments:");
	for (char **word = r->needs + 1; r->needs[0] && *word; word++) {
		strbuf_addc(out, ' ');
		strbuf_add_shell(out, *word);
	}
	strbuf_adds(out, "\n");
}

static void add_summary(const struct races_result *r, struct strbuf *out)
{
	unsigned count[RACE_SPEC_VIOLATED + 1] = { 0 };
	const char *between = ": ";

	for (size_t i = 0; i < r->races.len; i++)
		count[r->races.data[i].verdict]++;
	strbuf_addf(out, "%zu race%s", r->races.len, r->races.len == 1 ? "" : "s");
	for (int v = RACE_SPEC_VIOLATED; v >= 0; v--) {
		if (!count[v])
			continue;
		strbuf_addf(out, "%s%u %s", between, count[v], race_verdict_name(v));
		between = ", ";
	}
	strbuf_addf(out, "; %llu runs in %.1f s", (unsigned long long)r->runs, r->seconds);
	if (r->suppressed)
		strbuf_addf(out, ", %llu suppressed", (unsigned long long)r->suppressed);
	strbuf_adds(out, "\n");
	if (r->fails_alone)
		strbuf_adds(out, "the program fails before it starts a thread, so no race was "
				 "looked for: unplait hunt shows how\n");
	else if (r->threads < 2)
		strbuf_adds(out, "note: the program starts no threads\n");
	if (r->unmet)
		strbuf_addf(out, "%llu predicted races were never met and are not shown\n",
			    (unsigned long long)r->unmet);
	if (r->others)
		strbuf_addf(out,
			    "%llu races that the report does not have were seen as well: "
			    "leave out --from to judge them\n",
			    (unsigned long long)r->others);
	if (r->unjudged)
		strbuf_addf(out, "%llu races were not judged: no time was left (--time)\n",
			    (unsigned long long)r->unjudged);
	if (r->interrupted)
		strbuf_adds(out, "interrupted\n");
	if (!r->looked)
		strbuf_adds(out, "no run has looked for races: no time was left (--time)\n");
	if (r->cut_off)
		strbuf_addf(out,
			    "%llu of the %llu runs that looked for races were cut off before "
			    "their end: races behind that were not looked for\n",
			    (unsigned long long)r->cut_off, (unsigned long long)r->looked);
	if (r->failed && r->failed == r->looked && !r->fails_alone && !r->cut_off)
		strbuf_addf(out,
			    "all %llu runs that looked for races failed: races behind that were "
			    "not looked for; unplait hunt shows how\n",
			    (unsigned long long)r->looked);
	if (r->note)
		strbuf_addf(out, "note: %s\n", r->note);
}

void races_term(const struct races_result *r, const struct report_view *view, struct strbuf *out)
{
	for (size_t i = 0; i < r->races.len; i++) {
		const struct race *race = &r->races.data[i];

		add_headline(race, out);
		if (race->verdict == RACE_OUTPUT_DIFFERS)
			add_output(race, out);
		if (view->all)
			add_details(race, out);
		else if (race->note)
			strbuf_addf(out, "      %s\n", race->note);
		if (view->all || race->verdict >= RACE_OUTPUT_DIFFERS) {
			add_needs(race, out);
			add_orders(race, out);
		}
	}
	add_summary(r, out);
}
