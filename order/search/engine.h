/* order/search/engine.h - problem, facts, search and learner of one question. Private to order/. */
#ifndef ORDER_SEARCH_ENGINE_H
#define ORDER_SEARCH_ENGINE_H

#include "order/search/forward.h"
#include "order/learn/learn.h"

struct engine {
	const struct order_model *m;
	enum order_want want;
	struct problem p;
	struct facts f;
	struct forward *forward;
	struct learner *learner;
	const uint32_t *found; /* after SAT: borrowed, our event numbers */
	const char *how;
};

struct err *engine_init(struct engine *e, const struct order_model *m, enum order_want want,
			const uint64_t *inputs, uint64_t seed);
void engine_deinit(struct engine *e);

/* Search and learn in turns, without assumptions. */
enum order_status engine_solve(struct engine *e, const struct order_budget *budget,
			       double deadline);
/* Learn only, under assumptions, starting near the current witness. */
enum order_status engine_assume(struct engine *e, const lit *assumptions, size_t n,
				double deadline);

void engine_stats(const struct engine *e, struct order_stats *ret);
/* The order found, in the model's numbers, validated. */
uint32_t *engine_order(const struct engine *e, uint64_t *values);

#endif
