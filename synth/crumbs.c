/* synth/crumbs.c - crumbs become what must have happened on the way to the dump (001 chapter 7).
 *
 * A line of a log names the statements that can have printed it: calls with a constant text whose format fits the line.
 * Each line is an event of the goal: one of these calls is made, in the order of the log, with anything in between. Of
 * several formats that fit, the one with the most text of its own counts. A line that no format fits says nothing.
 *
 * A fingerprint of watch names, for each thread of a deadlock, where it took the locks that it holds. The thread is known
 * by the stack with which it waits, which the dump has, too; steer.c asks for its locks. */
#include "synth/study.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/path.h"
#include "crumbs/crumbs.h"
#include "crumbs/format.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS_MOST = 200, LINES_MOST = 5000 };

/* ---- lines of a log ---- */

struct texts VEC_FIELDS(struct sym_call_text);

static void keep_text(void *arg, const struct sym_call_text *call)
{
	vec_push((struct texts *)arg, *call);
}

/* The calls that fit a line best, so far. */
struct best {
	struct sym_place *places;
	size_t n;
	unsigned fit;
};

static void offer(struct best *b, unsigned fit, struct sym_place at)
{
	if (!fit || fit < b->fit)
		return;
	b->n = fit > b->fit ? 0 : b->n;
	b->fit = fit;
	for (size_t i = 0; i < b->n; i++)
		if (b->places[i].function == at.function && b->places[i].pc == at.pc)
			return;
	b->places[b->n++] = at;
}

/* The calls that can have printed the line; false when there are none. A function that logs puts the text of its
 * caller into a format of its own: the caller is meant. */
static bool find_calls(const struct texts *texts, const char *line, struct happened *h)
{
	struct texts fitting = { 0 };
	struct best b = { 0 };

	for (size_t i = 0; i < texts->len; i++)
		if (format_fits(texts->data[i].text, line))
			vec_push(&fitting, texts->data[i]);
	b.places = xcalloc(fitting.len + 1, sizeof(*b.places));
	for (size_t i = 0; i < fitting.len; i++) {
		const struct sym_call_text *t = &fitting.data[i];

		offer(&b, format_fits(t->text, line), t->at);
		for (size_t k = 0; k < fitting.len; k++)
			if (strstr(fitting.data[k].text, "%"))
				offer(&b, format_fits_with(fitting.data[k].text, t->text, line),
				      t->at);
	}
	vec_deinit(&fitting);
	if (b.n)
		vec_push(&h->events, ((struct sym_event){ b.places, b.n }));
	else
		free(b.places);
	return b.n > 0;
}

static void reverse(struct happened *h)
{
	for (size_t i = 0, k = h->events.len; i + 1 < k--; i++) {
		struct sym_event e = h->events.data[i];

		h->events.data[i] = h->events.data[k];
		h->events.data[k] = e;
	}
}

/* Of each file some line must fit: or it is the log of another program. */
static struct err *check_files(const struct study *s, const bool *fits)
{
	const struct crumbs *c = s->o->crumbs;

	for (size_t i = 0; i < c->lines.len; i++) {
		size_t file = c->lines.data[i].file;

		if (!fits[file])
			return err_new(
				ERR_ENV,
				"%s: no line of it fits a text that %s prints: it is the log of "
				"another program",
				c->files.data[file], s->o->program);
	}
	return NULL;
}

static void tell_lines(struct study *s, size_t looked, size_t fit)
{
	char *text = xasprintf("%zu of %zu lines of the log name a statement of the program%s", fit,
			       looked, fit == EVENTS_MOST ? " (the last ones that do)" : "");

	names_intern(&s->r->crumbs, text);
	free(text);
}

struct err *happened_read(struct study *s, struct happened *ret)
{
	const struct crumbs *c = s->o->crumbs;
	struct texts texts = { 0 };
	struct err *err;
	size_t looked = 0;
	bool *fits;

	if (!c || !c->lines.len)
		return NULL;
	sym_call_texts(s->program, keep_text, &texts);
	fits = xcalloc(c->files.len + 1, sizeof(*fits));
	/* the last lines lie nearest to the failure */
	for (size_t i = c->lines.len;
	     i-- > 0 && looked < LINES_MOST && ret->events.len < EVENTS_MOST; looked++)
		fits[c->lines.data[i].file] |= find_calls(&texts, c->lines.data[i].text, ret);
	reverse(ret);
	err = looked == c->lines.len ? check_files(s, fits) : NULL;
	tell_lines(s, looked, ret->events.len);
	free(fits);
	vec_deinit(&texts);
	return err;
}

void happened_deinit(struct happened *h)
{
	for (size_t i = 0; i < h->events.len; i++)
		free((void *)h->events.data[i].places);
	vec_deinit(&h->events);
}

/* ---- locks ---- */

/* Frames of the program itself, as a stack of the goal has them. */
static void stack_of_use(const struct study *s, const struct crumb_use *u, struct synth_stack *ret)
{
	const char *program = path_name(stacks_program(s->stacks));

	*ret = (struct synth_stack){ .tid = u->tid, .whole = true };
	for (size_t i = 0; i < u->npoints; i++) {
		const struct crumb_point *p = &u->points[i];

		if (p->function && p->module && !strcmp(path_name(p->module), program))
			vec_push(&ret->points,
				 ((struct synth_point){ .function = xstrdup(p->function),
							.file = xstrdup(p->file ? p->file : ""),
							.own_name = function_own_name(p->function),
							.line = p->line }));
	}
}

static bool same_stack(const struct synth_stack *a, const struct synth_stack *b)
{
	bool same = a->points.len == b->points.len && a->points.len;

	for (size_t i = 0; same && i < a->points.len; i++)
		same = a->points.data[i].line == b->points.data[i].line &&
		       !strcmp(a->points.data[i].own_name, b->points.data[i].own_name);
	return same;
}

/* The use with which a thread waits as stack g of the goal does; its held locks stand before it. */
static const struct crumb_use *wanted_like(const struct study *s, size_t g)
{
	const struct crumbs *c = s->o->crumbs;

	for (size_t i = 0; c && i < c->uses.len; i++) {
		struct synth_stack k;
		bool same;

		if (!c->uses.data[i].wanted)
			continue;
		stack_of_use(s, &c->uses.data[i], &k);
		same = same_stack(&k, &s->r->goal.stacks.data[g]);
		synth_stack_deinit(&k);
		if (same)
			return &c->uses.data[i];
	}
	return NULL;
}

void held_read(const struct study *s, size_t g, struct held *ret)
{
	const struct crumb_use *u = wanted_like(s, g);

	if (!u)
		return;
	while (u > s->o->crumbs->uses.data && u[-1].tid == u->tid && !u[-1].wanted)
		u--;
	for (; !u->wanted; u++)
		stack_of_use(s, u, vec_add(&ret->stacks));
}

void held_deinit(struct held *h)
{
	for (size_t i = 0; i < h->stacks.len; i++)
		synth_stack_deinit(&h->stacks.data[i]);
	vec_deinit(&h->stacks);
}

/* ---- do they fit the dump? ---- */

static const char *build_id_of_program(const struct study *s)
{
	const char *program = path_name(stacks_program(s->stacks));

	for (size_t i = 0; i < s->dump.modules.len; i++)
		if (!strcmp(path_name(s->dump.modules.data[i].path), program))
			return s->dump.modules.data[i].build_id;
	return "";
}

/* The fingerprint's frames must be of the program that left the dump, and of its build. */
static struct err *check_use(const struct study *s, const struct crumb_use *u, bool *of_program)
{
	const char *program = path_name(stacks_program(s->stacks)), *id = build_id_of_program(s);

	for (size_t i = 0; i < u->npoints; i++) {
		const struct crumb_point *p = &u->points[i];

		if (!p->module || strcmp(path_name(p->module), program) != 0)
			continue;
		*of_program = true;
		if (p->build_id && *p->build_id && *id && strcmp(p->build_id, id) != 0 &&
		    !s->o->force)
			return err_new(ERR_ENV,
				       "%s: it is of another build of %s (%s) than the dump (%s)",
				       s->o->crumbs->files.data[u->file], program, p->build_id, id);
	}
	return NULL;
}

static struct err *check_locks(struct study *s)
{
	const struct crumbs *c = s->o->crumbs;
	struct err *err = NULL;
	bool of_program = false;
	size_t known = 0;

	for (size_t i = 0; i < c->uses.len && !err; i++)
		err = check_use(s, &c->uses.data[i], &of_program);
	if (err || !c->uses.len)
		return err;
	if (!of_program)
		return err_new(ERR_ENV, "%s: a fingerprint of another program than %s",
			       c->files.data[c->uses.data[0].file], stacks_program(s->stacks));
	for (size_t g = 0; s->r->goal.kind == SYNTH_DEADLOCK && g < s->r->goal.stacks.len; g++)
		known += wanted_like(s, g) != NULL;
	if (known)
		names_intern(&s->r->crumbs,
			     "the fingerprint says where the waiting threads took their locks");
	else
		names_intern(&s->r->notes, "the fingerprint was not used: no thread of it waits "
					   "where one of the dump does");
	return NULL;
}

struct err *crumbs_check(struct study *s)
{
	const struct crumbs *c = s->o->crumbs;

	if (!c)
		return NULL;
	if (c->checks.len)
		names_intern(&s->r->notes, "reports about broken hardware were not used: "
					   "`unplait rewind check --crumbs` decides about them");
	if (c->plaits.len)
		names_intern(&s->r->notes, "plaits were not used: synth does not follow them yet; "
					   "`unplait replay` or `unplait solve` may");
	if (c->branches.len)
		names_intern(&s->r->notes, "records of branches were not used: synth does not "
					   "follow them yet");
	return check_locks(s);
}
