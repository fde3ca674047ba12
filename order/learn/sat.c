/* order/learn/sat.c - CDCL: two watched literals, first unique implication point, restarts, deletion.
 *
 * What differs from a textbook solver: clauses arrive in the middle of the search (flush_lemmas
 * backtracks just far enough for all of them to be watchable), and a conflict may come from the
 * theory with all its literals below the current level. */
#include "order/learn/sat.h"

#include "base/log.h"
#include "order/learn/luby.h"

void sat_init(struct sat *s, struct sat_theory theory)
{
	*s = (struct sat){ .theory = theory, .clause_inc = 1, .next_reduce = 4000 };
}

void sat_deinit(struct sat *s)
{
	for (uint32_t i = 0; i < 2 * s->nvars; i++)
		vec_deinit(&s->watches[i]);
	free(s->value);
	free(s->level);
	free(s->reason);
	free(s->mark);
	free(s->watches);
	vec_deinit(&s->clauses);
	vec_deinit(&s->pool);
	vec_deinit(&s->trail);
	vec_deinit(&s->learnt);
	vec_deinit(&s->conflict);
	vec_deinit(&s->lemma_pool);
	vec_deinit(&s->lemmas);
	vec_deinit(&s->limits);
	vec_deinit(&s->touched);
	vec_deinit(&s->core);
}

uint32_t sat_new_var(struct sat *s)
{
	uint32_t v = s->nvars++;

	if (s->nvars > s->cap) {
		s->cap = s->cap ? 2 * s->cap : 256;
		s->value = xreallocarray(s->value, s->cap, sizeof(*s->value));
		s->level = xreallocarray(s->level, s->cap, sizeof(*s->level));
		s->reason = xreallocarray(s->reason, s->cap, sizeof(*s->reason));
		s->mark = xreallocarray(s->mark, s->cap, sizeof(*s->mark));
		s->watches = xreallocarray(s->watches, 2 * (size_t)s->cap, sizeof(*s->watches));
	}
	s->value[v] = 0;
	s->level[v] = 0;
	s->reason[v] = -1;
	s->mark[v] = 0;
	memset(&s->watches[2 * v], 0, 2 * sizeof(*s->watches));
	return v;
}

static uint32_t level_of(const struct sat *s, lit l)
{
	return s->level[lit_var(l)];
}

static void assign(struct sat *s, lit l, int32_t reason)
{
	uint32_t v = lit_var(l);

	assert(!s->value[v]);
	s->value[v] = l & 1 ? -1 : 1;
	s->level[v] = (uint32_t)s->limits.len;
	s->reason[v] = reason;
	vec_push(&s->trail, l);
}

static void new_level(struct sat *s)
{
	vec_push(&s->limits, (uint32_t)s->trail.len);
	s->theory.push(s->theory.ctx);
}

static void cancel(struct sat *s, uint32_t level)
{
	if (s->limits.len <= level)
		return;
	size_t keep = s->limits.data[level];
	while (s->trail.len > keep) {
		lit l = vec_pop(&s->trail);
		/* the theory has heard of it only below theory_head */
		if (s->trail.len < s->theory_head)
			s->theory.retract(s->theory.ctx, l);
		s->value[lit_var(l)] = 0;
		s->reason[lit_var(l)] = -1;
	}
	s->clause_head = MIN(s->clause_head, keep);
	s->theory_head = MIN(s->theory_head, keep);
	s->limits.len = level;
	s->theory.pop(s->theory.ctx, level);
}

void sat_reset(struct sat *s)
{
	cancel(s, 0);
}

static lit *clause_lits(struct sat *s, uint32_t c)
{
	return &s->pool.data[s->clauses.data[c].first];
}

static uint32_t new_clause(struct sat *s, const lit *c, size_t n, bool learnt)
{
	uint32_t first = (uint32_t)s->pool.len;

	vec_reserve(&s->pool, s->pool.len + n);
	memcpy(s->pool.data + first, c, n * sizeof(lit));
	s->pool.len += n;
	vec_push(&s->clauses, (struct sat_clause){ .first = first,
						   .len = (uint32_t)n,
						   .activity = s->clause_inc,
						   .learnt = learnt });
	return (uint32_t)s->clauses.len - 1;
}

static void attach(struct sat *s, uint32_t c)
{
	lit *l = clause_lits(s, c);

	vec_push(&s->watches[l[0]], c);
	vec_push(&s->watches[l[1]], c);
}

/* ---- propagation ---- */

/* Look at clause c, whose watched literal `gone` became false. 0: stays here, 1: moved, -1:
 * conflict */
static int visit(struct sat *s, uint32_t c, lit gone)
{
	lit *l = clause_lits(s, c);
	uint32_t n = s->clauses.data[c].len;

	if (l[0] == gone) {
		l[0] = l[1];
		l[1] = gone;
	}
	if (sat_value(s, l[0]) > 0)
		return 0;
	for (uint32_t k = 2; k < n; k++)
		if (sat_value(s, l[k]) >= 0) {
			l[1] = l[k];
			l[k] = gone;
			vec_push(&s->watches[l[1]], c);
			return 1;
		}
	if (sat_value(s, l[0]) < 0)
		return -1;
	assign(s, l[0], (int32_t)c);
	return 0;
}

/* False: s->conflict holds a clause of false literals. */
static bool propagate_clauses(struct sat *s)
{
	while (s->clause_head < s->trail.len) {
		lit gone = lit_not(s->trail.data[s->clause_head++]);
		size_t i = 0, kept = 0, n = s->watches[gone].len;
		int found = 0;

		s->propagations++;
		for (; i < n && found >= 0; i++) {
			uint32_t c = s->watches[gone].data[i];
			if (s->clauses.data[c].deleted)
				continue;
			found = visit(s, c, gone);
			if (found <= 0)
				s->watches[gone].data[kept++] = c;
			if (found < 0) {
				s->clauses.data[c].activity += s->clause_inc;
				s->conflict.len = 0;
				for (uint32_t k = 0; k < s->clauses.data[c].len; k++)
					vec_push(&s->conflict, clause_lits(s, c)[k]);
			}
		}
		for (; i < n; i++)
			s->watches[gone].data[kept++] = s->watches[gone].data[i];
		s->watches[gone].len = kept;
		if (found < 0)
			return false;
	}
	return true;
}

static bool propagate(struct sat *s)
{
	for (;;) {
		if (!propagate_clauses(s))
			return false;
		if (s->theory_head == s->trail.len)
			return true;
		while (s->theory_head < s->trail.len) {
			lit l = s->trail.data[s->theory_head++];
			s->conflict.len = 0;
			if (!s->theory.assert_lit(s->theory.ctx, l, &s->conflict))
				return false;
		}
	}
}

/* ---- conflicts ---- */

static bool redundant(struct sat *s, lit l)
{
	int32_t r = s->reason[lit_var(l)];

	if (r < 0)
		return false;
	const lit *q = clause_lits(s, (uint32_t)r);
	for (uint32_t i = 0; i < s->clauses.data[r].len; i++) {
		uint32_t v = lit_var(q[i]);
		if (v != lit_var(l) && s->level[v] > 0 && !s->mark[v])
			return false;
	}
	return true;
}

static void take_part(struct sat *s, lit q, uint32_t *open)
{
	uint32_t v = lit_var(q);

	if (s->mark[v] || !s->level[v])
		return;
	s->mark[v] = 1;
	vec_push(&s->touched, v);
	s->theory.bump(s->theory.ctx, v);
	if (s->level[v] >= s->limits.len)
		++*open;
	else
		vec_push(&s->learnt, q);
}

/* From s->conflict to s->learnt, the asserting literal first; returns where to backtrack. */
static uint32_t analyze(struct sat *s)
{
	size_t index = s->trail.len;
	uint32_t open = 0;
	lit p = LIT_NONE;

	s->learnt.len = 0;
	vec_push(&s->learnt, 0);
	for (size_t i = 0; i < s->conflict.len; i++)
		take_part(s, s->conflict.data[i], &open);
	for (;;) {
		do
			p = s->trail.data[--index];
		while (!s->mark[lit_var(p)]);
		if (--open == 0)
			break;
		int32_t r = s->reason[lit_var(p)];
		assert(r >= 0);
		if (s->clauses.data[r].learnt)
			s->clauses.data[r].activity += s->clause_inc;
		for (uint32_t i = 0; i < s->clauses.data[r].len; i++)
			if (clause_lits(s, (uint32_t)r)[i] != p)
				take_part(s, clause_lits(s, (uint32_t)r)[i], &open);
	}
	s->learnt.data[0] = lit_not(p);
	size_t kept = 1;
	for (size_t i = 1; i < s->learnt.len; i++)
		if (!redundant(s, s->learnt.data[i]))
			s->learnt.data[kept++] = s->learnt.data[i];
	s->learnt.len = kept;
	uint32_t back = 0;
	for (size_t i = 1; i < kept; i++)
		if (level_of(s, s->learnt.data[i]) > back) {
			lit t = s->learnt.data[1];
			back = level_of(s, s->learnt.data[i]);
			s->learnt.data[1] = s->learnt.data[i];
			s->learnt.data[i] = t;
		}
	for (size_t i = 0; i < s->touched.len; i++)
		s->mark[s->touched.data[i]] = 0;
	s->touched.len = 0;
	return back;
}

static uint32_t distinct_levels(struct sat *s, const struct lits *c)
{
	uint32_t n = 0;

	/* small clauses matter most; an estimate is enough for long ones */
	for (size_t i = 0; i < c->len; i++) {
		bool seen = false;
		for (size_t k = i > 16 ? i - 16 : 0; k < i && !seen; k++)
			seen = level_of(s, c->data[k]) == level_of(s, c->data[i]);
		n += !seen;
	}
	return n;
}

/* False: unsatisfiable for good. */
static bool learn(struct sat *s)
{
	uint32_t top = 0;

	s->conflicts++;
	for (size_t i = 0; i < s->conflict.len; i++)
		top = MAX(top, level_of(s, s->conflict.data[i]));
	if (!top)
		return false;
	cancel(s, top);
	uint32_t back = analyze(s), lbd = distinct_levels(s, &s->learnt);
	cancel(s, back);
	if (s->learnt.len == 1) {
		assign(s, s->learnt.data[0], -1);
	} else {
		uint32_t c = new_clause(s, s->learnt.data, s->learnt.len, true);
		s->clauses.data[c].lbd = lbd;
		attach(s, c);
		assign(s, s->learnt.data[0], (int32_t)c);
	}
	s->clause_inc *= 1.001f;
	if (s->clause_inc > 1e20f) {
		for (size_t i = 0; i < s->clauses.len; i++)
			s->clauses.data[i].activity *= 1e-20f;
		s->clause_inc *= 1e-20f;
	}
	s->theory.decay(s->theory.ctx);
	return true;
}

/* Drop the less active half of the learnt clauses. */
static void reduce(struct sat *s)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->clauses.len; i++) {
		const struct sat_clause *c = &s->clauses.data[i];
		if (c->learnt && !c->deleted && c->len > 2 && c->lbd > 2) {
			sum += c->activity;
			n++;
		}
	}
	for (size_t i = 0; i < s->clauses.len && n; i++) {
		struct sat_clause *c = &s->clauses.data[i];
		const lit *l = &s->pool.data[c->first];
		bool locked = s->reason[lit_var(l[0])] == (int32_t)i ||
			      s->reason[lit_var(l[1])] == (int32_t)i;
		if (c->learnt && c->len > 2 && c->lbd > 2 && !locked &&
		    c->activity < sum / (double)n)
			c->deleted = true;
	}
	s->next_reduce = s->conflicts + 4000 + s->conflicts / 4;
}

/* ---- lemmas ---- */

void sat_add(struct sat *s, const lit *c, size_t n)
{
	size_t start = s->lemma_pool.len;

	vec_push(&s->lemma_pool, 0);
	for (size_t i = 0; i < n; i++) {
		bool twice = false;
		for (size_t k = start + 1; k < s->lemma_pool.len; k++) {
			twice |= s->lemma_pool.data[k] == c[i];
			if (c[i] >= 0 && s->lemma_pool.data[k] == lit_not(c[i]))
				goto satisfied;
		}
		if (c[i] == LIT_TRUE)
			goto satisfied;
		if (c[i] != LIT_FALSE && !twice)
			vec_push(&s->lemma_pool, c[i]);
	}
	s->lemma_pool.data[start] = (lit)(s->lemma_pool.len - start - 1);
	vec_push(&s->lemmas, (uint32_t)start);
	return;
satisfied:
	s->lemma_pool.len = start;
}

/* How good is it to watch this literal? True, open, then false as late as possible. */
static uint64_t watch_rank(const struct sat *s, lit l)
{
	int v = sat_value(s, l);

	return v > 0 ? UINT64_MAX : v == 0 ? UINT64_MAX - 1 : level_of(s, l);
}

static void best_first(struct sat *s, lit *l, uint32_t n)
{
	for (uint32_t w = 0; w < 2 && w < n; w++) {
		uint32_t best = w;
		for (uint32_t k = w + 1; k < n; k++)
			if (watch_rank(s, l[k]) > watch_rank(s, l[best]))
				best = k;
		lit t = l[w];
		l[w] = l[best];
		l[best] = t;
	}
}

/* Backtrack until no lemma is false outright. */
static bool make_room(struct sat *s)
{
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < s->lemmas.len; i++) {
			lit *l = &s->lemma_pool.data[s->lemmas.data[i]];
			uint32_t n = (uint32_t)*l++;
			best_first(s, l, n);
			if (n && sat_value(s, l[0]) >= 0 && (n > 1 || !s->limits.len))
				continue;
			if (n == 1 && sat_value(s, l[0]) > 0 && level_of(s, l[0]) == 0)
				continue;
			if (n && sat_value(s, l[0]) >= 0) { /* a unit belongs to level 0 */
				cancel(s, 0);
				again = true;
				continue;
			}
			uint32_t top = n ? level_of(s, l[0]) : 0;
			if (!top)
				return false;
			uint32_t second = n > 1 ? level_of(s, l[1]) : 0;
			cancel(s, second < top ? second : top - 1);
			again = true;
		}
	}
	return true;
}

static bool flush_lemmas(struct sat *s)
{
	bool ok = s->lemmas.len == 0 || make_room(s);

	for (size_t i = 0; i < s->lemmas.len && ok; i++) {
		lit *l = &s->lemma_pool.data[s->lemmas.data[i]];
		uint32_t n = (uint32_t)*l++;

		best_first(s, l, n);
		if (sat_value(s, l[0]) < 0) { /* made false by a unit of this batch */
			lit *start = l - 1;
			uint32_t top = level_of(s, l[0]);
			if (!top) {
				ok = false;
				break;
			}
			(void)start;
			cancel(s, top - 1);
			i--;
			continue;
		}
		if (n == 1) {
			if (!sat_value(s, l[0]))
				assign(s, l[0], -1);
			continue;
		}
		uint32_t c = new_clause(s, l, n, false);
		attach(s, c);
		if (!sat_value(s, l[0]) && sat_value(s, l[1]) < 0)
			assign(s, l[0], (int32_t)c);
	}
	s->lemmas.len = s->lemma_pool.len = 0;
	return ok;
}

/* ---- search ---- */

/* Which assumptions made this one (p, now false) impossible? */
static void final_core(struct sat *s, lit p)
{
	s->core.len = 0;
	vec_push(&s->core, p);
	if (!s->limits.len)
		return;
	s->mark[lit_var(p)] = 1;
	for (size_t i = s->trail.len; i-- > s->limits.data[0];) {
		lit l = s->trail.data[i];
		uint32_t v = lit_var(l);
		if (!s->mark[v])
			continue;
		s->mark[v] = 0;
		int32_t r = s->reason[v];
		if (r < 0) {
			if (l != lit_not(p))
				vec_push(&s->core, l);
			continue;
		}
		for (uint32_t k = 0; k < s->clauses.data[r].len; k++) {
			uint32_t u = lit_var(clause_lits(s, (uint32_t)r)[k]);
			if (u != v && s->level[u] > 0)
				s->mark[u] = 1;
		}
	}
	s->mark[lit_var(p)] = 0;
}

/* Next assumption, then whatever the theory likes. */
static enum sat_result decide(struct sat *s, const lit *assumptions, size_t n, bool *again)
{
	lit d = LIT_NONE;

	*again = true;
	while (s->limits.len < n) {
		lit p = assumptions[s->limits.len];
		int v = sat_value(s, p);
		if (v < 0) {
			final_core(s, p);
			*again = false;
			return SAT_NO;
		}
		new_level(s);
		if (v > 0)
			continue;
		d = p;
		break;
	}
	if (d != LIT_NONE) {
		assign(s, d, -1);
		return SAT_UNKNOWN;
	}
	d = s->theory.decide(s->theory.ctx);
	if (d != LIT_NONE) {
		s->decisions++;
		new_level(s);
		assign(s, d, -1);
		return SAT_UNKNOWN;
	}
	if (s->theory.final(s->theory.ctx) == FINAL_SOLVED) {
		*again = false;
		return SAT_YES;
	}
	if (!flush_lemmas(s)) {
		s->broken = true;
		s->core.len = 0;
		*again = false;
		return SAT_NO;
	}
	return SAT_UNKNOWN;
}

bool sat_is_spent(const struct sat *s)
{
	return s->most && s->decisions >= s->most;
}

enum sat_result sat_solve(struct sat *s, const lit *assumptions, size_t n, double deadline)
{
	uint64_t limit = s->conflicts + 100, steps = 0;

	s->core.len = 0;
	cancel(s, 0);
	if (!s->broken && !flush_lemmas(s))
		s->broken = true;
	while (!s->broken) {
		if (!propagate(s)) {
			if (!learn(s))
				s->broken = true;
			if (s->conflicts > s->next_reduce)
				reduce(s);
			continue;
		}
		if (sat_is_spent(s) || ((++steps & 63) == 0 && clock_seconds() > deadline))
			return SAT_UNKNOWN;
		if (s->conflicts > limit) {
			limit = s->conflicts + 100 * luby(++s->restarts + 1);
			cancel(s, 0);
			continue;
		}
		bool again;
		enum sat_result r = decide(s, assumptions, n, &again);
		if (!again)
			return r;
	}
	s->core.len = 0;
	return SAT_NO;
}
