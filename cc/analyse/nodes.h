/* cc/analyse/nodes.h - private to the points-to analysis: build and merge nodes. */
#ifndef CC_ANALYSE_NODES_H
#define CC_ANALYSE_NODES_H

#include "cc/analyse/pointsto.h"

#define NOWHERE ((struct cell){ 0, 0 })

struct cell node_new(struct pointsto *pt, unsigned flags, LLVMValueRef home);
/* Bytes [off, off + size) of its objects are copied elsewhere. */
void node_note_copied(struct pointsto *pt, struct cell c, int32_t size);
/* The node of everything we do not see. */
struct cell node_outside(struct pointsto *pt);
/* Memory of a library that points to nothing but itself; any thread may touch it. */
struct cell node_library(struct pointsto *pt);
/* The two mean the same place from now on, and so does what they point to. */
void node_unify(struct pointsto *pt, struct cell a, struct cell b);
/* Objects of `from` may also be objects of `to`. */
void node_add_edge(struct pointsto *pt, struct cell from, struct cell to);
/* What the memory at c points to; a new node when nothing was known. */
struct cell node_link(struct pointsto *pt, struct cell c);
/* The same; NOWHERE when nothing is known. */
struct cell node_find_link(struct pointsto *pt, struct cell c);
/* An array of elements of that size: offsets are modulo. */
void node_set_stride(struct pointsto *pt, uint32_t node, uint32_t stride);
/* Tell fields apart no longer. */
void node_collapse(struct pointsto *pt, uint32_t node);
void node_point_to_itself(struct pointsto *pt, uint32_t node);

/* Functions that we do not see are among those it stands for. */
void node_add_unknown(struct pointsto *pt, uint32_t node);
void node_add_function(struct pointsto *pt, uint32_t node, LLVMValueRef f);
/* Add a whole set; true when it was not there. */
bool node_add_functions(struct pointsto *pt, uint32_t node, const uint64_t *fns);
size_t node_count_functions(const struct pointsto *pt, uint32_t node);

#endif
