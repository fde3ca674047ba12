#include "order/model/skeleton.h"

#include "base/strbuf.h"

#include <inttypes.h>

struct walk {
	const struct order_model *m;
	uint32_t *last;	   /* per object: the last event that changed it, ORDER_NONE */
	uint32_t *end_of;  /* per thread: its last event so far */
	uint32_t *fork_of; /* per thread: the event that made it */
	struct order_edges *out;
};

static void edge(struct walk *w, uint32_t before, uint32_t after)
{
	if (before != ORDER_NONE &&
	    w->m->events.data[before].thread != w->m->events.data[after].thread)
		vec_push(w->out, ((struct order_edge){ before, after }));
}

static void look(struct walk *w, uint32_t id)
{
	const struct order_event *e = &w->m->events.data[id];

	switch (e->kind) {
	case ORDER_READ:
		edge(w, w->last[e->object], id);
		break;
	case ORDER_RMW:
	case ORDER_SEM_WAIT:
	case ORDER_BARRIER_LEAVE:
		edge(w, w->last[e->object], id);
		w->last[e->object] = id;
		break;
	case ORDER_LOCK:
	case ORDER_RDLOCK:
	case ORDER_WRLOCK:
		edge(w, w->last[e->object], id);
		break;
	case ORDER_WAIT:
		w->last[e->mutex] = id;
		break;
	case ORDER_WAKE:
	case ORDER_WAKE_TIMEOUT:
		edge(w, w->last[e->mutex], id);
		if (e->kind == ORDER_WAKE && w->last[e->object] != w->last[e->mutex])
			edge(w, w->last[e->object], id);
		break;
	case ORDER_WRITE:
	case ORDER_UNLOCK:
	case ORDER_RWUNLOCK:
	case ORDER_SIGNAL:
	case ORDER_BROADCAST:
	case ORDER_SEM_POST:
	case ORDER_BARRIER_ENTER:
		w->last[e->object] = id;
		break;
	case ORDER_FORK:
		w->fork_of[e->object] = id;
		break;
	case ORDER_START:
		edge(w, w->fork_of[e->thread], id);
		break;
	case ORDER_JOIN:
		edge(w, w->end_of[e->object], id);
		break;
	default:
		break;
	}
	w->end_of[e->thread] = id;
}

static uint32_t *nothing(size_t n)
{
	uint32_t *p = xcalloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = ORDER_NONE;
	return p;
}

void order_skeleton(const struct order_model *m, const uint32_t *order, size_t len,
		    struct order_edges *ret)
{
	struct walk w = { m, nothing(m->objects.len), nothing(m->threads.len),
			  nothing(m->threads.len), ret };

	*ret = (struct order_edges){ 0 };
	for (size_t i = 0; i < len; i++)
		if (!m->events.data[order[i]].synthetic)
			look(&w, order[i]);
	free(w.last);
	free(w.end_of);
	free(w.fork_of);
}

static void add_quoted(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_adds(out, "\\");
		strbuf_addf(out, "%c", *text);
	}
}

static void draw_thread(const struct order_model *m, uint32_t t, const bool *drawn,
			void (*place)(void *arg, uint64_t site, struct strbuf *out), void *arg,
			struct strbuf *out)
{
	const struct order_thread *thread = &m->threads.data[t];
	uint32_t before = ORDER_NONE;

	strbuf_addf(out, "  subgraph cluster_%" PRIu32 " {\n    label=\"thread %s\";\n", t,
		    thread->name);
	for (size_t i = 0; i < thread->len; i++) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
		uint32_t id = thread->data[i];
		const struct order_event *e = &m->events.data[id];

		if (!drawn[id])
			continue;
		strbuf_adds(&text, order_kind_name((enum order_kind)e->kind));
		if (e->object < m->objects.len &&
		    order_kind_object((enum order_kind)e->kind) != ORDER_OBJECT_THREAD)
			strbuf_addf(&text, " %s", m->objects.data[e->object].name);
		strbuf_addf(out, "    e%" PRIu32 " [label=\"", id);
		add_quoted(out, strbuf_str(&text));
		if (place) {
			strbuf_clear(&text);
			place(arg, e->site, &text);
			if (text.len) {
				strbuf_adds(out, "\\n");
				add_quoted(out, strbuf_str(&text));
			}
		}
		strbuf_adds(out, "\"];\n");
		if (before != ORDER_NONE)
			strbuf_addf(out, "    e%" PRIu32 " -> e%" PRIu32 " [style=dotted];\n",
				    before, id);
		before = id;
	}
	strbuf_adds(out, "  }\n");
}

void order_skeleton_dot(const struct order_model *m, const uint32_t *order, size_t len,
			void (*place)(void *arg, uint64_t site, struct strbuf *out), void *arg,
			struct strbuf *out)
{
	bool *drawn = xcalloc(m->events.len + 1, sizeof(*drawn));
	struct order_edges edges;

	order_skeleton(m, order, len, &edges);
	for (size_t i = 0; i < edges.len; i++)
		drawn[edges.data[i].before] = drawn[edges.data[i].after] = true;
	strbuf_adds(out, "digraph order {\n  node [shape=box, fontname=monospace];\n");
	for (uint32_t t = 0; t < m->threads.len; t++)
		draw_thread(m, t, drawn, place, arg, out);
	for (size_t i = 0; i < edges.len; i++)
		strbuf_addf(out, "  e%" PRIu32 " -> e%" PRIu32 ";\n", edges.data[i].before,
			    edges.data[i].after);
	strbuf_adds(out, "}\n");
	vec_deinit(&edges);
	free(drawn);
}
