/* explain/cure/widen.c - a cure speaks of source lines; inlining makes copies of a line.
 *
 * Each copy has a site of its own. A cure that was found at one copy is enforced at all of them. */
#include "explain/cure/cure.h"

#include "base/err.h"
#include "base/vec.h"
#include "debug/names.h"

#include <string.h>

struct site_list VEC_FIELDS(uint32_t);

/* All that a macro does is at one column: within one function, copies are of one object. */
static bool same_line(const struct plait_site *a, const struct plait_site *b)
{
	bool together =
		a->ir_function == b->ir_function && a->inlined_at_line == b->inlined_at_line;

	return a->kind == b->kind && a->line == b->line && a->column == b->column &&
	       a->file == b->file && (!together || a->object == b->object);
}

static void find_copies(struct symbols *symbols, uint32_t site, struct site_list *ret)
{
	uint32_t local;
	const struct sites *table = symbols_sites(symbols, site, &local);

	if (!table) {
		vec_push(ret, site);
		return;
	}
	for (uint32_t i = 0; i < table->header.nsites; i++)
		if (same_line(&table->sites[i], &table->sites[local]))
			vec_push(ret, site - local + i);
}

/* Which function the code of a site ended up in, after inlining. */
static uint32_t host_of(struct symbols *symbols, uint32_t site)
{
	uint32_t local;
	const struct sites *table = symbols_sites(symbols, site, &local);

	return table ? table->sites[local].ir_function : UINT32_MAX;
}

/* Leave in `list` what has a copy of the other end of the block in its own function. */
static void keep_paired(struct symbols *symbols, struct site_list *list,
			const struct site_list *others)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++) {
		uint32_t host = host_of(symbols, list->data[i]);
		bool paired = false;

		for (size_t k = 0; k < others->len && !paired; k++)
			paired = host_of(symbols, others->data[k]) == host;
		if (paired)
			list->data[kept++] = list->data[i];
	}
	list->len = kept;
}

/* The nearest copy of the block's last line after its first one, in the same function if that is
 * asked for; else the i-th. */
static uint32_t end_for(struct symbols *symbols, const struct site_list *to, uint32_t from,
			size_t i, bool together)
{
	uint32_t best = to->data[MIN(i, to->len - 1)], host = host_of(symbols, from);
	bool fits = !together || host_of(symbols, best) == host;

	for (size_t k = 0; k < to->len; k++) {
		uint32_t site = to->data[k];

		if (together && host_of(symbols, site) != host)
			continue;
		if (!fits || (site >= from && (best < from || site < best)))
			best = site;
		fits = true;
	}
	return best;
}

/* From a later line of a function to an earlier one: a loop, or the function is called again. */
static bool goes_back(struct symbols *symbols, uint32_t from, uint32_t to)
{
	struct code_point a, b;

	return symbols_site(symbols, from, &a) && symbols_site(symbols, to, &b) && a.line &&
	       b.line && strcmp(a.file, b.file) == 0 && strcmp(a.function, b.function) == 0 &&
	       b.line < a.line;
}

/* Each copy of the block's first line with the nearest later copy of its last. Of a block within
 * one function the copies are, too: a helper's line that is inlined in two places begins no block
 * in the one and ends it in the other. */
static void widen(struct symbols *symbols, const struct plait_constraint *c, uint8_t block,
		  struct cure *out)
{
	struct site_list from = { 0 }, to = { 0 };
	bool together = c->kind == PLAIT_CONSTRAINT_ATOMIC &&
			host_of(symbols, c->a.site_low) == host_of(symbols, c->b.site_low);

	if (c->kind != PLAIT_CONSTRAINT_LATE)
		find_copies(symbols, c->a.site_low, &from);
	else
		vec_push(&from, c->a.site_low);
	find_copies(symbols, c->b.site_low, &to);
	for (size_t i = 0; i < from.len && !out->nconstraints; i++)
		out->loop |= from.data[i] == c->b.site_low;
	if (!out->nconstraints && c->kind == PLAIT_CONSTRAINT_ATOMIC)
		out->loop |= goes_back(symbols, c->a.site_low, c->b.site_low);
	if (together) {
		keep_paired(symbols, &from, &to);
		keep_paired(symbols, &to, &from);
	}
	/* a loop may have been unrolled: any of its rounds may be the last */
	if (out->stretch && c->kind == PLAIT_CONSTRAINT_ATOMIC && to.len > 1 &&
	    !(c->flags & PLAIT_CONSTRAINT_SINGLE))
		out->last = true;
	for (size_t i = 0; i < MAX(from.len, to.len) && out->nconstraints < CURE_CONSTRAINTS; i++) {
		struct plait_constraint copy = *c;
		uint32_t f = from.data[MIN(i, from.len - 1)], best = to.data[MIN(i, to.len - 1)];

		if (out->last)
			copy.flags |= PLAIT_CONSTRAINT_LAST;
		else if (from.len > 1)
			best = end_for(symbols, &to, f, i, together);
		copy.a.site_low = copy.a.site_high = f;
		copy.b.site_low = copy.b.site_high = best;
		out->block[out->nconstraints] = block;
		out->constraints[out->nconstraints++] = copy;
	}
	vec_deinit(&from);
	vec_deinit(&to);
}

/* Within one line there is no room for a barrier. */
static bool on_one_line(struct symbols *symbols, const struct plait_constraint *c)
{
	struct code_point a, b;

	return symbols_site(symbols, c->a.site_low, &a) &&
	       symbols_site(symbols, c->b.site_low, &b) && a.line && a.line == b.line &&
	       strcmp(a.file, b.file) == 0;
}

struct err *cure_widen(struct trace *trace, struct cure *cure)
{
	struct symbols *symbols = NULL;
	struct cure wide = *cure;
	struct err *err = symbols_open(trace, &symbols);

	wide.nconstraints = 0;
	if (!err && cure->barrier && on_one_line(symbols, &cure->constraints[0]))
		cure->nconstraints = 0;
	for (size_t i = 0; i < cure->nconstraints && !err; i++)
		widen(symbols, &cure->constraints[i], cure->block[i], &wide);
	symbols_close(symbols);
	if (!err)
		*cure = wide;
	return err;
}
