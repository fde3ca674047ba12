/* coop/similar.h - private: similarity with its constants taken out of the loop. */
#ifndef COOP_SIMILAR_H
#define COOP_SIMILAR_H

#include "coop/coop.h"

/* An element's weight, and the sum of all weights: integers. */
uint64_t similar_weight(const struct coop *c, enum coop_metric metric, uint32_t element);
uint64_t similar_total(const struct coop *c, enum coop_metric metric);
double similar_logs(const struct coop *c, enum coop_metric metric, uint64_t total, uint32_t a,
		    uint32_t b);
uint64_t similar_positions(const struct coop_vector *a, const struct coop_vector *b);

#endif
