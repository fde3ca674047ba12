/* graph/ranking.h - the answer that `rank` gives: suspicious code points and reconstructions, in
 * plain data of one arena; report/rank-*.c turn it into text, JSON, DOT or a page. */
#ifndef GRAPH_RANKING_H
#define GRAPH_RANKING_H

#include "base/arena.h"
#include "graph/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct graph_loader;

/* A code point as a person sees it. NULL = not known. */
struct shown_point {
	const char *file;
	uint32_t line;
	const char *function, *object;
	const char *op;	       /* "read", "write", "update" */
	const char *source;    /* the line, trimmed */
	const char *excerpt;   /* a few lines around it ... */
	uint32_t excerpt_line; /* ... and the number of the first */
	bool initial;	       /* nobody: the value memory had before any write */
};

struct shown_member {
	const struct shown_point *point;
	const char *context; /* latest event first: "RmWr LcRd"; "" = empty */
	double confidence;
};

struct shown_region {
	struct shown_member *members;
	size_t len;
};

struct shown_reconstruction {
	size_t rank; /* from 1 */
	double score, b, c, r;
	double evidence, product, norm; /* `score` is one of them */
	double p;			/* that anything is so uneven by chance */
	uint32_t failing, passing;	/* runs with the edge */
	struct shown_member source, sink;
	struct shown_region prefix, body, suffix;
	/* in passing runs the sink gets its value from there; NULL = no such place */
	const struct shown_point *instead;
	uint32_t instead_failing, instead_passing;
};

struct shown_code_point {
	size_t rank;
	double score, ochiai;
	uint64_t runs;
	const struct shown_point *point;
};

struct ranking {
	struct arena arena;
	const char *program;
	bool unlabelled, baseline;
	const char *score_name; /* "evidence", "product", "norm" */
	size_t failing, passing, skipped, derived;
	size_t nodes, edges;
	uint32_t context;
	bool above_noise; /* some edge tells failing from passing runs better than chance */
	struct shown_reconstruction *reconstructions;
	size_t nreconstructions, reconstructions_total;
	struct shown_code_point *points;
	size_t npoints, points_total;
};

/* Fewer failing runs than these seldom tell anything apart. */
#define RANKING_FEW 5

struct ranking_options {
	bool unlabelled;
	bool baseline; /* "failing" runs are those of the field, "passing" ones the tests */
	enum graph_score score;
	uint32_t window;
	size_t top; /* reconstructions and code points to show; 0 = 10 */
};

const char *graph_score_name(enum graph_score score);
bool graph_score_find(const char *name, enum graph_score *ret);
/* Ranks what the loader holds. An error when there is nothing to compare: it says what to do. */
struct err *ranking_make(struct graph_loader *l, const struct ranking_options *o,
			 struct ranking **ret);
void ranking_free(struct ranking *r);

#endif
