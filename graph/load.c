/* graph/load.c - from plaits to a graph_set.
 *
 * A plait of mode graph has a section `graph` (unplait/graph.h); from any other with recorded
 * accesses the graph is derived. Per-thread nodes become nodes of code points here: the thread is
 * not part of a node. A code point is the first site seen with its place (file, line, column),
 * function, name and kind; without a site table it is a program counter, relative to its module. */
#include "graph/load.h"

#include "base/err.h"
#include "base/mem.h"
#include "graph/derive.h"
#include "debug/names.h"
#include "unplait/graph.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* A point that is a program counter: this bit, the module's number, the offset in it. */
#define PC_POINT	(1ull << 63)
#define PC_MODULE_SHIFT 48

void graph_loader_deinit(struct graph_loader *l)
{
	graph_set_deinit(&l->set);
	symbols_close(l->symbols);
	trace_close(l->first);
	map_deinit(&l->point_of_site);
	map_deinit(&l->point_of_name);
	memset(l, 0, sizeof(*l));
}

/* ---- code points ---- */

static uint64_t pc_point(const struct trace *t, uint32_t site)
{
	const struct trace_meta *m = trace_meta(t);
	uint64_t pc = trace_pc_of_site(t, site);

	for (size_t i = 0; i < m->nmodules; i++)
		if (pc >= m->modules[i].low && pc < m->modules[i].high)
			return PC_POINT | (uint64_t)i << PC_MODULE_SHIFT |
			       (pc - m->modules[i].load_address);
	return PC_POINT | (pc & ((1ull << PC_MODULE_SHIFT) - 1));
}

static uint64_t site_point(struct graph_loader *l, uint32_t site)
{
	uint64_t *known = map_find(&l->point_of_site, site), key;
	struct code_point c;
	uint32_t place[3];

	if (known)
		return *known;
	if (!l->symbols || !symbols_site(l->symbols, site, &c) || !c.line) {
		map_put(&l->point_of_site, site, site);
		return site;
	}
	place[0] = c.line;
	place[1] = c.column;
	place[2] = c.site ? c.site->kind : 0;
	key = hash_bytes(place, sizeof(place), 1);
	key = hash_bytes(c.file, strlen(c.file), key);
	key = hash_bytes(c.function, strlen(c.function), key);
	key = hash_bytes(c.object, strlen(c.object), key);
	key = *map_put(&l->point_of_name, key, site);
	map_put(&l->point_of_site, site, key);
	return key;
}

static struct graph_node node_of(struct graph_loader *l, const struct trace *t, uint32_t site,
				 uint32_t context)
{
	uint32_t mask = l->context >= 16 ? UINT32_MAX : (1u << 2 * l->context) - 1;
	uint64_t point = site >= PLAIT_PC_SITE_FIRST ? pc_point(t, site) : site_point(l, site);

	return (struct graph_node){ point, context & mask };
}

bool graph_loader_name(struct graph_loader *l, uint64_t point, struct code_point *ret)
{
	const struct trace_meta *m = trace_meta(l->first);
	uint64_t module = (point & ~PC_POINT) >> PC_MODULE_SHIFT;

	memset(ret, 0, sizeof(*ret));
	ret->file = ret->function = ret->object = "";
	if (point == GRAPH_INITIAL || !l->symbols)
		return false;
	if (!(point & PC_POINT))
		return symbols_site(l->symbols, (uint32_t)point, ret);
	if (module >= m->nmodules)
		return false;
	return symbols_pc(
		l->symbols,
		(point & ((1ull << PC_MODULE_SHIFT) - 1)) + m->modules[module].load_address, ret);
}

/* ---- one trace ---- */

static struct err *damaged(const struct trace *t)
{
	return err_new(ERR_ENV, "%s: its graph is damaged; record that run again or leave it out",
		       trace_path(t));
}

static struct err *check_context(struct graph_loader *l, const struct trace *t, uint32_t has)
{
	if (l->context == GRAPH_CONTEXT_ANY)
		l->context = has;
	if (has >= l->context)
		return NULL;
	return err_new(ERR_ENV,
		       "%s was recorded with contexts of %u events, fewer than %u; rank with "
		       "--context %u, or record again with --context %u",
		       trace_path(t), has, l->context, has, l->context);
}

/* The ids of a section's nodes in the set; the last is that of GRAPH_INITIAL. */
static uint32_t *section_nodes(struct graph_loader *l, const struct trace *t,
			       const struct plait_graph_node *nodes, uint32_t n)
{
	struct graph_node *points = xcalloc(n + 1, sizeof(*points));
	uint32_t *ids = xcalloc(n + 1, sizeof(*ids));

	for (uint32_t i = 0; i < n; i++)
		points[i] = node_of(l, t, nodes[i].site, nodes[i].context);
	points[n] = (struct graph_node){ GRAPH_INITIAL, 0 };
	graph_set_nodes(&l->set, points, n + 1, ids);
	free(points);
	return ids;
}

struct err *graph_loader_add_section(struct graph_loader *l, struct trace *t, const uint8_t *data,
				     size_t len)
{
	const struct plait_graph_header *h = (const void *)data;
	const struct plait_graph_node *nodes = (const void *)(data + sizeof(*h));
	const struct plait_graph_edge *edges;
	_cleanup_(xfreep) uint32_t *ids = NULL; /* [node]: its id in the set */
	_cleanup_(xfreep) struct graph_raw_link *links = NULL;
	struct err *err;

	if (len < sizeof(*h) || memcmp(h->magic, PLAIT_GRAPH_MAGIC, 8) != 0)
		return damaged(t);
	if (h->version != PLAIT_GRAPH_VERSION || h->size != sizeof(*h))
		return err_new(ERR_ENV,
			       "%s: its graph is of another version of unplait; record it again",
			       trace_path(t));
	if (h->nnodes > PLAIT_GRAPH_NODES || h->edges > len ||
	    len != sizeof(*h) + h->nnodes * sizeof(*nodes) + h->edges * sizeof(*edges))
		return damaged(t);
	edges = (const void *)(nodes + h->nnodes);
	err = check_context(l, t, h->context);
	if (err)
		return err;
	ids = section_nodes(l, t, nodes, (uint32_t)h->nnodes);
	links = xcalloc(h->edges + 1, sizeof(*links));
	for (uint64_t i = 0; i < h->edges; i++) {
		const struct plait_graph_edge *e = &edges[i];

		if (e->sink >= h->nnodes || (e->src >= h->nnodes && e->src != PLAIT_GRAPH_INITIAL))
			return damaged(t);
		links[i] = (struct graph_raw_link){
			ids[e->src == PLAIT_GRAPH_INITIAL ? h->nnodes : e->src], ids[e->sink],
			e->src_time, e->sink_time, e->count
		};
	}
	graph_set_links(&l->set, links, h->edges);
	l->lost += h->lost > 0;
	return NULL;
}

struct deriving {
	struct graph_loader *l;
	struct trace *t;
};

static void add_derived(const struct derived_edge *e, void *arg)
{
	struct deriving *d = arg;
	struct graph_node src = { GRAPH_INITIAL, 0 };

	if (e->src_site != UINT32_MAX)
		src = node_of(d->l, d->t, e->src_site, e->src_context);
	graph_set_add(&d->l->set, src, e->src_time,
		      node_of(d->l, d->t, e->sink_site, e->sink_context), e->sink_time, 1);
}

static void add_bystander(uint32_t site, uint32_t context, uint64_t time, void *arg)
{
	struct deriving *d = arg;

	graph_set_bystander(&d->l->set, node_of(d->l, d->t, site, context), time);
}

static struct err *add_graph(struct graph_loader *l, struct trace *t)
{
	struct deriving d = { l, t };
	struct derive_options o = { .shift = 2, .first_read = true };
	const void *data;
	size_t len;
	struct err *err = trace_section(t, "graph", &data, &len);

	if (err)
		return err;
	if (data)
		return graph_loader_add_section(l, t, data, len);
	if (trace_meta(t)->mode != PLAIT_MODE_FULL && trace_meta(t)->mode != PLAIT_MODE_CONTROL)
		return err_new(
			ERR_ENV,
			"%s is a plait of mode %s and holds no graph; record with --mode graph",
			trace_path(t), mode_name(trace_meta(t)->mode));
	if (trace_meta(t)->flags & PLAIT_RUN_SYNC_ONLY)
		return err_new(ERR_ENV,
			       "%s: the program was not built with `unplait cc`, so its memory "
			       "accesses were not seen; build it so and record again",
			       trace_path(t));
	if (l->context == GRAPH_CONTEXT_ANY)
		l->context = 5;
	o.context = l->context;
	l->derived++;
	return graph_derive(t, &o, add_derived, add_bystander, &d);
}

static bool same_module(const struct trace_module *a, const struct trace_module *b)
{
	return a->first_site == b->first_site &&
	       (strcmp(a->build_id, b->build_id) == 0 ||
		binary_same_sites(a->path, a->build_id, b->path, b->build_id));
}

/* Site numbers mean the same only if the instrumented modules are the same. */
static struct err *check_build(const struct trace *first, const struct trace *t)
{
	const struct trace_meta *a = trace_meta(first), *b = trace_meta(t);

	for (size_t i = 0, k = 0;; i++, k++) {
		while (i < a->nmodules && !a->modules[i].nsites)
			i++;
		while (k < b->nmodules && !b->modules[k].nsites)
			k++;
		if (i >= a->nmodules && k >= b->nmodules)
			return NULL;
		if (i >= a->nmodules || k >= b->nmodules ||
		    !same_module(&a->modules[i], &b->modules[k]))
			return err_new(ERR_ENV,
				       "%s and %s are runs of different builds, whose code points "
				       "cannot be compared; record all runs with one build",
				       trace_path(first), trace_path(t));
	}
}

struct err *graph_loader_add_trace(struct graph_loader *l, struct trace *t, enum graph_label label,
				   bool *kept)
{
	enum plait_outcome_kind outcome = trace_meta(t)->outcome.kind;
	struct err *err;

	*kept = false;
	if (label == GRAPH_LABEL_OUTCOME && outcome == PLAIT_OUTCOME_UNKNOWN) {
		l->skipped++;
		return NULL;
	}
	if (l->first) {
		err = check_build(l->first, t);
		if (err)
			return err;
	} else {
		/* without names the numbers still rank: reports then show sites */
		err = symbols_open(t, &l->symbols);
		if (err)
			return err;
		l->first = t;
		*kept = true;
	}
	graph_set_begin(&l->set, label == GRAPH_LABEL_FAILING || (label == GRAPH_LABEL_OUTCOME &&
								  outcome != PLAIT_OUTCOME_PASS));
	err = add_graph(l, t);
	graph_set_end(&l->set);
	l->files++;
	return err;
}

static struct err *add_file(struct graph_loader *l, const char *path, enum graph_label label)
{
	struct trace *t;
	bool kept = false;
	struct err *err = trace_open(path, &t);

	if (err)
		return err;
	err = graph_loader_add_trace(l, t, label, &kept);
	if (!kept)
		trace_close(t);
	return err;
}

static int is_plait(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 6 && strcmp(d->d_name + n - 6, ".plait") == 0;
}

struct err *graph_loader_add(struct graph_loader *l, const char *path, enum graph_label label)
{
	_cleanup_(xfreep) char *run = xasprintf("%s/run", path);
	struct dirent **names;
	struct err *err = NULL;
	struct stat st;
	int n;

	/* a run folder that nobody sealed is read like a plait */
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode) || stat(run, &st) == 0)
		return add_file(l, path, label);
	n = scandir(path, &names, is_plait, alphasort);
	for (int i = 0; i < n; i++) {
		_cleanup_(xfreep) char *file = xasprintf("%s/%s", path, names[i]->d_name);

		if (!err)
			err = add_file(l, file, label);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	if (n <= 0)
		return err_new(ERR_ENV,
			       "%s holds no plaits; make some with `unplait record --mode "
			       "graph --runs 50 -o %s -- PROGRAM`",
			       path, path);
	return err;
}
