/* cc/instrument/allocation.h - allocation goes through libplait. */
#ifndef CC_INSTRUMENT_ALLOCATION_H
#define CC_INSTRUMENT_ALLOCATION_H

struct hooks;
struct plan;

/* The allocating or freeing call of one plan: redirect it, or note it. */
void allocation_at(struct hooks *h, const struct plan *plan);

#endif
