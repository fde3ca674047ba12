/* cc/instrument/order.h - the order variant: accesses that the runtime can patch. */
#ifndef CC_INSTRUMENT_ORDER_H
#define CC_INSTRUMENT_ORDER_H

struct hooks;

/* All plans of the program: accesses in a row share one place. */
void order_program(struct hooks *h);

#endif
