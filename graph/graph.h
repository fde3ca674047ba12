/* graph/graph.h - context-aware communication graphs of many runs, and what they say together.
 *
 * A node is a code point executed in a communication context (the last few sharing events its
 * thread saw). An edge says: the sink read or overwrote what the source wrote, in another thread.
 * Each run gives one graph; a graph_set holds the graphs of many runs over one numbering of nodes
 * and edges. Everything lives until graph_set_deinit. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/map.h"
#include "base/vec.h"
#include "graph/pairs.h"

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_INITIAL UINT64_MAX /* the code point "nobody wrote this yet" */

struct graph_node {
	uint64_t point;	  /* code point: a site number */
	uint32_t context; /* the shift register */
};

/* One edge of one run. */
struct graph_link {
	uint32_t edge;		      /* id in the set */
	uint64_t src_time, sink_time; /* of its last occurrence */
	uint64_t count;		      /* of its occurrences */
};

/* A node that was there without communicating, and when it was last. */
struct graph_bystander {
	uint32_t node;
	uint64_t time;
};

struct graph {
	VEC(struct graph_link) links;
	VEC(struct graph_bystander) bystanders; /* of runs whose events were all recorded */
	bool failing;
};

struct graph_edge {
	uint32_t src, sink; /* node ids */
};

struct graph_set {
	VEC(struct graph_node) nodes;
	VEC(struct graph_edge) edges;
	VEC(struct graph) graphs;
	struct pairs node_ids; /* (point, context) */
	struct pairs edge_ids; /* (src, sink) */
	size_t nfailing, npassing;
};

void graph_set_deinit(struct graph_set *s);
/* Start the graph of another run; the edges added next belong to it. */
void graph_set_begin(struct graph_set *s, bool failing);
/* Add an edge to the current graph. The same edge again moves its times on and adds to its count.
 * Edges of one graph may come in any order; call graph_set_end when done. */
void graph_set_add(struct graph_set *s, struct graph_node src, uint64_t src_time,
		   struct graph_node sink, uint64_t sink_time, uint64_t count);
/* The same in two steps, for callers that add many edges of few nodes. */
struct graph_raw_link {
	uint32_t src, sink; /* nodes */
	uint64_t src_time, sink_time, count;
};
uint32_t graph_set_node(struct graph_set *s, struct graph_node n);
void graph_set_links(struct graph_set *s, const struct graph_raw_link *links, size_t n);
/* Many nodes at once: ids[i] becomes the id of nodes[i]. */
void graph_set_nodes(struct graph_set *s, const struct graph_node *nodes, size_t n, uint32_t *ids);
void graph_set_bystander(struct graph_set *s, struct graph_node n, uint64_t time);
void graph_set_end(struct graph_set *s);

/* ---- reconstructions (004 sections 3.2 to 4) ---- */

struct graph_member {
	uint32_t node;	   /* one of those that the member stands for */
	double confidence; /* fraction of the runs with this edge in which it stood in the region */
};

struct graph_region VEC_FIELDS(struct graph_member);

/* What the sink reads or overwrites in passing runs, where failing ones have the edge. */
struct graph_instead {
	bool known;
	uint32_t node; /* a node of the other source */
	uint32_t runs_failing, runs_passing;
};

struct reconstruction {
	uint32_t edge;	 /* the edge, or one of those it stands for ... */
	uint32_t events; /* ... whose contexts agree in so many of the last events */
	double b, c, r;
	double evidence, product, norm, score; /* score: the one asked for */
	double chance;	 /* that anything is so uneven when the labels mean nothing */
	double position; /* of the sink in the failing runs: 0 at their start, 1 at their end */
	uint32_t runs_failing, runs_passing; /* with this edge */
	struct graph_region prefix, body, suffix;
	struct graph_instead instead;
};

enum graph_score {
	GRAPH_SCORE_EVIDENCE, /* pairs of code points, contexts as long as tells most: levels.c */
	GRAPH_SCORE_PRODUCT,  /* of the non-zero features: what the paper says */
	GRAPH_SCORE_NORM,     /* sqrt(B^2 + C^2 + R^2) over counts, and regions as the original tool
				 made them: original.c says how they differ */
};

/* What is less likely than this by chance stands above the noise. */
#define GRAPH_SIGNIFICANT 0.01

struct reconstruct_opts {
	enum graph_score score;
	uint32_t window;    /* before the source and after the sink; 0 = 8 code points (evidence) or
			       5 nodes */
	uint32_t max_edges; /* take the best by evidence or B; 0 = 200 or 2000 */
};

struct reconstructions {
	struct reconstruction *data; /* a vec */
	size_t len, cap;
	double chance; /* of the most uneven edge of all: what stands above the noise is below 0.05
			*/
};

/* Best first. Ties are broken by time, the earlier first, then by edges: equal input gives equal
 * output. */
void graph_reconstruct(const struct graph_set *s, const struct reconstruct_opts *opts,
		       struct reconstructions *ret);
void reconstructions_deinit(struct reconstructions *r);

/* ---- code points (003 section 5) ---- */

struct ranked_point {
	uint64_t point;
	double score;  /* smaller = more suspicious (mean relative frequency of its contexts) */
	double ochiai; /* larger = more suspicious; 0 without labels */
	double fused;  /* larger = more suspicious: graph_fuse_points */
	uint64_t runs; /* in which it took part */
};

struct ranked_points VEC_FIELDS(struct ranked_point);

enum graph_labels {
	GRAPH_LABELLED,	  /* bug-only graphs: failing ones minus the union of the passing */
	GRAPH_UNLABELLED, /* all runs alike */
};

void graph_rank_points(const struct graph_set *s, enum graph_labels labels,
		       struct ranked_points *ret);
/* Order them anew by three opinions: the score, Ochiai's coefficient, and the ends of telling edges
 * (code points, the most telling first; may repeat). */
void graph_fuse_points(struct ranked_points *points, const uint64_t *ends, size_t nends);

#endif
