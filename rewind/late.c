/* rewind/late.c - see late.h.
 *
 * Which address is chosen for a read that nothing tells the address of? The places that had what was read, if they are few. Programs keep their pointers on the stack, so the
 * words there are tried in turn, from the stack pointer up: main()'s argv is one of them. If the address has a constant part
 * where memory lies, that is a table, and its entries are tried: the one that a switch took. */
#include "rewind/late.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/pointers.h"

enum {
	MOST_LATE = 32,
	MOST_WORDS = 1 << 14,
	MOST_ENTRIES = 1 << 12,
	MOST_TRIES = 16,
	MOST_QUESTIONS = 64
};

void late_keep(struct history *h, struct past *p, const struct step *s)
{
	uint64_t at;

	for (uint32_t i = 0; i < s->naccesses && p->nlate < MOST_LATE; i++) {
		const struct access *a = &s->accesses[i];
		struct late_read *l;

		if (a->is_write || !a->w || past_value(h, p, a->address, &at))
			continue;
		l = arena_new(&h->arena, struct late_read);
		*l = (struct late_read){ .next = p->late,
					 .address = a->address,
					 .value = a->value,
					 .w = a->w,
					 .before = p,
					 .accesses = s->accesses,
					 .naccesses = i };
		p->late = l;
		p->nlate++;
	}
}

/* Did the step itself write there before it read? */
static bool wrote_there(struct history *h, const struct past *p, const struct late_read *l,
			uint64_t at)
{
	uint64_t to;

	for (uint32_t i = 0; i < l->naccesses; i++)
		if (l->accesses[i].is_write && past_value(h, p, l->accesses[i].address, &to) &&
		    to < at + l->w / 8 &&
		    at < to + (l->accesses[i].w ? l->accesses[i].w / 8u : 1u << 12))
			return true;
	return false;
}

/* Compare what was read with the memory of that moment. False: they cannot be the same. */
static bool equate_read(struct history *h, struct past *p, const struct late_read *l, uint64_t at,
			bool maybe, uint32_t *agreed)
{
	expr_id v;

	if (!past_readable(h, at, maybe) || !past_readable(h, at + l->w / 8 - 1, maybe))
		return false;
	if (wrote_there(h, p, l, at))
		return true;
	v = past_simplify(h, p, past_load(h, l->before, at, l->w));
	if (past_agrees(h, p, l->value, v)) {
		*agreed += expr_is_const(&h->exprs, v) ? l->w : 0;
		return true;
	}
	return past_equate(h, p, l->value, v);
}

bool late_equate(struct history *h, struct past *p, bool maybe, uint32_t *agreed)
{
	const struct trie *known;
	uint64_t at;

	do { /* a comparison may tell more addresses */
		const struct late_read *left = NULL;

		known = p->bindings;
		p->nlate = 0;
		for (const struct late_read *l = p->late; l; l = l->next) {
			struct late_read *copy;

			if (past_value(h, p, l->address, &at)) {
				if (!equate_read(h, p, l, at, maybe, agreed))
					return false;
				continue;
			}
			copy = arena_memdup(&h->arena, l, sizeof(*l));
			copy->next = left;
			left = copy;
			p->nlate++;
		}
		p->late = left;
	} while (p->late && p->bindings != known);
	return true;
}

/* ---- choosing ---- */

/* The past with this address for the read; NULL when that contradicts something. */
static struct past *with_address(struct history *h, const struct past *p, const struct late_read *l,
				 uint64_t at)
{
	struct past *q = past_fork(h, p);
	uint32_t agreed = 0, asked = p->nconstraints;

	if (past_equate(h, q, l->address, expr_const(&h->exprs, 64, at)) &&
	    late_equate(h, q, false, &agreed) && past_settle(h, q, &asked) &&
	    past_check(h, q, MIN(asked, q->nconstraints)))
		return q;
	return NULL;
}

/* Addresses to try: words of the stack with an offset, or the entries of a table. */
struct candidates {
	uint64_t offset; /* the constant part of the address */
	uint64_t sp;
	bool is_table; /* it lies in memory itself: the rest is an index */
	unsigned n;
};

static bool candidates_init(struct history *h, const struct past *p, const struct late_read *l,
			    struct candidates *c)
{
	const struct expr *e = expr_get(&h->exprs, past_simplify(h, p, l->address));

	*c = (struct candidates){ 0 };
	if (e->op == EX_ADD && expr_is_const(&h->exprs, e->b))
		c->offset = expr_get(&h->exprs, e->b)->imm;
	c->is_table = past_readable(h, c->offset, false);
	return past_value(h, p, p->registers[LIFT_RSP], &c->sp);
}

static bool candidates_next(struct history *h, struct candidates *c, unsigned bytes, uint64_t *ret)
{
	uint64_t n = c->n++, word;

	if (c->is_table) {
		*ret = c->offset + n * bytes;
		return n < MOST_ENTRIES;
	}
	if (n >= MOST_WORDS || !dump_read(h->dump, (c->sp & ~7ull) + 8 * n, &word, 8))
		return false;
	*ret = word + c->offset;
	return true;
}

static struct past *choose_for(struct history *h, const struct past *p, const struct late_read *l)
{
	uint64_t at, want, is, places[WORD_PLACES];
	size_t n = 0;
	bool has_want = past_value(h, p, l->value, &want);
	struct past *q = NULL;
	struct candidates c;
	unsigned tries = 0;

	if (has_want && l->w == 64)
		n = word_places(h, l->before, want, places, ARRAY_SIZE(places));
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(places)) && !q; i++)
		q = with_address(h, p, l, places[i]);
	if (q)
		return q;
	if (!candidates_init(h, p, l, &c))
		return NULL;
	while (!q && tries < MOST_TRIES && !history_over(h) &&
	       candidates_next(h, &c, l->w / 8, &at)) {
		if (!past_readable(h, at, false) || !past_readable(h, at + l->w / 8 - 1, false) ||
		    (has_want && past_value(h, p, past_load(h, l->before, at, l->w), &is) &&
		     is != want))
			continue;
		tries++;
		q = with_address(h, p, l, at);
	}
	return q;
}

const struct past *late_choose(struct history *h, const struct past *p)
{
	uint64_t at, questions = h->questions + MOST_QUESTIONS;

	for (const struct late_read *l = p->late; l && h->questions < questions; l = l->next) {
		struct past *q = past_value(h, p, l->address, &at) ? NULL : choose_for(h, p, l);

		if (q)
			p = q;
	}
	return p;
}
