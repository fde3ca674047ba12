/* sym/value/solver.h - one question: can these constraints hold together?
 *
 * Solvers form a chain; each answers what it can and asks the next otherwise:
 *   slice (only the constraints that share symbols with the question) -> model cache -> answer
 * cache
 *   -> unsat cores -> sets of values of a single byte -> values tried out -> Z3.
 * A time-out is an answer, not an error. */
#ifndef SYM_VALUE_SOLVER_H
#define SYM_VALUE_SOLVER_H

#include "sym/value/expr.h"

struct model;
struct constraint;
struct sym_stats;
struct solver;

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

enum { SOLVER_QUERY_MS = 5000 }; /* unless somebody says otherwise */

struct solver *solver_new(struct exprs *e, struct sym_stats *stats, uint32_t query_ms,
			  const char *log);
void solver_free(struct solver *s);
/* From this moment on (of clock_seconds; 0 = never) questions for Z3 are answered UNKNOWN at once,
 * and no question takes longer than until then. */
void solver_set_deadline(struct solver *s, double deadline);

/* The longest time of one question for Z3 from now on. */
void solver_set_patience(struct solver *s, uint32_t query_ms);

/* Can cond hold together with path? hint is a model of path (NULL = all zero). On yes and if ret is
 * not NULL, *ret is a new model of both. */
enum answer solver_check(struct solver *s, const struct constraint *path, expr_id cond,
			 const struct model *hint, struct model **ret);

/* --- the last link, in solver-z3.c --- */
struct z3_link;
struct z3_link *z3_link_new(struct exprs *e, uint32_t query_ms, const char *log);
void z3_link_free(struct z3_link *z);
/* The longest time of one question from now on. */
void z3_link_set_timeout(struct z3_link *z, uint32_t query_ms);
/* Values for the symbols of the constraints into values[symbol] (yes), or which of the n
 * constraints clash into core[] (no; may be all of them). */
enum answer z3_link_check(struct z3_link *z, const expr_id *conds, uint32_t n, uint64_t *values,
			  uint32_t count, expr_id *core, uint32_t *ncore);

#endif
