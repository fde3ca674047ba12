/* graph/original.c - reconstructions as the tool behind 004 computed them, for --score norm.
 *
 * Its published output is reproduced to the last digit by these rules, which differ from the text
 * of the paper (and from reconstruct.c, which follows the text):
 *
 * - A run is the list of both ends of all its edges in time order, so a node may stand in it more
 *   than once; each node counts once per region and run.
 * - The window is the number of decimal digits of the source's context: 1 to 4, not the 5 events.
 * - A prefix that would begin before the first node goes on at the end of the run: the first node
 *   has the last one as its predecessor. If the sink is met there, the run is read from there.
 * - A node met again does not stop the walk, so a suffix may be longer than the window.
 * - Confidence is relative to all failing runs, no member is dropped before R is taken, and at most
 *   ten of each region are shown.
 * - B is a ratio of counts of runs, not of fractions; score = sqrt(B^2 + C^2 + R^2), R a mean of
 *   counts. */
#include "graph/regions.h"

#include <string.h>

void original_timeline(const struct graph_set *s, const struct graph *g, struct timeline *ret)
{
	for (size_t i = 0; i < g->links.len; i++) {
		const struct graph_link *l = &g->links.data[i];

		vec_push(ret, (struct timed_node){ l->src_time, s->edges.data[l->edge].src });
		vec_push(ret, (struct timed_node){ l->sink_time, s->edges.data[l->edge].sink });
	}
	vec_sort(ret, timeline_order);
}

static long digits(uint32_t n)
{
	long d = 1;

	for (; n >= 10; n /= 10)
		d++;
	return d;
}

/* The nodes of one region in one run; regions are short or read once, so a list is fast enough. */
struct seen VEC_FIELDS(uint32_t);

static bool first_time(struct seen *seen, uint32_t node)
{
	for (size_t i = 0; i < seen->len; i++)
		if (seen->data[i] == node)
			return false;
	vec_push(seen, node);
	return true;
}

static long find_source(const struct timeline *t, uint32_t node, uint64_t time)
{
	for (size_t i = 0; i < t->len; i++)
		if (t->data[i].node == node && t->data[i].time == time)
			return (long)i;
	return -1;
}

/* Adds the node at `at` to its region; false: it was there already. */
static bool add(long at, long src, long sink, uint32_t node, struct seen seen[3], struct regions *r)
{
	if (at < src) {
		if (!first_time(&seen[0], node))
			return false;
		counts_add(&r->prefix, node);
	}
	if (at > src && at < sink) {
		if (!first_time(&seen[1], node))
			return false;
		counts_add(&r->body, node);
	}
	if (at > sink) {
		if (!first_time(&seen[2], node))
			return false;
		counts_add(&r->suffix, node);
	}
	return true;
}

void original_count(const struct timeline *t, const struct graph_set *s, const struct graph_link *l,
		    struct regions *r)
{
	const struct graph_edge *e = &s->edges.data[l->edge];
	long window = digits(s->nodes.data[e->src].context), len = (long)t->len;
	long src = find_source(t, e->src, l->src_time), sink = len - 1, end = sink;
	struct seen seen[3] = { 0 };

	for (long at = MAX(src - window, -len); at < len; at++) {
		const struct timed_node *n = &t->data[at < 0 ? at + len : at];

		if (n->node == e->sink && n->time == l->sink_time) {
			sink = at;
			end = at + window;
		}
		if (add(at, src, sink, n->node, seen, r) && at == end)
			break;
	}
	for (int i = 0; i < 3; i++)
		vec_deinit(&seen[i]);
}
