/* order/search/saturate.h - what holds in every solution, found without search. Private to order/. */
#ifndef ORDER_SEARCH_SATURATE_H
#define ORDER_SEARCH_SATURATE_H

#include "order/model/problem.h"

/* In place of a write: the initial value of the cell. */
#define INITIAL (UINT32_MAX - 2)
/* No unique source known. */
#define OPEN NONE

struct sources {
	uint32_t *data; /* writes (or INITIAL) that can still supply a read */
	size_t len, cap;
};

struct facts {
	struct problem *p; /* edges and clocks are extended in place */
	uint8_t *pinned;   /* per event: a read that returns pin[e] in every solution */
	uint64_t *pin;
	uint8_t *fixed; /* per event: a write of fixed_value[e] in every solution */
	uint64_t *fixed_value;
	uint8_t *listed; /* per event: sources[e] is complete */
	struct sources *sources;
	uint32_t *source; /* per event: the only possible source, or OPEN */
	uint64_t passes, unique, reads;
	bool impossible;
};

/* Run to the fixed point. facts->impossible: there is no solution. */
void facts_init(struct facts *f, struct problem *p);
void facts_deinit(struct facts *f);

/* Can this write (or INITIAL) supply read r, as far as order, locks and known values say? */
bool can_supply(const struct facts *f, uint32_t r, uint32_t w);

#endif
