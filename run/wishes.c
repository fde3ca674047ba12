/* run/wishes.c - see wishes.h. The idea of steering by reads-from pairs is that of reads-from
 * fuzzing; wishes are enforced softly by rt/control/constraints.c, whatever strategy runs below. */
#include "run/wishes.h"

#include "base/map.h"

#include <stdbool.h>
#include <string.h>

static uint64_t draw(struct wisher *g, uint64_t n)
{
	g->random = hash_u64(g->random + 0x9e3779b97f4a7c15ull);
	return g->random % n;
}

/* Rare pairs are likelier: weight 1/(1+count)^2, in integers. */
static uint64_t weight(const struct wisher *g, const struct plait_pair *p)
{
	uint64_t c = 1 + (uint64_t)p->count;

	if (!g->all && (!knowledge_is_point(g->known, p->read_site) ||
			(p->write_site && !knowledge_is_point(g->known, p->write_site))))
		return 0;
	return 1 + 1000000 / (c * c);
}

static bool draw_wish(struct wisher *g, struct wish *ret)
{
	const struct plait_pairs *pairs = g->known->pairs;
	uint64_t total = 0, at;
	size_t i;

	for (i = 0; i < pairs->n; i++)
		total += weight(g, &pairs->pair[i]);
	if (!total)
		return false;
	at = draw(g, total);
	for (i = 0; at >= weight(g, &pairs->pair[i]); i++)
		at -= weight(g, &pairs->pair[i]);
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

	if (!draw_wish(g, &w))
		return false;
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
