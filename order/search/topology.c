/* order/search/topology.c - incremental topological order; see graph.h. */
#include "order/search/topology.h"

void topology_init(struct topology *g, uint32_t n, const uint32_t *thread)
{
	*g = (struct topology){ .n = n, .thread = thread };
	g->out = xcalloc(n + 1, sizeof(*g->out));
	g->in = xcalloc(n + 1, sizeof(*g->in));
	g->pos = xcalloc(n + 1, sizeof(*g->pos));
	g->at = xcalloc(n + 1, sizeof(*g->at));
	g->seen = xcalloc(n + 1, sizeof(*g->seen));
	g->from = xcalloc(n + 1, sizeof(*g->from));
	g->from_label = xcalloc(n + 1, sizeof(*g->from_label));
	for (uint32_t e = 0; e < n; e++)
		g->pos[e] = g->at[e] = e;
}

void topology_deinit(struct topology *g)
{
	for (uint32_t e = 0; e < g->n; e++) {
		vec_deinit(&g->out[e]);
		vec_deinit(&g->in[e]);
	}
	free(g->out);
	free(g->in);
	free(g->pos);
	free(g->at);
	free(g->seen);
	free(g->from);
	free(g->from_label);
	vec_deinit(&g->added);
	vec_deinit(&g->forward);
	vec_deinit(&g->backward);
	vec_deinit(&g->slots);
	vec_deinit(&g->queue);
	vec_deinit(&g->queue2);
	vec_deinit(&g->cycle);
}

static bool has_next(const struct topology *g, uint32_t e)
{
	return e + 1 < g->n && g->thread[e + 1] == g->thread[e];
}

static bool has_prev(const struct topology *g, uint32_t e)
{
	return e > 0 && g->thread[e - 1] == g->thread[e];
}

/* ---- sorting by keys ---- */

static void heap_push(uint32_t *heap, uint32_t *n, uint32_t e, const uint32_t *key)
{
	uint32_t i = (*n)++;

	for (; i && key[heap[(i - 1) / 2]] > key[e]; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t *n, const uint32_t *key)
{
	uint32_t top = heap[0], e = heap[--*n], i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= *n)
			break;
		if (c + 1 < *n && key[heap[c + 1]] < key[heap[c]])
			c++;
		if (key[heap[c]] >= key[e])
			break;
		heap[i] = heap[c];
		i = c;
	}
	heap[i] = e;
	return top;
}

void topology_sort(struct topology *g, const uint32_t *key)
{
	uint32_t *missing = xcalloc(g->n + 1, sizeof(*missing));
	uint32_t *heap = xcalloc(g->n + 1, sizeof(*heap)), n = 0, done = 0;

	for (uint32_t e = 0; e < g->n; e++) {
		missing[e] = (uint32_t)g->in[e].len + has_prev(g, e);
		if (!missing[e])
			heap_push(heap, &n, e, key);
	}
	while (n) {
		uint32_t e = heap_pop(heap, &n, key);
		g->at[done] = e;
		g->pos[e] = done++;
		if (has_next(g, e) && !--missing[e + 1])
			heap_push(heap, &n, e + 1, key);
		for (size_t i = 0; i < g->out[e].len; i++)
			if (!--missing[g->out[e].data[i].to])
				heap_push(heap, &n, g->out[e].data[i].to, key);
	}
	assert(done == g->n);
	free(missing);
	free(heap);
}

/* ---- adding an edge ---- */

static bool reach(struct topology *g, uint32_t from, uint32_t to, int label, uint32_t goal)
{
	if (to == goal) {
		g->from[to] = from;
		g->from_label[to] = label;
		return true;
	}
	if (g->seen[to] == g->stamp || g->pos[to] > g->pos[goal])
		return false;
	g->seen[to] = g->stamp;
	g->from[to] = from;
	g->from_label[to] = label;
	if (label == LABEL_NONE)
		vec_push(&g->queue, to);
	else
		vec_push(&g->queue2, to);
	return false;
}

/* Everything after b and not after a. Edges that always hold are followed first, so that a cycle
 * found has few labels. True when a was reached. */
static bool search_forward(struct topology *g, uint32_t b, uint32_t a)
{
	size_t head = 0;

	g->stamp++;
	g->forward.len = g->queue.len = g->queue2.len = 0;
	vec_push(&g->queue, b);
	g->seen[b] = g->stamp;
	while (g->queue.len || head < g->queue2.len) {
		uint32_t e = g->queue.len ? vec_pop(&g->queue) : g->queue2.data[head++];
		vec_push(&g->forward, e);
		if (has_next(g, e) && reach(g, e, e + 1, LABEL_NONE, a))
			return true;
		for (size_t i = 0; i < g->out[e].len; i++)
			if (reach(g, e, g->out[e].data[i].to, g->out[e].data[i].label, a))
				return true;
	}
	return false;
}

static void search_backward(struct topology *g, uint32_t a, uint32_t lowest)
{
	g->backward.len = g->queue.len = 0;
	g->stamp++;
	vec_push(&g->queue, a);
	g->seen[a] = g->stamp;
	while (g->queue.len) {
		uint32_t e = vec_pop(&g->queue);
		vec_push(&g->backward, e);
		size_t n = g->in[e].len + has_prev(g, e);
		for (size_t i = 0; i < n; i++) {
			uint32_t p = i < g->in[e].len ? g->in[e].data[i].to : e - 1;
			if (g->seen[p] == g->stamp || g->pos[p] < lowest)
				continue;
			g->seen[p] = g->stamp;
			vec_push(&g->queue, p);
		}
	}
}

static int by_position(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

static void positions(struct topology *g, uint32_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i] = g->pos[list[i]];
	qsort(list, n, sizeof(*list), by_position);
}

/* What must come before a takes the first of the places involved, what follows b the rest. */
static void reorder(struct topology *g)
{
	size_t nf = g->forward.len, nb = g->backward.len, i = 0, j = 0, k = 0;

	g->moves++;
	positions(g, g->forward.data, nf);
	positions(g, g->backward.data, nb);
	g->slots.len = g->queue2.len = 0;
	for (size_t x = 0; x < nb; x++)
		vec_push(&g->queue2, g->at[g->backward.data[x]]);
	for (size_t x = 0; x < nf; x++)
		vec_push(&g->queue2, g->at[g->forward.data[x]]);
	while (i < nf || j < nb)
		if (j >= nb || (i < nf && g->forward.data[i] < g->backward.data[j]))
			vec_push(&g->slots, g->forward.data[i++]);
		else
			vec_push(&g->slots, g->backward.data[j++]);
	for (; k < g->slots.len; k++) {
		g->at[g->slots.data[k]] = g->queue2.data[k];
		g->pos[g->queue2.data[k]] = g->slots.data[k];
	}
}

bool topology_add(struct topology *g, uint32_t a, uint32_t b, int label)
{
	g->cycle.len = 0;
	if (a == b)
		return false;
	if (g->pos[a] > g->pos[b]) {
		if (search_forward(g, b, a)) {
			for (uint32_t e = a; e != b; e = g->from[e])
				if (g->from_label[e] != LABEL_NONE)
					vec_push(&g->cycle, g->from_label[e]);
			return false;
		}
		search_backward(g, a, g->pos[b]);
		reorder(g);
	}
	vec_push(&g->out[a], (struct topology_edge){ b, label });
	vec_push(&g->in[b], (struct topology_edge){ a, label });
	vec_push(&g->added, a);
	vec_push(&g->added, b);
	return true;
}

void topology_undo(struct topology *g, size_t mark)
{
	while (g->added.len > mark) {
		uint32_t b = vec_pop(&g->added), a = vec_pop(&g->added);
		g->out[a].len--;
		g->in[b].len--;
	}
}
