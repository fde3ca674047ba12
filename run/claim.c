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

/* The description of the build lists what was left unseen, one `unseen NAME` per line. */
static void add_unknown(const char *build, struct claim *c)
{
	static const char word[] = "unseen ";
	_cleanup_(strbuf_deinit) struct strbuf names = { 0 };
	size_t n = 0;

	for (const char *line = build, *end; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (strncmp(line, word, sizeof(word) - 1) != 0)
			continue;
		line += sizeof(word) - 1;
		if (n++ < NAMES)
			strbuf_addf(&names, "%s`%.*s'", n > 1 ? ", " : "", (int)(end - line), line);
	}
	if (!n)
		return;
	if (n > NAMES)
		strbuf_addf(&names, " and %zu more", n - NAMES);
	free(c->unknown);
	c->unknown = xstrdup(strbuf_str(&names));
	c->gaps |= CLAIM_UNKNOWN;
}

void claim_look_at(struct claim *c, const char *program)
{
	_cleanup_(strbuf_deinit) struct strbuf build = { 0 };
	struct sites *s = NULL;
	bool found = false;
	struct err *err = sites_open(program, &s);

	if (err || s->header.external_objects)
		c->gaps |= CLAIM_UNSEEN;
	if (!err)
		err = binary_section(program, PLAIT_SECTION_BUILD, &build, &found);
	if (!err && found)
		add_unknown(strbuf_str(&build), c);
	err_free(err);
	sites_close(s);
}

/* Did the run come to its own end? One whose list of decisions was full, or did not fit, was cut: what
 * would have followed was not tried. */
static bool is_whole(const struct run_result *r)
{
	if (r->timed_out)
		return false;
	switch (r->end) {
	case PLAIT_END_RUNNING:
	case PLAIT_END_EXIT:
	case PLAIT_END_DEADLOCK:
	case PLAIT_END_MISUSE:
		return true;
	default:
		return false;
	}
}

void claim_add_run(struct claim *c, const struct run_result *r)
{
	static const struct {
		enum plait_limit limit;
		enum claim_gap gap;
	} gaps[] = {
		{ PLAIT_LIMIT_TIMER, CLAIM_TIMERS },  { PLAIT_LIMIT_GUARD, CLAIM_GUARDS },
		{ PLAIT_LIMIT_CLOCK, CLAIM_CLOCK },   { PLAIT_LIMIT_SPIN, CLAIM_SPINS },
		{ PLAIT_LIMIT_COPY, CLAIM_COPIES },   { PLAIT_LIMIT_REUSE, CLAIM_REUSE },
		{ PLAIT_LIMIT_ALIAS, CLAIM_ALIASES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(gaps); i++)
		if (r->limits & gaps[i].limit)
			c->gaps |= gaps[i].gap;
	if (!is_whole(r))
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
		{ CLAIM_GUARDS,
		  "timeouts of a second or more: they do not end early (--timeouts any)" },
		{ CLAIM_CLOCK,
		  "the clock: it moves with the schedule, and has other values elsewhere" },
		{ CLAIM_SPINS, "loops that wait: one that counts its attempts on the heap or in a "
			       "static variable is taken to wait for ever" },
		{ CLAIM_COPIES, "long copies: they are made in pieces, not byte by byte" },
		{ CLAIM_REUSE, "addresses: which thread is given memory that another one freed" },
		{ CLAIM_ALIASES, "memory that is mapped at two addresses" },
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
