/* cc/instrument/graph.h - the graph variant: a look at the shadow before each access. */
#ifndef CC_INSTRUMENT_GRAPH_H
#define CC_INSTRUMENT_GRAPH_H

struct hooks;
struct plan;

/* One plan; the builder stands before its instruction. */
void graph_at(struct hooks *h, const struct plan *plan);

#endif
