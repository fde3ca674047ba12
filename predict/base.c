/* predict/base.c - a recording as a model, with its decisions named so that other recordings of the
 * same decisions are recognised.
 *
 * The name of a decision (its node) is a hash of the thread's name and of all that the thread did
 * and decided before: kinds and places of its events, sides of its branches, values that became
 * addresses. Two runs in which a thread comes to the same node have the same thread up to there. */
#include "predict/base.h"

#include "base/err.h"
#include "debug/names.h"
#include "sym/sym.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
	return hash_u64(h ^ hash_u64(v + 0x9e3779b97f4a7c15ull));
}

/* ---- nodes ---- */

struct decided {
	struct order_place at;
	uint32_t condition;
};

static int by_place(const void *a, const void *b)
{
	const struct decided *x = a, *y = b;

	if (x->at.thread != y->at.thread)
		return x->at.thread < y->at.thread ? -1 : 1;
	if (x->at.index != y->at.index)
		return x->at.index < y->at.index ? -1 : 1;
	if (x->at.nth != y->at.nth)
		return x->at.nth < y->at.nth ? -1 : 1;
	return x->condition < y->condition ? -1 : x->condition > y->condition;
}

/* How a decision went: the side, or the value. */
static uint64_t outcome_of(const struct order_model *m, uint32_t condition)
{
	const struct order_place *p = &m->places.data[condition];
	const struct term *t = term_get(&m->terms, m->conditions.data[condition]);
	uint64_t value = 0;

	if (!p->pin)
		return p->was;
	for (int i = 0; i < 2; i++) {
		const struct term *x =
			term_arity(t) == 2 ? term_get(&m->terms, i ? t->b : t->a) : NULL;

		if (x && x->op == TERM_CONST)
			value = x->value;
	}
	return value + 2;
}

/* Only what decides something and can be asked about: once and the like have no site. */
static bool is_chance(const struct order_model *m, uint32_t condition)
{
	return m->places.data[condition].thread != ORDER_NONE && m->places.data[condition].site;
}

static void find_chances(struct base *b)
{
	const struct order_model *m = b->l.built.m;
	VEC(struct decided) all = { 0 };
	size_t at = 0;

	for (uint32_t i = 0; i < m->conditions.len; i++)
		if (m->places.data[i].thread != ORDER_NONE)
			vec_push(&all, ((struct decided){ m->places.data[i], i }));
	vec_sort(&all, by_place);
	for (uint32_t t = 0; t < m->threads.len; t++) {
		const struct order_thread *x = &m->threads.data[t];
		uint64_t h = hash_bytes(x->name, strlen(x->name), 1);

		for (uint32_t i = 0; i <= x->len; i++) {
			for (; at < all.len && all.data[at].at.thread == t &&
			       all.data[at].at.index == i;
			     at++) {
				uint32_t c = all.data[at].condition;

				if (is_chance(m, c))
					vec_push(&b->chances,
						 ((struct chance){
							 .condition = c,
							 .node = h,
							 .behind = (uint32_t)x->len - i,
							 .ngoals = 1,
							 .goals = { { t, i, all.data[at].at.nth,
								      false } },
						 }));
				h = mix(mix(h, m->places.data[c].site), outcome_of(m, c));
			}
			if (i < x->len && !m->events.data[x->data[i]].synthetic)
				h = mix(mix(h, m->events.data[x->data[i]].kind),
					m->events.data[x->data[i]].site);
		}
		b->path = mix(b->path, h);
	}
	vec_deinit(&all);
}

/* ---- opening ---- */

struct err *base_open(const char *plait, const char *recording, struct sym_program *program,
		      double seconds, uint32_t targets, struct base *ret)
{
	struct load_options load = { .seconds = seconds, .program = program };
	struct err *err;

	*ret = (struct base){ .plait = xstrdup(plait), .recording = xstrdup(recording) };
	err = trace_open(plait, &ret->trace);
	if (!err)
		err = load_recording(ret->trace, &load, &ret->l);
	if (err) {
		base_close(ret);
		return err;
	}
	if (ret->l.unsupported)
		return NULL;
	err = symbols_open(ret->trace, &ret->symbols);
	if (err) { /* names are nice to have */
		err_free(err);
		ret->symbols = NULL;
	}
	ret->reach = order_reach_open(ret->l.built.m);
	find_chances(ret);
	if (!(targets & PREDICT_DECISIONS))
		vec_clear(&ret->chances);
	targets_find(ret, targets);
	return NULL;
}

void base_close(struct base *b)
{
	flips_deinit(&b->flips);
	vec_deinit(&b->chances);
	order_reach_close(b->reach);
	symbols_close(b->symbols);
	loaded_deinit(&b->l);
	trace_close(b->trace);
	free(b->plait);
	free(b->recording);
	*b = (struct base){ 0 };
}

/* ---- for people ---- */

static void add_flip(const struct base *b, uint32_t thread, uint64_t site, struct predict_flip f,
		     struct predict_flips *ret)
{
	struct code_point at;
	bool known = b->symbols && symbols_site(b->symbols, (uint32_t)site, &at);

	snprintf(f.thread, sizeof(f.thread), "%s", b->l.built.m->threads.data[thread].name);
	f.file = xstrdup(known ? at.file : "");
	f.line = known ? at.line : 0;
	f.function = xstrdup(known ? at.function : "");
	vec_push(ret, f);
}

void base_describe(const struct base *b, const struct chance *c, struct predict_flips *ret)
{
	const struct order_model *m = b->l.built.m;

	if (c->condition != ORDER_NONE) {
		const struct order_place *p = &m->places.data[c->condition];
		struct predict_flip f = { .change = p->pin ? PREDICT_VALUE : PREDICT_BRANCH,
					  .was = p->was,
					  .now = !p->was };

		add_flip(b, p->thread, p->site, f, ret);
		return;
	}
	for (uint32_t i = 0; i < c->ngoals; i++) {
		const struct order_goal *g = &c->goals[i];
		const struct order_thread *t = &m->threads.data[g->thread];
		uint32_t next = g->passes ? g->index - 1 : MIN(g->index, (uint32_t)t->len - 1);

		add_flip(b, g->thread, m->events.data[t->data[next]].site,
			 (struct predict_flip){ .change = PREDICT_STOP }, ret);
	}
}

void flips_deinit(struct predict_flips *f)
{
	for (size_t i = 0; i < f->len; i++) {
		free(f->data[i].file);
		free(f->data[i].function);
	}
	vec_deinit(f);
}

void flips_copy(struct predict_flips *to, const struct predict_flips *from)
{
	for (size_t i = 0; i < from->len; i++) {
		struct predict_flip c = from->data[i];

		c.file = xstrdup(c.file);
		c.function = xstrdup(c.function);
		vec_push(to, c);
	}
}
