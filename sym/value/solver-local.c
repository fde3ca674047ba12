/* sym/value/solver-local.c - see solver-local.h.
 *
 * Conditions over one byte say which values that byte can have at all. If few combinations are left all of
 * them are tried, which is an answer either way: on a path that has pinned its input down, this is what most
 * questions are. Otherwise we look near the start, which is mostly a model of everything but the last condition:
 * each byte of a condition that does not hold, with each value; then random changes that make no more conditions
 * fail than before. Remainders and products of unknown bytes, which keep Z3 busy for seconds, fall this way. */
#include "sym/value/solver-local.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	SYMBOLS_MOST = 64,
	COMBINATIONS_MOST = 4096,
	WORK_MOST = 5000, /* evaluations of a condition */
};

struct local {
	struct exprs *e;
	const expr_id *conds;
	uint32_t n;
	uint64_t *values;
	uint32_t count;
	uint32_t symbols[SYMBOLS_MOST], nsymbols;
	struct byte_set sets[SYMBOLS_MOST]; /* what conditions on this byte alone allow */
	uint32_t work;
	uint64_t rng;
};

static bool has(const struct byte_set *s, uint64_t v)
{
	return s->bits[v / 64] >> v % 64 & 1;
}

static uint32_t size(const struct byte_set *s)
{
	uint32_t n = 0;

	for (int i = 0; i < 4; i++)
		n += (uint32_t)__builtin_popcountll(s->bits[i]);
	return n;
}

/* How many conditions do not hold; *first is one of them. Stops counting at `most`. */
static uint32_t failing(struct local *l, uint32_t most, uint32_t *first)
{
	uint32_t bad = 0;

	expr_eval_begin(l->e);
	for (uint32_t i = 0; i < l->n && bad < most; i++) {
		l->work++;
		if (expr_eval(l->e, l->conds[i], l->values, l->count))
			continue;
		if (!bad++)
			*first = i;
	}
	return bad;
}

/* False when there are too many symbols, or one that is no byte. */
static bool find_symbols(struct local *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const uint32_t *set = expr_symbols(l->e, l->conds[i]);

		for (uint32_t k = 1; k <= set[0]; k++) {
			uint32_t at = 0;

			while (at < l->nsymbols && l->symbols[at] != set[k])
				at++;
			if (at < l->nsymbols)
				continue;
			if (at == SYMBOLS_MOST || l->e->symbols.data[set[k]].w != 8)
				return false;
			l->symbols[l->nsymbols++] = set[k];
		}
	}
	return true;
}

/* Each byte's own conditions. Their conditions may make a symbol: see byte_sets_set. */
static void find_sets(struct local *l, struct byte_sets *b)
{
	memset(l->sets, 0xff, sizeof(l->sets));
	for (uint32_t i = 0; i < l->n; i++) {
		const uint32_t *set = expr_symbols(l->e, l->conds[i]);
		uint32_t symbol = set[0] == 1 ? set[1] : UINT32_MAX, at = 0;
		struct byte_set own;

		if (symbol == UINT32_MAX)
			continue;
		while (l->symbols[at] != symbol)
			at++;
		own = byte_sets_set(b, l->conds[i]);
		for (int k = 0; k < 4; k++)
			l->sets[at].bits[k] &= own.bits[k];
	}
}

/* ---- all combinations ---- */

static bool next_value(struct local *l, uint32_t i)
{
	uint64_t *v = &l->values[l->symbols[i]];

	for (++*v; *v < 256; ++*v)
		if (has(&l->sets[i], *v))
			return true;
	*v = UINT64_MAX;
	next_value(l, i); /* the first one again */
	return false;
}

static enum answer try_all(struct local *l)
{
	uint32_t first, i;

	for (i = 0; i < l->nsymbols; i++) {
		l->values[l->symbols[i]] = UINT64_MAX;
		next_value(l, i);
	}
	for (;;) {
		if (!failing(l, 1, &first))
			return ANSWER_YES;
		for (i = 0; i < l->nsymbols && !next_value(l, i); i++)
			;
		if (i == l->nsymbols)
			return ANSWER_NO;
	}
}

static uint64_t combinations(const struct local *l)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < l->nsymbols && n && n <= COMBINATIONS_MOST; i++)
		n *= size(&l->sets[i]);
	return n;
}

/* ---- near the start ---- */

static uint32_t index_of(const struct local *l, uint32_t symbol)
{
	uint32_t i = 0;

	while (l->symbols[i] != symbol)
		i++;
	return i;
}

/* One byte of the condition that does not hold, each value. */
static bool change_one(struct local *l, uint32_t failed)
{
	const uint32_t *set = expr_symbols(l->e, l->conds[failed]);
	uint32_t first;

	for (uint32_t k = 1; k <= set[0] && l->work < WORK_MOST; k++) {
		uint64_t *v = &l->values[set[k]], old = *v;
		uint32_t at = index_of(l, set[k]);

		for (*v = 0; *v < 256; ++*v) {
			if (!has(&l->sets[at], *v))
				continue;
			l->work++;
			expr_eval_begin(l->e);
			if (expr_eval(l->e, l->conds[failed], l->values, l->count) &&
			    !failing(l, 1, &first))
				return true;
		}
		*v = old;
	}
	return false;
}

static uint64_t any(struct local *l, uint64_t n)
{
	l->rng = l->rng * 6364136223846793005ull + 1442695040888963407ull;
	return hash_u64(l->rng) % n;
}

/* Another value for a byte, of those that its own conditions allow. */
static uint64_t other_value(struct local *l, uint32_t at)
{
	uint64_t v = any(l, 256);

	for (unsigned i = 0; i < 256 && !has(&l->sets[at], v); i++)
		v = (v + 1) % 256;
	return v;
}

static bool walk(struct local *l)
{
	uint32_t failed = 0, bad = failing(l, UINT32_MAX, &failed);

	while (bad && l->work < WORK_MOST) {
		const uint32_t *set = expr_symbols(l->e, l->conds[failed]);
		uint32_t symbol, now, first = failed;
		uint64_t old;

		if (!set[0])
			return false; /* a constant: it never holds */
		symbol = set[1 + any(l, set[0])];
		old = l->values[symbol];
		l->values[symbol] = other_value(l, index_of(l, symbol));
		now = failing(l, bad + 1, &first);
		if (now > bad && any(l, 16)) {
			l->values[symbol] = old;
			continue;
		}
		if (now > bad)
			now = failing(l, UINT32_MAX, &first);
		bad = now;
		failed = first;
	}
	return !bad;
}

enum answer local_check(struct byte_sets *b, const expr_id *conds, uint32_t n, uint64_t *values,
			uint32_t count)
{
	struct local l = { .e = b->e, .conds = conds, .n = n, .values = values, .count = count };
	uint64_t all;
	uint32_t failed = 0, bad;

	if (!find_symbols(&l) || !l.nsymbols)
		return ANSWER_UNKNOWN;
	find_sets(&l, b);
	all = combinations(&l);
	if (!all)
		return ANSWER_NO;
	if (all <= COMBINATIONS_MOST)
		return try_all(&l);
	bad = failing(&l, 2, &failed);
	if (!bad || (bad == 1 && change_one(&l, failed)) || walk(&l))
		return ANSWER_YES;
	return ANSWER_UNKNOWN;
}
