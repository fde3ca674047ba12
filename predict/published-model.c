/* predict/published-model.c - assertions, Phi_fail and the branches near an assertion, of a model. */
#include "predict/published.h"

#include "order/order.h"

bool published_is_assertion(const struct order_model *m, uint32_t condition)
{
	const struct order_place *p = &m->places.data[condition];

	return p->thread != ORDER_NONE && !p->pin && p->doom == 0;
}

/* What its thread decides behind the assertion has no say. */
static bool is_behind(const struct order_place *p, const struct order_place *assertion)
{
	return p->thread == assertion->thread && p->nth > assertion->nth;
}

struct order_model *published_failing(const struct order_model *m, uint32_t assertion)
{
	struct order_model *f = order_model_copy(m);
	struct order_place at = m->places.data[assertion];
	term_id bug = term_not(&f->terms, f->conditions.data[assertion]);
	const struct order_thread *t = &f->threads.data[at.thread];
	size_t n = 0;

	for (size_t i = 0; i < f->conditions.len; i++) {
		if (i == assertion || is_behind(&f->places.data[i], &at))
			continue;
		f->places.data[n] = f->places.data[i];
		f->conditions.data[n++] = f->conditions.data[i];
	}
	f->conditions.len = f->places.len = n;
	order_failure(f, t->data[at.index ? at.index - 1 : 0], bug);
	return f;
}

/* ---- near the assertion ---- */

struct near {
	struct published_branch branch;
	bool behind;	 /* the assertion */
	size_t distance; /* in the order, in events */
	uint32_t nth;
};

static int compare_near(const void *pa, const void *pb)
{
	const struct near *a = pa, *b = pb;

	if (a->behind != b->behind)
		return a->behind - b->behind;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->behind ? (int)a->nth - (int)b->nth : (int)b->nth - (int)a->nth;
}

/* Where in the order is a decision made? Behind the event before it. */
static size_t position(const struct order_model *m, const size_t *at, uint32_t condition)
{
	const struct order_place *p = &m->places.data[condition];

	return p->index ? at[m->threads.data[p->thread].data[p->index - 1]] + 1 : 0;
}

void published_nearest(const struct order_model *m, const uint32_t *order, size_t len, size_t most,
		       struct published_branches *ret)
{
	size_t *at = xcalloc(m->events.len + 1, sizeof(*at)), assertion = 0;
	VEC(struct near) all = { 0 };

	for (size_t i = 0; i < len; i++)
		at[order[i]] = i;
	for (uint32_t c = 0; c < m->conditions.len; c++)
		if (published_is_assertion(m, c))
			assertion = MAX(assertion, position(m, at, c));
	if (!assertion) /* none that unknown values decide: the end counts */
		assertion = len + 1;
	for (uint32_t c = 0; c < m->conditions.len; c++) {
		const struct order_place *p = &m->places.data[c];
		size_t where;

		if (p->thread == ORDER_NONE || p->pin || !p->bit || published_is_assertion(m, c))
			continue;
		where = position(m, at, c);
		vec_push(&all, ((struct near){ .branch = { p->thread, p->bit - 1, c },
					       .behind = where > assertion,
					       .distance = where > assertion ? where - assertion
									     : assertion - where,
					       .nth = p->nth }));
	}
	vec_sort(&all, compare_near);
	for (size_t i = 0; i < all.len && i < most; i++)
		vec_push(ret, all.data[i].branch);
	vec_deinit(&all);
	free(at);
}
