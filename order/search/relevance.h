/* order/search/relevance.h - which cells can matter, and how. Private to order/. */
#ifndef ORDER_SEARCH_RELEVANCE_H
#define ORDER_SEARCH_RELEVANCE_H

#include "order/model/problem.h"

struct relevance {
	uint8_t *matters;   /* per cell: a condition depends on it, perhaps through other cells */
	uint8_t *flows;	    /* per cell: what is read from it is written again or compared */
	uint32_t *last_use; /* per read: last event of its thread that depends on its value */
	uint32_t *whole; /* per event: end of the read-modify-write sequence it starts, or e + 1 */
	struct lists classes; /* per cell that does not flow: terms that tell its values apart */
};

void relevance_init(struct relevance *r, const struct problem *p);
/* classes may have been taken over (set to NULL). */
void relevance_deinit(struct relevance *r);

#endif
