/* order/oracle.h - can the rest of the traces still get along with one cell? Private to order/. */
#ifndef ORDER_ORACLE_H
#define ORDER_ORACLE_H

#include "order/relevance.h"
#include "order/run.h"
#include "order/saturate.h"

struct oracle;

struct oracle *oracle_new(const struct problem *p, const struct facts *f,
			  const struct relevance *rel);
void oracle_free(struct oracle *o);

/* False: looking at this cell alone, no order of the remaining events can work. */
bool oracle_alive(struct oracle *o, const struct run *r, uint32_t cell);

#endif
