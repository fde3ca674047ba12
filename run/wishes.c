/* run/wishes.c - see wishes.h. The idea of steering by reads-from pairs is that of reads-from
 * fuzzing; wishes are enforced softly by rt/control/constraints.c, whatever strategy runs below. */
#include "run/wishes.h"

#include "base/map.h"

#include <stdbool.h>
#include <string.h>

enum { LIKELIER = 4 };

static uint64_t draw(struct wisher *g, uint64_t n)
{
	g->random = hash_u64(g->random + 0x9e3779b97f4a7c15ull);
	return g->random % n;
}

static bool is_near(uint32_t a, uint32_t b)
{
	return a && b && (a < b ? b - a : a - b) <= WISHES_NEAR;
}

/* Does it touch what one of the wishes touches, as far as places in the code tell? */
static bool is_related(const struct wishes *to, const struct plait_pair *p)
{
	size_t i;

	for (i = 0; i < to->n; i++)
		if (is_near(p->read_site, to->w[i].read_site) ||
		    is_near(p->read_site, to->w[i].write_site) ||
		    is_near(p->write_site, to->w[i].read_site))
			return true;
	return false;
}

/* Pairs that were seen rarely, and not often wished for in vain, are likelier: 1/(1+n)^2, in
 * integers. Not every pair is possible. */
static uint64_t weight(const struct wisher *g, size_t i)
{
	const struct plait_pair *p = &g->known->pairs->pair[i];
	uint64_t c = 1 + (uint64_t)p->count + g->wished[i];

	if (g->related && !is_related(g->related, p))
		return 0;
	if (!g->all && (!knowledge_is_point(g->known, p->read_site) ||
			(p->write_site && !knowledge_is_point(g->known, p->write_site))))
		return 0;
	/* locks have many pairs, and most bugs are about memory */
	return (1 + 1000000 / (c * c)) * (knowledge_is_sync(g->known, p->read_site) ? 1 : LIKELIER);
}

static bool draw_wish(struct wisher *g, struct wish *ret)
{
	const struct plait_pairs *pairs = g->known->pairs;
	uint64_t total = 0, at;
	size_t i;

	for (i = 0; i < pairs->n; i++)
		total += weight(g, i);
	if (!total)
		return false;
	at = draw(g, total);
	for (i = 0; at >= weight(g, i); i++)
		at -= weight(g, i);
	g->wished[i] += g->wished[i] < UINT16_MAX;
	*ret = (struct wish){ pairs->pair[i].write_site, pairs->pair[i].read_site, 1 };
	/* mostly the first time, sometimes a later one */
	while (ret->nth < 20 && draw(g, 3) == 0)
		ret->nth++;
	return true;
}

static bool add_wish(struct wisher *g, struct wishes *to)
{
	struct wish w;
	size_t i;

	/* a second wish mostly belongs to the first: most bugs are about one thing */
	g->related = to->n && draw(g, 4) ? to : NULL;
	if (!draw_wish(g, &w)) {
		g->related = NULL;
		if (!draw_wish(g, &w))
			return false;
	}
	for (i = 0; i < to->n; i++)
		if (to->w[i].read_site == w.read_site)
			break;
	if (i == WISHES_MAX)
		i = draw(g, WISHES_MAX);
	if (i == to->n)
		to->n++;
	to->w[i] = w;
	return true;
}

static struct plait_pattern at_site(uint32_t site, uint32_t nth)
{
	return (struct plait_pattern){
		.thread = PLAIT_ANY, .site_low = site, .site_high = site, .nth = nth
	};
}

static void push(struct wisher *g, uint32_t kind, uint32_t a, uint32_t b, uint32_t nth)
{
	if (g->nconstraints < PLAIT_MAX_CONSTRAINTS)
		g->constraints[g->nconstraints++] = (struct plait_constraint){
			.kind = kind, .a = at_site(a, PLAIT_ANY), .b = at_site(b, nth)
		};
}

/* The initial value is wished for by holding back every write that the read could see. */
static void translate(struct wisher *g, const struct wish *w)
{
	const struct plait_pairs *pairs = g->known->pairs;
	size_t i;

	if (w->write_site) {
		push(g, PLAIT_CONSTRAINT_READS, w->write_site, w->read_site, w->nth);
		return;
	}
	for (i = 0; i < pairs->n; i++)
		if (pairs->pair[i].read_site == w->read_site && pairs->pair[i].write_site &&
		    pairs->pair[i].write_site != w->read_site)
			push(g, PLAIT_CONSTRAINT_FIRST, pairs->pair[i].write_site, w->read_site,
			     w->nth);
}

bool wisher_next(struct wisher *g, const struct knowledge *k, bool all)
{
	size_t i, n = 1 + draw(g, WISHES_MAX);

	g->known = k;
	g->all = all;
	memset(&g->last, 0, sizeof(g->last));
	g->nconstraints = 0;
	if (g->nkept && draw(g, 2)) {
		g->last = g->kept[draw(g, g->nkept)];
		n = draw(g, 2);
	}
	for (i = 0; i < n; i++)
		if (!add_wish(g, &g->last))
			return false;
	for (i = 0; i < g->last.n; i++)
		translate(g, &g->last.w[i]);
	return true;
}

void wisher_learn(struct wisher *g, const struct wishes *wishes, uint32_t new_pairs)
{
	size_t i;

	if (!new_pairs || !wishes->n)
		return;
	i = g->nkept < WISHES_KEPT ? g->nkept++ : draw(g, WISHES_KEPT);
	g->kept[i] = *wishes;
}
