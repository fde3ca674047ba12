/* synth/globals.c - a global variable of the program that differs from what it held at first was stored to.
 *
 * In the search these are intermediate goals: stores that can give the variable what the dump has (sym/ir/needs.h).
 * They order the search and kill nothing, because an optimiser may keep a variable in a register or drop a store, and
 * the dump is of another build than the one that is searched. Of pointers only counts whether they are null.
 *
 * When a run of the shipped binary ends in the dump's stacks, its variables are compared with the dump's, and which
 * of them agree is told. That they differ makes it no other failure: some hold times and addresses. */
#include "synth/study.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "debug/modules.h"

#include <string.h>

enum { NAMES_MOST = 6 };

/* "idx, mode and 3 others" */
static void add_list(struct strbuf *out, const struct names *n)
{
	size_t shown = n->len > NAMES_MOST + 1 ? NAMES_MOST : n->len;

	for (size_t i = 0; i < shown; i++)
		strbuf_addf(out, "%s%s", !i ? "" : i + 1 == n->len ? " and " : ", ", n->text[i]);
	if (shown < n->len)
		strbuf_addf(out, " and %zu others", n->len - shown);
}

static void tell(struct study *s, const struct names *variables)
{
	struct strbuf text = { 0 };

	if (!variables->len)
		return;
	strbuf_addf(&text, "%zu global variable%s that the program stored to: ", variables->len,
		    variables->len > 1 ? "s" : "");
	add_list(&text, variables);
	names_intern(&s->r->facts, strbuf_str(&text));
	strbuf_deinit(&text);
}

/* What the search can ask for; false when the two builds cannot be compared. */
static bool wanted(const struct global_part *p, uint64_t now, struct sym_stored *ret)
{
	*ret = (struct sym_stored){ .global = p->variable,
				    .size = p->size,
				    .offset = p->offset,
				    .bytes = p->bytes,
				    .value = p->pointer ? 0 : now,
				    .differs = p->pointer && now };
	return p->alone && (!p->pointer || !now || !p->first);
}

/* Plain variables first, then members and elements. */
static void take_parts(struct study *s, bool plain, struct names *variables)
{
	for (size_t i = 0; i < s->globals.parts.len; i++) {
		const struct global_part *p = &s->globals.parts.data[i];
		struct sym_stored stored;
		uint64_t now;
		bool changed;

		if ((p->bytes == p->size) != plain ||
		    !global_part_read(p, &s->dump, &now, &changed) || !changed)
			continue;
		names_intern(variables, p->variable);
		if (wanted(p, now, &stored))
			vec_push(&s->stored, stored);
	}
}

void globals_read(struct study *s)
{
	struct names variables = { 0 };

	err_free(globals_open(stacks_program(s->stacks), &s->globals));
	if (s->o->facts < SYNTH_FACTS_ALL)
		return;
	take_parts(s, true, &variables);
	take_parts(s, false, &variables);
	tell(s, &variables);
	names_deinit(&variables);
}

/* ---- which of them agree ---- */

static bool same_part(const struct global_part *p, uint64_t a, uint64_t b)
{
	return p->pointer ? !a == !b : a == b;
}

static void compare_part(struct study *s, const struct global_part *p, const struct dump *d,
			 struct names *agree, struct names *differ)
{
	bool changed = false, changed_there = false;
	uint64_t then, now;

	if (!global_part_read(p, &s->dump, &then, &changed) ||
	    !global_part_read(p, d, &now, &changed_there) || (!changed && !changed_there))
		return;
	names_intern(same_part(p, then, now) ? agree : differ, p->variable);
}

static bool has_name(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->len; i++)
		if (!strcmp(n->text[i], name))
			return true;
	return false;
}

void globals_compare(struct study *s, const char *core)
{
	struct names some = { 0 };
	struct dump d;
	struct err *err = dump_open(core, &d);

	names_deinit(&s->r->agree);
	names_deinit(&s->r->differ);
	s->r->agree = s->r->differ = (struct names){ 0 };
	for (size_t i = 0; !err && i < s->globals.parts.len; i++)
		compare_part(s, &s->globals.parts.data[i], &d, &some, &s->r->differ);
	/* a variable agrees if all of its parts do */
	for (size_t i = 0; i < some.len; i++)
		if (!has_name(&s->r->differ, some.text[i]))
			names_intern(&s->r->agree, some.text[i]);
	names_deinit(&some);
	err_free(err);
	dump_close(&d);
}
