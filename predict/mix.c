/* predict/mix.c - suppliers: one run's path of a thread beside the other threads' paths of another run.
 *
 * A failure may need that one thread goes as in one run and another as in another run. No single
 * base says so, and each flip alone may lead nowhere. 000 section 5.2.2 looks paths up among all
 * runs; so do we: whenever a run is new, its threads' paths are put beside the paths of the runs
 * before it, and theirs beside its own, where the lender writes something that a decision near a
 * failure looks at. The symbolic machine follows the recording with the lent sides of branches
 * (sym_detour), and only decisions near a failure are asked about: the rest was, or will be, on paths
 * of runs that have been.
 *
 * Such a base is no run. Its "no" proves nothing, and what it proposes is run natively as ever. */
#include "predict/round.h"

#include "base/err.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

/* Following what is lent may take so long before anything else, and that part of the time later. */
#define FIRST_SECONDS 0.5
#define SHARE	      0.25

static uint32_t thread_named(const struct base *b, const char *name)
{
	const struct order_model *m = b->l.built.m;

	for (uint32_t t = 0; t < m->threads.len; t++)
		if (strcmp(m->threads.data[t].name, name) == 0)
			return t;
	return ORDER_NONE;
}

static const char *path_of(const struct base *b, uint32_t thread)
{
	return strbuf_str(&b->l.paths[thread]);
}

/* ---- who can lend what ---- */

static uint64_t loan_key(size_t base, uint32_t thread)
{
	return (uint64_t)base << 32 | thread;
}

/* Is a path worth being put beside base's others? */
static void consider(struct predict *p, size_t base, uint32_t thread, const char *bits,
		     size_t lender)
{
	struct loan new = { base, thread, lender, NULL };
	uint64_t *n = map_put(&p->lent, loan_key(base, thread), 0);

	if (*n >= p->o.traces || strcmp(path_of(&p->bases.data[base], thread), bits) == 0)
		return;
	++*n;
	new.bits = xstrdup(bits);
	vec_push(&p->loans, new);
}

/* Every thread of one run beside the other run's others. */
static void lend(struct predict *p, size_t lender, size_t base)
{
	const struct base *from = &p->bases.data[lender], *to = &p->bases.data[base];

	for (uint32_t u = 0; u < from->l.built.m->threads.len; u++) {
		uint32_t v = thread_named(to, from->l.built.m->threads.data[u].name);

		if (v != ORDER_NONE && from->writes[u] & to->wanted)
			consider(p, base, v, path_of(from, u), lender);
	}
}

void mix_note(struct predict *p, size_t base)
{
	if (p->o.published)
		return;
	for (size_t i = 0; i < base; i++) {
		if (p->bases.data[i].mixed)
			continue;
		lend(p, base, i);
		lend(p, i, base);
	}
}

struct err *mix_note_stored(struct predict *p)
{
	const struct base *b = &p->bases.data[0];
	struct err *err = NULL;

	for (uint32_t t = 0; p->store && t < b->l.built.m->threads.len && !err; t++) {
		struct paths_texts found = { 0 };

		err = paths_find(p->store, p->key, b->l.built.m->threads.data[t].name, "",
				 p->o.traces + 1, &found);
		for (size_t i = 0; i < found.len && !err; i++)
			consider(p, 0, t, found.data[i], 0);
		paths_texts_deinit(&found);
	}
	return err;
}

/* ---- asking about it ---- */

/* What the failing run does otherwise: this thread goes as in another run, and what led there. */
static void add_flips(const struct predict *p, const struct loan *l, struct predict_flips *ret)
{
	const struct base *b = &p->bases.data[l->base], *from = &p->bases.data[l->lender];
	const char *name = b->l.built.m->threads.data[l->thread].name;
	struct predict_flip f = { .change = PREDICT_LENT, .function = xstrdup("") };

	snprintf(f.thread, sizeof(f.thread), "%s", name);
	f.file = l->lender == l->base ? xstrdup("the store") : predict_name(p, from->recording);
	flips_copy(ret, &b->flips);
	vec_push(ret, f);
	for (size_t i = 0; i < from->flips.len && l->lender != l->base; i++) {
		struct predict_flips one = { &from->flips.data[i], 1, 1 };

		if (strcmp(from->flips.data[i].thread, name) == 0)
			flips_copy(ret, &one);
	}
}

static void keep_near(struct base *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->chances.len; i++) {
		const struct chance *c = &b->chances.data[i];

		if (!c->target && !c->loose && b->l.built.m->places.data[c->condition].doom <= 1)
			b->chances.data[n++] = *c;
	}
	b->chances.len = n;
}

static struct err *follow(struct predict *p, const struct loan *l)
{
	const struct base *to = &p->bases.data[l->base];
	struct sym_detour detour = { l->thread, l->bits };
	double start = clock_seconds();
	struct base b;
	struct err *err = base_open(to->plait, to->recording, p->program,
				    MAX(MIN(p->deadline - start, 1), 0.1), &p->o, &detour, &b);

	p->result->seconds_load += clock_seconds() - start;
	p->mix_seconds += clock_seconds() - start;
	if (err)
		return err;
	if (!b.l.unsupported && !b.l.open_path)
		keep_near(&b);
	if (!b.chances.len || map_find(&p->paths, b.path)) {
		base_close(&b);
		return NULL;
	}
	map_put(&p->paths, b.path, 1);
	b.mixed = true;
	add_flips(p, l, &b.flips);
	vec_push(&p->bases, b);
	p->result->mixed++;
	return NULL;
}

struct err *mix_next(struct predict *p)
{
	double most = FIRST_SECONDS + SHARE * (clock_seconds() - p->begun);
	struct err *err = NULL;

	while (!err && p->loan < p->loans.len && !round_is_over(p) &&
	       (p->o.steady || p->mix_seconds < most))
		err = follow(p, &p->loans.data[p->loan++]);
	return err;
}

void mix_deinit(struct predict *p)
{
	for (size_t i = 0; i < p->loans.len; i++)
		free(p->loans.data[i].bits);
	vec_deinit(&p->loans);
	map_deinit(&p->lent);
}
