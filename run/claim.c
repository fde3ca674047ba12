/* run/claim.c - see claim.h. */
#include "run/claim.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/binary.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 5 }; /* functions that the sentence names */

void claim_deinit(struct claim *c)
{
	free(c->unknown);
	*c = (struct claim){ 0 };
}

/* Functions that bring something in are known: their results are recorded, and what they fill is
 * written down. Any other call whose result counts as input is one that nobody has described. */
static bool is_known_input(const char *name)
{
	static const char *const known[] = {
#define INPUT(name) name,
#include "unplait/inputs.def"
#undef INPUT
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

static bool has_name(const struct strbuf *names, const char *name)
{
	_cleanup_(strbuf_deinit) struct strbuf quoted = { 0 };

	strbuf_addf(&quoted, "`%s'", name);
	return strstr(strbuf_str(names), strbuf_str(&quoted)) != NULL;
}

static void add_unknown(const struct sites *s, struct claim *c)
{
	_cleanup_(strbuf_deinit) struct strbuf names = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < s->header.nsites; i++) {
		const char *name = sites_string(s, s->sites[i].object);

		if (s->sites[i].kind != PLAIT_SITE_INPUT || !*name || is_known_input(name) ||
		    has_name(&names, name))
			continue;
		if (n++ < NAMES)
			strbuf_addf(&names, "%s`%s'", n > 1 ? ", " : "", name);
	}
	if (!n)
		return;
	if (n > NAMES)
		strbuf_addf(&names, " and %zu more", n - NAMES);
	c->gaps |= CLAIM_UNKNOWN;
	c->unknown = xstrdup(strbuf_str(&names));
}

void claim_look_at(struct claim *c, const char *program)
{
	struct sites *s = NULL;
	struct err *err = sites_open(program, &s);

	if (err || s->header.external_objects)
		c->gaps |= CLAIM_UNSEEN;
	if (!err)
		add_unknown(s, c);
	err_free(err);
	sites_close(s);
}

void claim_add_run(struct claim *c, const struct run_result *r)
{
	if (r->limits & PLAIT_LIMIT_TIMER)
		c->gaps |= CLAIM_TIMERS;
	if (r->limits & PLAIT_LIMIT_CLOCK)
		c->gaps |= CLAIM_CLOCK;
	if (r->end == PLAIT_END_BUDGET || r->timed_out)
		c->gaps |= CLAIM_BUDGET;
}

bool claim_is_complete(const struct claim *c)
{
	return c->ended && !(c->gaps & ~(uint32_t)CLAIM_BOUND);
}

void claim_describe(const struct claim *c, struct strbuf *out)
{
	if (!c->ended)
		return;
	strbuf_addf(out, "every schedule%s%s was explored",
		    c->gaps & CLAIM_BOUND ? " within the bound" : "",
		    claim_is_complete(c) ? "" : " of what is covered");
}

void claim_describe_gaps(const struct claim *c, const char *between, struct strbuf *out)
{
	static const struct {
		enum claim_gap gap;
		const char *text;
	} sentences[] = {
		{ CLAIM_UNCONTROLLED, "what was not under control" },
		{ CLAIM_TIMERS, "timers that begin again: they never strike before their time" },
		{ CLAIM_CLOCK,
		  "the clock: it moves with the schedule, and has other values elsewhere" },
		{ CLAIM_BUDGET, "runs that were given up before their end (--steps, --timeout)" },
		{ CLAIM_UNSEEN, "accesses in code that was not built with unplait cc" },
		{ CLAIM_UNKNOWN, "functions that were not looked into: " },
	};
	bool first = true;

	for (size_t i = 0; i < ARRAY_SIZE(sentences); i++) {
		if (!(c->gaps & sentences[i].gap))
			continue;
		strbuf_addf(out, "%s%s%s", first ? "" : between, sentences[i].text,
			    sentences[i].gap == CLAIM_UNKNOWN && c->unknown ? c->unknown : "");
		first = false;
	}
}
