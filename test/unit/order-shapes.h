/* test/unit/order-shapes.h - traces in the shapes of the papers' programs, at any size.
 *
 * Each shape is a small multithreaded program run by a simulator that keeps, next to every value,
 * the term it came from: what a symbolic execution of a recorded path would hand to the order
 * engine. The run ends with the program's failure once at least `accesses` accesses were made.
 * Event numbers follow the simulated run: 0, 1, 2 ... is a failing order (synthetic unlocks last).
 */
#ifndef TEST_ORDER_SHAPES_H
#define TEST_ORDER_SHAPES_H

#include "order/order.h"

extern const char *const shape_names[]; /* NULL at the end */

/* NULL when the name is unknown, or none of 20 simulated runs failed. threads 0: as published. */
struct order_model *shape_make(const char *name, size_t accesses, uint64_t seed, unsigned threads);

/* Programs whose failure is impossible, by the same function: no order satisfies the question. */
extern const char *const cured_names[];

size_t shape_accesses(const struct order_model *m);

#endif
