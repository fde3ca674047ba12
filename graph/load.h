/* graph/load.h - the graphs of many plaits, over one numbering of code points.
 *
 *	struct graph_loader l = { .context = GRAPH_CONTEXT_ANY };
 *
 *	err = graph_loader_add(&l, "runs/", GRAPH_LABEL_OUTCOME);
 *	... l.set ...
 *	graph_loader_deinit(&l);
 *
 * Sites of one source line that do the same (inlined copies, say) are one code point. All plaits
 * must be of one build. */
#ifndef GRAPH_LOAD_H
#define GRAPH_LOAD_H

#include "graph/graph.h"

struct err;
struct trace;
struct symbols;
struct code_point;

#define GRAPH_CONTEXT_ANY UINT32_MAX /* as the first plait has it */

enum graph_label { GRAPH_LABEL_OUTCOME, GRAPH_LABEL_FAILING, GRAPH_LABEL_PASSING };

struct graph_loader {
	uint32_t context; /* cut contexts to this many events */
	struct graph_set set;
	size_t files, skipped;	 /* skipped: how the run ended is not known */
	size_t derived, lost;	 /* graphs made from events; accesses not noted */
	struct trace *first;	 /* stays open, for names */
	struct symbols *symbols; /* of `first` */
	struct map point_of_site, point_of_name;
};

/* A plait, or a folder of plaits. */
struct err *graph_loader_add(struct graph_loader *l, const char *path, enum graph_label label);
/* An open trace; does not keep it, except as `first` (*kept). */
struct err *graph_loader_add_trace(struct graph_loader *l, struct trace *t, enum graph_label label,
				   bool *kept);
/* The bytes of a section `graph` of that trace, aligned to 8, into the run that is open in the set. */
struct err *graph_loader_add_section(struct graph_loader *l, struct trace *t, const uint8_t *data,
				     size_t len);
void graph_loader_deinit(struct graph_loader *l);
/* What a code point is called. */
bool graph_loader_name(struct graph_loader *l, uint64_t point, struct code_point *ret);

#endif
