/* order/learn/sat.h - conflict-driven clause learning over atoms that somebody else understands.
 *
 * Private to order/. A literal is 2 * variable, plus 1 when negated. The theory hears of every
 * literal that becomes true and may refuse it with a conflict; it chooses decisions; and when all
 * it cares about is decided it may add clauses (lemmas) over new or old variables and go on. */
#ifndef ORDER_LEARN_SAT_H
#define ORDER_LEARN_SAT_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef int lit;
#define LIT_NONE  (-1)
#define LIT_TRUE  (-2)
#define LIT_FALSE (-3)

static inline lit lit_pos(uint32_t var)
{
	return (lit)(2 * var);
}
static inline lit lit_not(lit l)
{
	if (l == LIT_TRUE)
		return LIT_FALSE;
	if (l == LIT_FALSE)
		return LIT_TRUE;
	return l ^ 1;
}
static inline uint32_t lit_var(lit l)
{
	return (uint32_t)l >> 1;
}

struct lits VEC_FIELDS(lit);

enum sat_result { SAT_UNKNOWN, SAT_YES, SAT_NO };
enum sat_final { FINAL_SOLVED, FINAL_CONTINUE };

struct sat_theory {
	void *ctx;
	/* l became true. False: conflict, a clause of false literals put into *conflict. */
	bool (*assert_lit)(void *ctx, lit l, struct lits *conflict);
	/* l is no longer assigned (latest first). */
	void (*retract)(void *ctx, lit l);
	/* A new decision level starts; levels above this one were taken back. */
	void (*push)(void *ctx);
	void (*pop)(void *ctx, uint32_t level);
	/* A literal to decide, LIT_NONE when all that matters is decided. */
	lit (*decide)(void *ctx);
	enum sat_final (*final)(void *ctx);
	/* This variable was involved in a conflict; all activities decay. */
	void (*bump)(void *ctx, uint32_t var);
	void (*decay)(void *ctx);
};

struct sat_clause {
	uint32_t first, len; /* in the pool */
	float activity;
	uint32_t lbd;
	bool learnt, deleted;
};

struct sat {
	struct sat_theory theory;
	uint32_t nvars, cap;
	int8_t *value; /* by variable: -1, 0, 1 */
	uint32_t *level;
	int32_t *reason; /* clause, -1 */
	uint8_t *mark;
	struct watch_list VEC_FIELDS(uint32_t) * watches; /* by literal */
	VEC(struct sat_clause) clauses;
	struct lits pool, trail, learnt, conflict, lemma_pool;
	VEC(uint32_t) lemmas; /* offsets into lemma_pool, length first */
	VEC(uint32_t) limits; /* trail length at each decision level */
	VEC(uint32_t) touched;
	size_t clause_head, theory_head;
	float clause_inc;
	bool broken;	  /* unsatisfiable without assumptions */
	struct lits core; /* after SAT_NO: the assumptions that conflict */
	uint64_t conflicts, decisions, propagations, restarts, next_reduce;
	uint64_t most; /* decisions; 0: no limit */
	double deadline;
};

/* Are all decisions made that it may make? */
bool sat_is_spent(const struct sat *s);
void sat_init(struct sat *s, struct sat_theory theory);
void sat_deinit(struct sat *s);
uint32_t sat_new_var(struct sat *s);

/* Add a clause. Inside `final`, and between solves; LIT_TRUE and LIT_FALSE are fine. */
void sat_add(struct sat *s, const lit *c, size_t n);
#define sat_add_lits(s, ...)                                                                       \
	sat_add(s, (const lit[]){ __VA_ARGS__ }, sizeof((const lit[]){ __VA_ARGS__ }) / sizeof(lit))

enum sat_result sat_solve(struct sat *s, const lit *assumptions, size_t n, double deadline);
/* Back to no decisions. */
void sat_reset(struct sat *s);

static inline int sat_value(const struct sat *s, lit l)
{
	if (l == LIT_TRUE)
		return 1;
	if (l == LIT_FALSE)
		return -1;
	int v = s->value[lit_var(l)];
	return l & 1 ? -v : v;
}

#endif
