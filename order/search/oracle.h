/* order/search/oracle.h - can the rest of the traces still get along with one cell? Private to order/. */
#ifndef ORDER_SEARCH_ORACLE_H
#define ORDER_SEARCH_ORACLE_H

#include "order/search/relevance.h"
#include "order/model/run.h"
#include "order/search/saturate.h"

struct oracle;

struct oracle *oracle_new(const struct problem *p, const struct facts *f,
			  const struct relevance *rel);
void oracle_free(struct oracle *o);

/* False: looking at this cell alone, no order of the remaining events can work. */
bool oracle_alive(struct oracle *o, const struct run *r, uint32_t cell);

#endif
