/* predict/base.c - a recording as a model, with its decisions named so that other recordings of the
 * same decisions are recognised.
 *
 * The name of a decision (its node) is a hash of the thread's name and of all that the thread has
 * decided before: sides of its branches, values that became addresses, results of calls
 * (solve/load.c). Two runs in which a thread comes to the same node have the same thread up to
 * there. */
#include "predict/base.h"

#include "base/err.h"
#include "debug/names.h"
#include "sym/sym.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* Only what decides something and can be asked about: once and the like have no site. */
static bool is_chance(const struct order_model *m, uint32_t condition)
{
	return m->places.data[condition].thread != ORDER_NONE && m->places.data[condition].site;
}

static void find_chances(struct base *b)
{
	const struct order_model *m = b->l.built.m;

	for (uint32_t c = 0; c < m->conditions.len; c++) {
		const struct order_place *p = &m->places.data[c];

		if (is_chance(m, c))
			vec_push(&b->chances,
				 ((struct chance){
					 .condition = c,
					 .behind = (uint32_t)m->threads.data[p->thread].len -
						   p->index,
					 .ngoals = 1,
					 .goals = { { p->thread, p->index, p->nth, false } } }));
	}
	for (size_t t = 0; t < b->l.ntrails; t++)
		b->path = hash_u64(b->path ^ *vec_last(&b->l.trails[t])) + t;
}

/* Who writes something else there can turn a decision that a failure depends on. */
static void find_wanted(struct base *b)
{
	const struct order_model *m = b->l.built.m;
	struct map cells = { 0 };

	for (size_t i = 0; i < m->conditions.len; i++) {
		struct order_cells blamed;

		if (m->places.data[i].pin || m->places.data[i].doom > 1)
			continue;
		order_reach_blame(m, m->conditions.data[i], &blamed);
		for (size_t k = 0; k < blamed.len; k++)
			map_put(&cells, blamed.data[k], 1);
		vec_deinit(&blamed);
	}
	b->writes = xcalloc(m->threads.len + 1, sizeof(*b->writes));
	for (size_t e = 0; e < m->events.len && b->symbols; e++) {
		const struct order_event *x = &m->events.data[e];
		struct code_point at;

		if (x->value == TERM_NONE || !symbols_site(b->symbols, (uint32_t)x->site, &at) ||
		    !at.site)
			continue;
		b->writes[x->thread] |= sym_writes(at.site);
		if (map_find(&cells, x->object))
			b->wanted |= sym_writes(at.site);
	}
	map_deinit(&cells);
}

/* Chances at the place that the user names. */
static void find_asked_for(struct base *b, const struct predict_options *o)
{
	for (size_t i = 0; i < b->chances.len && o->at_file && b->symbols; i++) {
		struct chance *c = &b->chances.data[i];
		const struct order_thread *t = &b->l.built.m->threads.data[c->goals[0].thread];
		uint64_t site = c->condition != ORDER_NONE
					? b->l.built.m->places.data[c->condition].site
				: c->goals[0].index < t->len
					? b->l.built.m->events.data[t->data[c->goals[0].index]].site
					: 0;
		struct code_point at;

		c->asked_for = symbols_site(b->symbols, (uint32_t)site, &at) &&
			       predict_is_at(o, at.file, at.line);
	}
}

/* ---- opening ---- */

static void open_loose(struct base *b)
{
	const struct order_model *m = b->l.built.m;
	bool any = false;

	for (uint32_t c = 0; c < m->conditions.len; c++)
		any |= m->places.data[c].pin;
	if (!any)
		return;
	b->loose_model = order_model_copy(m);
	for (uint32_t c = 0; c < m->conditions.len; c++)
		if (m->places.data[c].pin)
			b->loose_model->conditions.data[c] =
				term_const(&b->loose_model->terms, 1, 1);
	b->loose = order_reach_open(b->loose_model);
}

static struct err *look_for_frees(struct base *b)
{
	const struct event *ev;
	bool threads = false;
	struct cursor c;
	struct err *err;

	cursor_init(&c, b->trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		threads |= ev->kind == PLAIT_EV_FORK;
		b->frees |= threads && ev->kind == PLAIT_EV_FREE;
	}
	cursor_deinit(&c);
	return err;
}

bool base_is_many(const struct base *b, uint32_t condition)
{
	const struct order_place *p = &b->l.built.m->places.data[condition];
	struct code_point at;

	return p->pin || p->was > 1 || !b->symbols ||
	       !symbols_site(b->symbols, (uint32_t)p->site, &at) || !at.site ||
	       at.site->kind != PLAIT_SITE_BRANCH;
}

/* By values where the threads cannot be followed, if the recording has them. */
static struct err *load(struct base *b, const struct load_options *o, enum predict_method method)
{
	_cleanup_(xfreep) char *why = NULL;
	struct err *err;

	if (method == PREDICT_VALUES && load_has_values(b->trace))
		return load_values(b->trace, &b->l);
	err = load_recording(b->trace, o, &b->l);
	if (err || !b->l.unsupported || method != PREDICT_AUTO || o->ndetours ||
	    !load_has_values(b->trace))
		return err;
	why = xstrdup(b->l.unsupported);
	loaded_deinit(&b->l);
	err = load_values(b->trace, &b->l);
	if (!err)
		names_intern(&b->l.gaps, why);
	return err;
}

struct err *base_open(const char *plait, const char *recording, struct sym_program *program,
		      double seconds, const struct predict_options *o,
		      const struct sym_detour *detour, struct base *ret)
{
	struct load_options options = { .seconds = seconds,
					.program = program,
					.keep = o->published,
					.detours = detour,
					.ndetours = detour ? 1 : 0 };
	struct err *err;

	*ret = (struct base){ .plait = xstrdup(plait), .recording = xstrdup(recording) };
	err = trace_open(plait, &ret->trace);
	if (!err)
		err = look_for_frees(ret);
	if (!err)
		err = load(ret, &options, o->method);
	if (err) {
		base_close(ret);
		return err;
	}
	if (ret->l.unsupported || ret->l.open_path)
		return NULL;
	err = symbols_open(ret->trace, &ret->symbols);
	if (err) { /* names are nice to have */
		err_free(err);
		ret->symbols = NULL;
	}
	ret->reach = order_reach_open(ret->l.built.m);
	open_loose(ret);
	find_chances(ret);
	find_wanted(ret);
	targets_find(ret, o->targets);
	meetings_find(ret, o->targets);
	find_asked_for(ret, o);
	return NULL;
}

void base_close(struct base *b)
{
	flips_deinit(&b->flips);
	vec_deinit(&b->chances);
	free(b->writes);
	order_reach_close(b->reach);
	order_reach_close(b->loose);
	order_model_free(b->loose_model);
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
					  .was = p->was != 0,
					  .now = !p->was };

		add_flip(b, p->thread, p->site, f, ret);
		return;
	}
	for (uint32_t i = 0; i < c->ngoals; i++) {
		const struct order_goal *g = &c->goals[i];
		const struct order_thread *t = &m->threads.data[g->thread];
		uint32_t next = g->passes ? g->index - 1 : MIN(g->index, (uint32_t)t->len - 1);
		enum predict_change change = c->target == PREDICT_RACE	   ? PREDICT_RACING
					     : c->target != PREDICT_MEMORY ? PREDICT_STOP
					     : g->passes		   ? PREDICT_FREE
									   : PREDICT_USE;

		add_flip(b, g->thread, m->events.data[t->data[next]].site,
			 (struct predict_flip){ .change = change }, ret);
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
