/* run/focus.c - see focus.h. A piece of memory is known by its write-to-read pairs: a read site
 * that is drawn, the sites that write what it reads, and the sites that read what those write. */
#include "run/focus.h"

#include "base/map.h"

enum { EVERYTHING = 4, SYNC = 3 }; /* one run in so many */

static uint64_t draw(uint64_t *random, uint64_t n)
{
	*random = hash_u64(*random + 0x9e3779b97f4a7c15ull);
	return *random % n;
}

static bool has(const struct focus *f, uint32_t site)
{
	for (size_t i = 0; i < f->nsites; i++)
		if (f->sites[i] == site)
			return true;
	return false;
}

static void add(const struct knowledge *k, struct focus *f, uint32_t site)
{
	if (site && f->nsites < PLAIT_MAX_FOCUS && !has(f, site) && knowledge_is_point(k, site))
		f->sites[f->nsites++] = site;
}

/* Locks have many pairs, and most bugs are about memory. */
static bool is_usable(const struct knowledge *k, const struct plait_pair *p, bool sync)
{
	return (sync || !knowledge_is_sync(k, p->read_site)) && p->write_site &&
	       knowledge_is_point(k, p->write_site) && knowledge_is_point(k, p->read_site);
}

/* The n-th pair that is one of points; n counts down. */
static const struct plait_pair *usable(const struct knowledge *k, bool sync, uint64_t *n)
{
	for (size_t i = 0; i < k->pairs->n; i++)
		if (is_usable(k, &k->pairs->pair[i], sync) && (*n)-- == 0)
			return &k->pairs->pair[i];
	return NULL;
}

static void draw_sites(uint64_t *random, const struct knowledge *k, struct focus *f)
{
	const struct plait_pair *p = k->pairs->pair;
	uint64_t at = UINT64_MAX, n;
	const struct plait_pair *chosen;
	bool sync = draw(random, SYNC) == 0;

	usable(k, sync, &at);
	n = UINT64_MAX - at;
	if (!n || draw(random, EVERYTHING) == 0)
		return;
	at = draw(random, n);
	chosen = usable(k, sync, &at);
	add(k, f, chosen->read_site);
	for (size_t i = 0; i < k->pairs->n; i++)
		if (p[i].read_site == chosen->read_site)
			add(k, f, p[i].write_site);
	for (size_t i = 0; i < k->pairs->n; i++)
		if (p[i].write_site && has(f, p[i].write_site))
			add(k, f, p[i].read_site);
}

/* What children do counts as their makers' too; makers have smaller numbers. */
static void weigh(const struct knowledge *k, struct focus *f)
{
	for (size_t i = 0; i < PLAIT_CONTROL_COUNTS_MAX; i++) {
		const struct plait_count *c = &k->counts[i];

		if (c->thread && c->thread <= FOCUS_THREADS && (!f->nsites || has(f, c->site)))
			f->weights[c->thread - 1] += c->count;
	}
	for (uint32_t t = FOCUS_THREADS; t-- > 1;)
		if (k->parents[t] && k->parents[t] <= t)
			f->weights[k->parents[t] - 1] += f->weights[t];
}

void focus_draw(uint64_t *random, const struct knowledge *k, struct focus *ret)
{
	memset(ret, 0, sizeof(*ret));
	draw_sites(random, k, ret);
	weigh(k, ret);
}
