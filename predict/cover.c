/* predict/cover.c - has every run been seen?
 *
 * A chance that can be taken was taken by one native run. Another prefix may take it as well, with
 * the other threads farther on their paths, and lead to another run. So each chance that can be
 * taken is asked about again, until every prefix is covered.
 *
 * Let B be a base, d a decision of its thread T that can be taken otherwise, and K a known run in
 * which T comes to d as in B and takes the other side. A prefix of B that takes d is covered by K if
 * every other thread U has done no more steps than K and B have in common for U. The prefixes that K
 * does not cover have some U farther on: for each U that is one more question, with that as a goal.
 * A prefix that nobody covers is run, and its run covers it.
 *
 * When every prefix of every base is covered, every run of the program is one of the bases. For let
 * R be a run, and B the base that shares the longest prefix with R. If R leaves B, it does so at a
 * decision of some thread; that prefix is covered by a base that shares at least one decision more
 * with R. So R never leaves B.
 *
 * Of a value that became an address, or a switch, there are more than two outcomes: a run with
 * another one does not stand for all of them. Such decisions are looked at in the same way, since
 * the other threads' positions matter there too, but nothing is proved then.
 *
 * It may stop on the way, though: a deadlock on known paths is for targets.c. */
#include "predict/round.h"

#include "base/err.h"
#include "base/strbuf.h"

#include <stdlib.h>

struct covering {
	struct predict *p;
	size_t base;
	struct chance chance; /* with the goals asked for so far */
	bool more;
};

/* ---- what two runs have in common ---- */

static const struct load_trail *trail_of(const struct base *b, const char *thread)
{
	const struct order_model *m = b->l.built.m;

	for (size_t t = 0; t < m->threads.len; t++)
		if (!strcmp(m->threads.data[t].name, thread))
			return &b->l.trails[t];
	return NULL;
}

/* How many steps of thread u of b does the other run have as well? */
static uint32_t common_steps(const struct base *b, uint32_t u, const struct base *other)
{
	const struct load_trail *mine = &b->l.trails[u];
	const struct load_trail *its = trail_of(other, b->l.built.m->threads.data[u].name);
	uint32_t n = 0;

	/* the last entry is the end */
	while (its && n + 1 < mine->len && n + 1 < its->len && mine->data[n] == its->data[n])
		n++;
	return n;
}

static uint32_t steps_done(const struct base *b, uint32_t u, const struct order_reached *a)
{
	const struct order_model *m = b->l.built.m;
	uint32_t n = 0;

	for (size_t i = 0; i < a->len; i++)
		if (m->events.data[a->order[i]].thread == u)
			n = MAX(n, b->l.built.step[a->order[i]] + 1);
	return n;
}

/* Does the other run come to this decision as b does, and decide otherwise? Of a value or a switch:
 * in whatever way. */
static bool takes_otherwise(const struct base *b, uint32_t condition, const struct base *other)
{
	const struct order_model *m = b->l.built.m;
	const struct order_place *at = &m->places.data[condition];
	const struct order_thread *t = &m->threads.data[at->thread];
	uint32_t done = at->index ? b->l.built.step[t->data[at->index - 1]] + 1 : 0;

	if (!base_is_many(b, condition))
		return map_find(&other->l.sides, load_side(at->node, !at->was));
	return common_steps(b, at->thread, other) == done;
}

static bool covers(const struct base *b, uint32_t condition, const struct order_reached *a,
		   const struct base *other)
{
	uint32_t thread = b->l.built.m->places.data[condition].thread;

	if (!takes_otherwise(b, condition, other))
		return false;
	for (uint32_t u = 0; u < b->l.built.m->threads.len; u++)
		if (u != thread && steps_done(b, u, a) > common_steps(b, u, other))
			return false;
	return true;
}

static size_t find_cover(const struct covering *c, const struct order_reached *a)
{
	const struct base *b = &c->p->bases.data[c->base];

	for (size_t i = 0; i < c->p->bases.len; i++)
		if (!c->p->bases.data[i].mixed &&
		    covers(b, c->chance.condition, a, &c->p->bases.data[i]))
			return i;
	return SIZE_MAX;
}

/* ---- one chance ---- */

static struct err *cover(struct covering *c);

/* Is u anywhere beyond what it has in common with the run that covers? */
static struct err *look_beyond(struct covering *c, size_t by, uint32_t u)
{
	const struct base *b = &c->p->bases.data[c->base];
	const struct order_model *m = b->l.built.m;
	const struct order_thread *t = &m->threads.data[u];
	uint32_t common = common_steps(b, u, &c->p->bases.data[by]), i = 0, n = c->chance.ngoals;
	struct order_goal *goal = NULL, old;
	struct err *err;

	while (i < t->len && b->l.built.step[t->data[i]] < common)
		i++;
	if (i == t->len || m->events.data[t->data[i]].synthetic)
		return NULL;
	for (uint32_t g = 1; g < n; g++)
		if (c->chance.goals[g].thread == u)
			goal = &c->chance.goals[g];
	if (!goal && n == MAX_GOALS) {
		c->p->open_end = true;
		return NULL;
	}
	if (!goal)
		goal = &c->chance.goals[c->chance.ngoals++];
	old = *goal;
	*goal = (struct order_goal){ u, i + 1, UINT32_MAX, true };
	err = cover(c);
	*goal = old;
	c->chance.ngoals = n;
	return err;
}

static struct err *cover(struct covering *c)
{
	struct predict *p = c->p;
	struct order_reached a;
	struct err *err = round_ask(p, &p->bases.data[c->base], &c->chance, &a);
	size_t by, before = p->bases.len;

	if (err || a.status != ORDER_SAT)
		return err;
	by = find_cover(c, &a);
	if (by == SIZE_MAX) {
		err = round_propose(p, c->base, &c->chance, &a);
		c->more |= p->bases.len > before;
		by = find_cover(c, &a);
	}
	order_reached_deinit(&a);
	if (by == SIZE_MAX)
		p->open_end = true;
	for (uint32_t u = 0; by != SIZE_MAX && !err && !round_is_over(p) &&
			     u < p->bases.data[c->base].l.built.m->threads.len;
	     u++)
		if (u != c->chance.goals[0].thread)
			err = look_beyond(c, by, u);
	return err;
}

struct err *cover_all(struct predict *p, bool *more)
{
	struct err *err = NULL;

	*more = false;
	for (; p->covered < p->bases.len && !err && !round_is_over(p) && !*more; p->covered++) {
		size_t b = p->covered;

		for (size_t i = 0; i < p->bases.data[b].chances.len && !err && !round_is_over(p);
		     i++) {
			struct covering c = { p, b, p->bases.data[b].chances.data[i], false };

			if (p->bases.data[b].mixed || c.chance.condition == ORDER_NONE ||
			    c.chance.target || c.chance.loose || round_answer(p, b, i) != ORDER_SAT)
				continue;
			/* one run with another value does not stand for all values */
			p->open_end |= base_is_many(&p->bases.data[b], c.chance.condition);
			err = cover(&c);
			*more |= c.more;
		}
	}
	return err;
}

/* ---- may it be said? ---- */

static bool has_pointer_pins(const struct order_model *m)
{
	for (size_t i = 0; i < m->conditions.len; i++) {
		const struct term *t = term_get(&m->terms, m->conditions.data[i]);

		if (m->places.data[i].pin && term_arity(t) == 2 &&
		    term_get(&m->terms, t->a)->width == 64)
			return true;
	}
	return false;
}

/* Every chance of every base was asked about, and nothing narrows what counts as a failure. */
static bool asked_for_all(const struct predict *p)
{
	for (size_t b = 0; b < p->bases.len; b++)
		for (size_t i = 0; i < p->bases.data[b].chances.len; i++)
			if (!p->bases.data[b].mixed && !p->bases.data[b].chances.data[i].loose &&
			    !round_is_asked(p, b, i))
				return false;
	return (p->o.targets & PREDICT_DEFAULT) == PREDICT_DEFAULT && !p->o.at_file &&
	       !p->result->unwanted;
}

static void gap(struct predict *p, bool is_one, const char *text)
{
	if (is_one)
		names_intern(&p->result->gaps, text);
}

bool cover_is_proof(struct predict *p)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct predict_result *r = p->result;

	if (r->found.failures.len || r->out_of_budget || r->interrupted || !p->session)
		return false;
	for (size_t i = 0; i < p->bases.len; i++) {
		const struct base *b = &p->bases.data[i];

		if (b->mixed)
			continue;
		gap(p, b->may_stick,
		    "not asked: every way in which threads can wait for ever for each other");
		gap(p, b->frees, "not asked: can memory be used after it was given back");
		gap(p, b->l.open_results,
		    "not asked: calls whose result depends on the order (try, once)");
		gap(p, has_pointer_pins(b->l.built.m),
		    "not asked: other places that recorded pointers may name");
	}
	gap(p, !asked_for_all(p), "not everything was asked about");
	gap(p, p->open_end, "a question was not answered, or a proposal not run as asked");
	p->claim.ended = true;
	claim_look_at(&p->claim, p->binary);
	if (!claim_is_complete(&p->claim)) {
		claim_describe_gaps(&p->claim, "; ", &text);
		names_intern(&r->gaps, strbuf_str(&text));
	}
	return !r->gaps.len;
}
