/* unplait/graph.h - communication graphs as the runtime leaves them in a run folder.
 *
 *	graph    struct plait_graph_header, padded to PLAIT_GRAPH_NODES_AT bytes, then nodes
 *	gNNNNN   edges whose sink is thread NNNNN; the first whose sink is 0 ends them
 *
 * Both are mapped files: they survive whatever kills the target. In a plait they are one section
 * `graph`: the header, nnodes nodes, then all edges.
 *
 * A node is a site that a thread executed in a communication context; the context is a shift
 * register, two bits per event, the latest in the lowest bits. */
#ifndef UNPLAIT_GRAPH_H
#define UNPLAIT_GRAPH_H

#include <stdint.h>

#define PLAIT_GRAPH_MAGIC    "PLGRAPH" /* 8 bytes with the NUL */
#define PLAIT_GRAPH_VERSION  1
#define PLAIT_GRAPH_NODES_AT 4096
#define PLAIT_GRAPH_NODES    (1u << 22) /* at most */
#define PLAIT_GRAPH_EDGES    (1u << 22) /* per thread, at most */
#define PLAIT_GRAPH_INITIAL  UINT32_MAX /* as an edge's source: nobody has written this yet */
#define PLAIT_GRAPH_CONTEXT  16		/* events in a context, at most */

/* Events of a context. */
enum plait_graph_event {
	PLAIT_GRAPH_LOCAL_READ,	  /* read what another thread wrote */
	PLAIT_GRAPH_LOCAL_WRITE,  /* wrote what another thread had written or read */
	PLAIT_GRAPH_REMOTE_READ,  /* another thread read what this one wrote */
	PLAIT_GRAPH_REMOTE_WRITE, /* another thread wrote what this one had written or read */
};

enum plait_graph_flags {
	PLAIT_GRAPH_FIRST_READ = 1,  /* only the first read after a remote write counts */
	PLAIT_GRAPH_FIRST_WRITE = 2, /* only the first write after a remote access counts */
	PLAIT_GRAPH_RACY = 4,	     /* whether anything is to do is looked up without a lock */
	PLAIT_GRAPH_HARDWARE = 8,    /* the model of private caches */
};

struct plait_graph_header {
	char magic[8];
	uint32_t version, size; /* sizeof(struct plait_graph_header) */
	uint32_t context;	/* events per context */
	uint32_t shift;		/* log2 of the granularity in bytes: 2 word, 6 line */
	uint32_t flags;		/* enum plait_graph_flags */
	uint32_t nnodes;	/* handed out; node 0 is not used */
	uint64_t lost;		/* accesses that could not be noted */
	uint64_t edges;		/* in a plait's section: how many follow the nodes */
	/* the model of private caches */
	uint32_t cache_bytes, cache_ways;
	uint64_t operations, read_misses, write_misses, upgrades;
	uint64_t metadata_writes, table_writes, traps;
};

struct plait_graph_node {
	uint32_t site, context;
	uint32_t thread;
	uint32_t reserved;
	uint64_t time;	/* of its last execution that took part in communication */
	uint64_t count; /* how many such executions */
};

struct plait_graph_edge {
	uint32_t src, sink; /* nodes */
	uint64_t src_time, sink_time;
	uint64_t count;
};

#endif
