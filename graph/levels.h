/* graph/levels.h - the edges of many runs at every length of context.
 *
 * Two edges are one candidate of level n when their code points agree and the last n events of
 * their contexts do. Level 0 are pairs of code points. Private to graph/. */
#ifndef GRAPH_LEVELS_H
#define GRAPH_LEVELS_H

#include "graph/graph.h"

enum { LEVELS = 7 };

struct candidate {
	uint32_t edge;		   /* the first of its edges */
	uint32_t pair;		   /* its candidate of level 0 */
	uint32_t nedges;	   /* that it stands for */
	uint32_t failing, passing; /* runs with any of them */
};

struct candidates VEC_FIELDS(struct candidate);

struct level {
	uint32_t events;	      /* of a context that count; UINT32_MAX = all */
	uint32_t *of_edge;	      /* [edge]: its candidate */
	struct candidates candidates; /* in order of their first edges */
};

struct graph_levels {
	const struct graph_set *set;
	uint32_t *point_of_node; /* [node]: dense number of its code point */
	uint32_t npoints;
	size_t words;	   /* of a set of runs */
	uint64_t *runs;	   /* [edge * words]: the runs with it */
	uint64_t *failing; /* the failing runs */
	struct level level[LEVELS];
	unsigned nlevels;
	double *log_factorial; /* [0 to the number of runs] */
	double tests; /* how many candidates had a chance to stand out, for graph_levels_chance */
};

void graph_levels_init(struct graph_levels *l, const struct graph_set *s);
void graph_levels_deinit(struct graph_levels *l);
bool graph_levels_has(const struct graph_levels *l, uint32_t edge, size_t run);
/* What the labels say about a candidate, in nats: the more, the better it tells failing runs from
 * passing ones, for one of as many as its level has. */
double graph_levels_evidence(const struct graph_levels *l, const struct level *level,
			     uint32_t failing, uint32_t passing);
/* Probability that any candidate at all is so uneven when the labels mean nothing; at most 1. */
double graph_levels_chance(const struct graph_levels *l, uint32_t failing, uint32_t passing);
/* The same of the most uneven candidate. */
double graph_levels_best_chance(const struct graph_levels *l);

#endif
