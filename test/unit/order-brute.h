/* test/unit/order-brute.h - small random models, and every interleaving of them. */
#ifndef TEST_ORDER_BRUTE_H
#define TEST_ORDER_BRUTE_H

#include "order/order.h"

/* A few threads with a handful of events of all kinds. */
struct order_model *brute_model(uint64_t seed);

/* Call fn for every interleaving that respects program order, until it returns true. Returns
 * whether it did. */
bool brute_each(const struct order_model *m, bool (*fn)(void *ctx, const uint32_t *order),
		void *ctx);

/* The same for every prefix of an interleaving that the referee accepts. */
bool brute_each_prefix(const struct order_model *m,
		       bool (*fn)(void *ctx, const uint32_t *order, size_t len), void *ctx);

/* Does any interleaving have this outcome? */
bool brute_exists(const struct order_model *m, enum order_want want);

#endif
