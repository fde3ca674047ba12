/* sym/value/solver.c - the chain in front of Z3.
 *
 * A question is "path and cond". Of the path only the constraints matter that share symbols with
 * cond, directly or through others: the slice. It is then looked up in three places before anybody
 * computes: recent models (does one of them satisfy the slice?), earlier answers (the same set of
 * constraints), and unsatisfiable cores (is one of them part of the slice?). A slice over a single
 * byte is answered by the sets of values that its constraints allow (solver-bytes.c); one over several bytes by
 * trying values out (solver-local.c). What is left goes to Z3. */
#include "sym/value/solver.h"
#include "sym/value/solver-bytes.h"
#include "sym/value/solver-local.h"

#include "base/log.h"
#include "base/map.h"
#include "sym/value/path.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

#define MODELS 32
#define CORES  512

struct answer_entry {
	enum answer answer;
	struct model *model; /* of a yes, if one was asked for; values by symbol */
	uint32_t n;
	expr_id *conds; /* sorted */
};

struct solver {
	struct exprs *e;
	struct sym_stats *stats;
	struct z3_link *z3;
	struct byte_sets bytes;
	struct model *models[MODELS];
	uint32_t next_model;
	struct map answers; /* hash of the slice -> index into entries */
	VEC(struct answer_entry) entries;
	struct {
		uint32_t n;
		expr_id *conds;
	} cores[CORES];
	uint32_t ncores, next_core;
	/* scratch */
	VEC(expr_id) slice;
	VEC(expr_id) pending;
	uint32_t *symbol_round, symbol_cap, round;
	uint64_t *values; /* by symbol: of the newest question that had it */
	uint32_t *mark;	  /* per expression: the round in which it was in the slice */
	uint32_t mark_cap;
	uint32_t query_ms;
	double deadline; /* of clock_seconds; 0 = none */
};

struct solver *solver_new(struct exprs *e, struct sym_stats *stats, uint32_t query_ms,
			  const char *log)
{
	struct solver *s = xcalloc(1, sizeof(*s));

	s->e = e;
	s->stats = stats;
	byte_sets_init(&s->bytes, e);
	s->query_ms = query_ms ? query_ms : SOLVER_QUERY_MS;
	s->z3 = z3_link_new(e, s->query_ms, log);
	return s;
}

void solver_set_deadline(struct solver *s, double deadline)
{
	s->deadline = deadline;
}

void solver_set_patience(struct solver *s, uint32_t query_ms)
{
	s->query_ms = query_ms;
	z3_link_set_timeout(s->z3, query_ms);
}

/* Is there time for a question to Z3? It gets what is left if that is little. */
static bool time_left(struct solver *s)
{
	double left = s->deadline > 0 ? s->deadline - clock_seconds() : s->query_ms;

	if (left <= 0)
		return false;
	if (left * 1000 < s->query_ms)
		z3_link_set_timeout(s->z3, (uint32_t)(left * 1000) + 1);
	return true;
}

void solver_free(struct solver *s)
{
	if (!s)
		return;
	for (int i = 0; i < MODELS; i++)
		model_unref(s->models[i]);
	for (size_t i = 0; i < s->entries.len; i++) {
		model_unref(s->entries.data[i].model);
		free(s->entries.data[i].conds);
	}
	for (uint32_t i = 0; i < s->ncores; i++)
		free(s->cores[i].conds);
	vec_deinit(&s->entries);
	vec_deinit(&s->slice);
	vec_deinit(&s->pending);
	map_deinit(&s->answers);
	free(s->symbol_round);
	free(s->values);
	free(s->mark);
	byte_sets_deinit(&s->bytes);
	z3_link_free(s->z3);
	free(s);
}

/* --- the slice --- */

static void begin_round(struct solver *s)
{
	if (s->symbol_cap < s->e->symbols.len) {
		uint32_t cap = (uint32_t)s->e->symbols.len * 2 + 64;

		s->symbol_round = xreallocarray(s->symbol_round, cap, sizeof(uint32_t));
		memset(s->symbol_round + s->symbol_cap, 0,
		       (cap - s->symbol_cap) * sizeof(uint32_t));
		s->values = xreallocarray(s->values, cap, sizeof(uint64_t));
		memset(s->values + s->symbol_cap, 0, (cap - s->symbol_cap) * sizeof(uint64_t));
		s->symbol_cap = cap;
	}
	if (s->mark_cap < s->e->nodes.len) {
		uint32_t cap = (uint32_t)s->e->nodes.len * 2 + 1024;

		s->mark = xreallocarray(s->mark, cap, sizeof(uint32_t));
		memset(s->mark + s->mark_cap, 0, (cap - s->mark_cap) * sizeof(uint32_t));
		s->mark_cap = cap;
	}
	s->round++;
}

static bool touches(struct solver *s, const uint32_t *set)
{
	for (uint32_t i = 1; i <= set[0]; i++)
		if (s->symbol_round[set[i]] == s->round)
			return true;
	return false;
}

static void take(struct solver *s, expr_id cond)
{
	const uint32_t *set = expr_symbols(s->e, cond);

	for (uint32_t i = 1; i <= set[0]; i++)
		s->symbol_round[set[i]] = s->round;
	if (s->mark[cond] != s->round) {
		s->mark[cond] = s->round;
		vec_push(&s->slice, cond);
	}
}

static int by_id(const void *a, const void *b)
{
	expr_id x = *(const expr_id *)a, y = *(const expr_id *)b;

	return x < y ? -1 : x > y;
}

static void make_slice(struct solver *s, const struct constraint *path, expr_id cond)
{
	bool grown;

	vec_clear(&s->slice);
	vec_clear(&s->pending);
	begin_round(s);
	take(s, cond);
	for (; path; path = path->before) {
		if (touches(s, expr_symbols(s->e, path->cond)))
			take(s, path->cond);
		else
			vec_push(&s->pending, path->cond);
	}
	do { /* what was passed over may have become related */
		grown = false;
		for (size_t i = 0; i < s->pending.len; i++) {
			if (!touches(s, expr_symbols(s->e, s->pending.data[i])))
				continue;
			take(s, s->pending.data[i]);
			s->pending.data[i--] = vec_pop(&s->pending);
			grown = true;
		}
	} while (grown);
	vec_sort(&s->slice, by_id);
}

/* --- models --- */

static bool satisfies(struct solver *s, const uint64_t *values, uint32_t count)
{
	expr_eval_begin(s->e);
	for (size_t i = 0; i < s->slice.len; i++)
		if (!expr_eval(s->e, s->slice.data[i], values, count))
			return false;
	return true;
}

/* The values of the slice's symbols as in the hint. */
static void take_hint(struct solver *s, const struct model *hint)
{
	for (size_t i = 0; i < s->slice.len; i++) {
		const uint32_t *set = expr_symbols(s->e, s->slice.data[i]);

		for (uint32_t k = 1; k <= set[0]; k++)
			s->values[set[k]] = hint && set[k] < hint->count ? hint->values[set[k]] : 0;
	}
}

/* A full model: the slice's symbols from `values`, the others as in the hint. */
static struct model *complete(struct solver *s, const struct model *hint, const uint64_t *values,
			      uint32_t count)
{
	uint32_t n = (uint32_t)s->e->symbols.len;
	struct model *m = model_new(n);

	for (uint32_t i = 0; i < n; i++) {
		if (s->symbol_round[i] == s->round)
			m->values[i] = i < count ? values[i] : 0;
		else
			m->values[i] = hint && i < hint->count ? hint->values[i] : 0;
	}
	return m;
}

static void remember_model(struct solver *s, struct model *m)
{
	model_unref(s->models[s->next_model]);
	m->refs++;
	s->models[s->next_model] = m;
	s->next_model = (s->next_model + 1) % MODELS;
}

/* --- earlier answers --- */

static uint64_t slice_hash(struct solver *s)
{
	return hash_bytes(s->slice.data, s->slice.len * sizeof(expr_id), 7);
}

static struct answer_entry *find_answer(struct solver *s, uint64_t hash)
{
	uint64_t *i = map_find(&s->answers, hash);
	struct answer_entry *a = i ? &s->entries.data[*i] : NULL;

	if (a && a->n == s->slice.len && !memcmp(a->conds, s->slice.data, a->n * sizeof(expr_id)))
		return a;
	return NULL;
}

static void remember_answer(struct solver *s, uint64_t hash, enum answer answer,
			    struct model *model)
{
	struct answer_entry a = { .answer = answer, .model = model, .n = (uint32_t)s->slice.len };
	struct answer_entry *known = find_answer(s, hash);

	if (!known && map_find(&s->answers, hash))
		return;
	if (model && (!known || !known->model))
		model->refs++;
	if (known) {
		known->model = known->model ? known->model : model;
		return;
	}
	a.conds = xmemdup(s->slice.data, s->slice.len * sizeof(expr_id));
	map_put(&s->answers, hash, s->entries.len);
	vec_push(&s->entries, a);
}

static bool has_core(struct solver *s)
{
	for (uint32_t i = 0; i < s->ncores; i++) {
		bool all = true;

		for (uint32_t k = 0; all && k < s->cores[i].n; k++)
			all = s->mark[s->cores[i].conds[k]] == s->round;
		if (all)
			return true;
	}
	return false;
}

static void remember_core(struct solver *s, const expr_id *core, uint32_t n)
{
	uint32_t i = s->ncores < CORES ? s->ncores++ : s->next_core++ % CORES;

	free(s->cores[i].conds);
	s->cores[i].conds = xmemdup(core, n * sizeof(*core));
	s->cores[i].n = n;
}

/* --- a single byte --- */

static bool only_symbol(struct solver *s, uint32_t *symbol)
{
	uint32_t found = UINT32_MAX;

	for (size_t i = 0; i < s->slice.len; i++) {
		const uint32_t *set = expr_symbols(s->e, s->slice.data[i]);

		if (set[0] != 1 || (found != UINT32_MAX && set[1] != found))
			return false;
		found = set[1];
	}
	*symbol = found;
	return found != UINT32_MAX && s->e->symbols.data[found].w == 8;
}

/* --- all together --- */

/* Values tried out, beginning with those that are there. */
static enum answer try_values(struct solver *s, uint32_t count)
{
	enum answer answer =
		local_check(&s->bytes, s->slice.data, (uint32_t)s->slice.len, s->values, count);

	s->stats->by_local += answer != ANSWER_UNKNOWN;
	return answer;
}

static enum answer compute(struct solver *s, uint32_t count)
{
	expr_id *core;
	uint32_t symbol, ncore = 0;
	enum answer answer;
	double start;
	bool cached;

	if (only_symbol(s, &symbol)) {
		answer = byte_sets_check(&s->bytes, s->slice.data, s->slice.len, &s->values[symbol],
					 &cached);
		s->stats->by_cache += cached;
		s->stats->by_enum += !cached;
		return answer;
	}
	answer = try_values(s, count);
	if (answer != ANSWER_UNKNOWN)
		return answer;
	if (!time_left(s))
		return ANSWER_UNKNOWN;
	core = xmalloc(s->slice.len * sizeof(*core));
	start = clock_seconds();
	answer = z3_link_check(s->z3, s->slice.data, (uint32_t)s->slice.len, s->values, count, core,
			       &ncore);
	s->stats->z3_seconds += clock_seconds() - start;
	s->stats->by_z3++;
	if (answer == ANSWER_NO && ncore)
		remember_core(s, core, ncore);
	free(core);
	return answer;
}

/* Do the values of earlier questions satisfy the slice? */
static bool is_known_model(struct solver *s, const struct model *hint, uint64_t hash,
			   uint32_t count, struct model **ret)
{
	for (uint32_t i = 0; i < MODELS; i++) {
		struct model *m = s->models[(s->next_model + MODELS - 1 - i) % MODELS];

		if (!m || !satisfies(s, m->values, m->count))
			continue;
		if (ret)
			*ret = complete(s, hint, m->values, m->count);
		remember_answer(s, hash, ANSWER_YES, m);
		return true;
	}
	if (ret || !satisfies(s, s->values, count))
		return false;
	remember_answer(s, hash, ANSWER_YES, NULL);
	return true;
}

/* A model has a value for every symbol there is, so one is made only for those who want it. */
static void remember_yes(struct solver *s, const struct model *hint, uint64_t hash, uint32_t count,
			 struct model **ret)
{
	assert(satisfies(s, s->values, count)); /* never believe a solver */
	if (ret) {
		*ret = complete(s, hint, s->values, count);
		remember_model(s, *ret);
	}
	remember_answer(s, hash, ANSWER_YES, ret ? *ret : NULL);
}

static enum answer check(struct solver *s, const struct model *hint, struct model **ret)
{
	uint32_t count = (uint32_t)s->e->symbols.len;
	struct answer_entry *known;
	enum answer answer;
	uint64_t hash;

	hash = slice_hash(s);
	known = find_answer(s, hash);
	if (known && (known->answer != ANSWER_YES || !ret || known->model)) {
		s->stats->by_cache++;
		if (known->answer == ANSWER_YES && ret)
			*ret = complete(s, hint, known->model->values, known->model->count);
		return known->answer;
	}
	if (is_known_model(s, hint, hash, count, ret)) {
		s->stats->by_model++;
		return ANSWER_YES;
	}
	if (has_core(s)) {
		s->stats->by_core++;
		remember_answer(s, hash, ANSWER_NO, NULL);
		return ANSWER_NO;
	}
	if (ret || hint)
		take_hint(s, hint);
	answer = compute(s, count);
	if (answer == ANSWER_YES)
		remember_yes(s, hint, hash, count, ret);
	else if (answer == ANSWER_NO)
		remember_answer(s, hash, answer, NULL);
	else
		s->stats->unknown++;
	return answer;
}

/* Is cond false because the path leaves it no other value? */
static bool is_settled(struct solver *s, const struct constraint *path, expr_id cond,
		       const struct model *hint)
{
	if (!path_settles(s->e, path, hint, cond))
		return false;
	expr_eval_begin(s->e);
	return !expr_eval(s->e, cond, hint ? hint->values : NULL, hint ? hint->count : 0);
}

enum answer solver_check(struct solver *s, const struct constraint *path, expr_id cond,
			 const struct model *hint, struct model **ret)
{
	double start = clock_seconds();
	enum answer answer;

	s->stats->queries++;
	if (ret)
		*ret = NULL;
	byte_sets_begin(&s->bytes);
	if (is_settled(s, path, cond, hint)) {
		s->stats->by_model++;
		return ANSWER_NO;
	}
	make_slice(s, path, cond);
	answer = check(s, hint, ret);
	s->stats->solver_seconds += clock_seconds() - start;
	return answer;
}
