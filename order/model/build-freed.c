/* order/model/build-freed.c - memory that one thread gives back and another uses.
 *
 * In a run that went well the use came first. Whether it can come last is a question about prefixes
 * (order/reach) that needs both as events. So giving back is an event (ORDER_FREE) if another thread
 * uses the memory, and such a use is one in any case: where no event of its own shows it, because
 * nobody else writes there, it gets ORDER_USE. Both say nothing about the order.
 *
 * A lock that is destroyed is looked up apart from memory: it may be the first thing in a block. */
#include "order/model/build-private.h"

enum { MEMORY, LOCKS };

static int by_address(const void *a, const void *b)
{
	const struct freed *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The block that the address lies in, NULL: none. */
static struct freed *find(const struct freed_blocks *f, uint64_t address)
{
	size_t low = 0, high = f->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->data[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - f->data[low - 1].address < f->data[low - 1].bytes
		       ? &f->data[low - 1]
		       : NULL;
}

/* What lies at this step's address, if another thread gives it back. */
static struct freed *given_back(struct order_build *b, uint32_t thread, const struct order_step *s)
{
	bool access = s->kind == ORDER_STEP_READ || s->kind == ORDER_STEP_WRITE ||
		      s->kind == ORDER_STEP_RMW;
	struct freed *f = NULL;

	if (!s->address || s->kind == ORDER_STEP_FREE || s->kind == ORDER_STEP_SEM_INIT)
		return NULL;
	if (!access)
		f = find(&b->freed[LOCKS], s->address);
	if (!f || f->thread == thread)
		f = find(&b->freed[MEMORY], s->address);
	return f && f->thread != thread ? f : NULL;
}

void build_find_freed(struct order_build *b)
{
	for (uint32_t t = 0; t < b->threads.len; t++)
		for (size_t i = 0; i < b->threads.data[t].steps.len; i++) {
			const struct order_step *s = &b->threads.data[t].steps.data[i].s;

			if (s->kind == ORDER_STEP_FREE)
				vec_push(&b->freed[s->other ? MEMORY : LOCKS],
					 ((struct freed){ .address = s->address,
							  .bytes = MAX(s->other, 1u),
							  .thread = t,
							  .event = ORDER_NONE }));
		}
	vec_sort(&b->freed[MEMORY], by_address);
	vec_sort(&b->freed[LOCKS], by_address);
	for (uint32_t t = 0; t < b->threads.len; t++)
		for (size_t i = 0; i < b->threads.data[t].steps.len; i++) {
			struct freed *f = given_back(b, t, &b->threads.data[t].steps.data[i].s);

			if (f)
				f->used = true;
		}
}

void build_free(struct order_build *b, uint32_t thread, const struct raw *r)
{
	struct freed *f = find(&b->freed[r->s.other ? MEMORY : LOCKS], r->s.address);

	if (f && f->used && f->thread == thread && f->event == ORDER_NONE)
		f->event = build_event(b, thread, r, ORDER_FREE, ORDER_NONE);
	else
		b->out->local_steps++; /* nobody else notices */
}

void build_note_use(struct order_build *b, uint32_t thread, const struct raw *r, size_t first)
{
	struct freed *f = given_back(b, thread, &r->s);

	if (!f || r->s.blocked)
		return;
	if (b->m->events.len == first)
		build_event(b, thread, r, ORDER_USE, ORDER_NONE);
	vec_push(&b->uses, ((struct build_use){ f, (uint32_t)first }));
}

void build_finish_uses(struct order_build *b)
{
	for (size_t i = 0; i < b->uses.len; i++)
		if (b->uses.data[i].of->event != ORDER_NONE)
			vec_push(&b->out->uses, ((struct order_use){ b->uses.data[i].of->event,
								     b->uses.data[i].event }));
}
