/* bench/05-rank-speed.c - how long the analysis of many graphs takes.
 * usage: bench-rank GRAPHS EDGES; prints seconds to load and to rank synthetic graphs, half of them
 * failing, whose edges overlap as those of real runs do. */
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NODES = 100000 };

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static struct graph_node node(uint64_t x)
{
	return (struct graph_node){ x / 50 + 1, (uint32_t)(x % 50 * 20) };
}

int main(int argc, char **argv)
{
	unsigned graphs = argc > 1 ? (unsigned)atoi(argv[1]) : 50;
	unsigned edges = argc > 2 ? (unsigned)atoi(argv[2]) : 200000;
	struct reconstruct_opts opts = { 0 };
	struct reconstructions r;
	struct ranked_points points;
	struct graph_set s = { 0 };
	uint32_t *ids = malloc(NODES * sizeof(*ids));
	struct graph_node *nodes = malloc(NODES * sizeof(*nodes));
	struct graph_raw_link *links = malloc(edges * sizeof(*links));
	double start = cpu_seconds(), loaded;

	for (unsigned g = 0; g < graphs; g++) {
		uint64_t seed = g % 2;

		graph_set_begin(&s, g % 2);
		for (uint64_t n = 0; n < NODES; n++) /* as the loader does */
			nodes[n] = node(n);
		graph_set_nodes(&s, nodes, NODES, ids);
		for (uint64_t e = 0; e < edges; e++) {
			uint64_t x = hash_u64(e * 2 + (e % 100 == 0 ? seed : 0));
			uint64_t time = hash_u64(e ^ (uint64_t)g << 40) % 1000000000;

			links[e] = (struct graph_raw_link){ ids[x % NODES], ids[(x >> 32) % NODES],
							    time, time + x % 1000000, 1 + e % 7 };
		}
		graph_set_links(&s, links, edges);
		graph_set_end(&s);
	}
	loaded = cpu_seconds();
	graph_reconstruct(&s, &opts, &r);
	graph_rank_points(&s, GRAPH_LABELLED, &points);
	printf("| %u | %u | %.2f | %.2f | %zu |\n", graphs, edges, loaded - start,
	       cpu_seconds() - loaded, r.len);
	free(ids);
	free(nodes);
	free(links);
	vec_deinit(&points);
	reconstructions_deinit(&r);
	graph_set_deinit(&s);
	return 0;
}
