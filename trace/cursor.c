/* trace/cursor.c - events in order: one thread's, or all, merged by clock with a binary heap. */
#include "trace/format.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct cursor_thread {
	uint32_t thread;
	size_t entry; /* next entry of the directory to look at */
	struct strbuf block;
	struct decoder decoder;
	uint64_t left; /* events of the block not yet decoded */
	struct event ev;
};

void cursor_init(struct cursor *c, struct trace *t, uint32_t thread, uint64_t index)
{
	size_t n = thread == CURSOR_ALL ? trace_meta(t)->nthreads : 1;

	assert(thread == CURSOR_ALL ? index == 0 : thread < trace_meta(t)->nthreads);
	*c = (struct cursor){ .trace = t, .thread = thread, .start = index, .nthreads = n };
	c->threads = xcalloc(n + 1, sizeof(*c->threads));
	c->heap = xcalloc(n + 1, sizeof(*c->heap));
	for (uint32_t i = 0; i < n; i++)
		c->threads[i].thread = thread == CURSOR_ALL ? i : thread;
}

void cursor_deinit(struct cursor *c)
{
	for (size_t i = 0; i < c->nthreads; i++)
		strbuf_deinit(&c->threads[i].block);
	free(c->threads);
	free(c->heap);
	*c = (struct cursor){ 0 };
}

/* Load the thread's next block that holds event `index` or a later one; false at the end. */
static struct err *next_block(struct trace *t, struct cursor_thread *ct, uint64_t index, bool *ret)
{
	const struct format_entry *e;
	struct err *err;

	*ret = false;
	while ((e = trace_entry(t, ct->entry)) != NULL) {
		ct->entry++;
		if (strcmp(e->name, "events") != 0 || e->thread != ct->thread ||
		    e->first_index + e->nevents <= index)
			continue;
		err = trace_load(t, e, &ct->block);
		if (err)
			return err;
		ct->left = e->nevents;
		ct->decoder = (struct decoder){
			.next = (const uint8_t *)ct->block.data,
			.end = (const uint8_t *)ct->block.data + ct->block.len,
			.clock_kind = trace_meta(t)->clock,
			.index = e->first_index,
			.clock = e->clock,
			.address = e->address,
			.site = e->site,
			.thread = e->thread,
		};
		*ret = true;
		return NULL;
	}
	return NULL;
}

/* In a flight recorder's records a thread is called by its birth (rt/core/last.c): who has that number? */
static uint32_t born_as(const struct trace_meta *m, uint32_t birth)
{
	for (uint32_t i = 0; i < m->nthreads; i++)
		if (m->threads[i].ordinal == birth)
			return i;
	return UINT32_MAX;
}

static struct err *advance(struct trace *t, struct cursor_thread *ct, uint64_t index, bool *ret)
{
	struct err *err;

	do {
		*ret = true;
		if (ct->left == 0) {
			err = next_block(t, ct, index, ret);
			if (err || !*ret)
				return err;
		}
		ct->left--;
		if (decoder_next(&ct->decoder, &ct->ev) != DECODED_EVENT)
			return err_new(ERR_ENV,
				       "%s is damaged: thread %s has a bad record after "
				       "event %llu",
				       trace_path(t), trace_meta(t)->threads[ct->thread].name,
				       (unsigned long long)ct->decoder.index);
	} while (ct->ev.index < index);
	if (plait_is_access(ct->ev.kind) && ct->ev.n > PLAIT_ACCESS_MAX)
		return err_new(ERR_ENV, "%s is damaged: an access of %llu bytes", trace_path(t),
			       (unsigned long long)ct->ev.n);
	if (trace_meta(t)->flags & PLAIT_RUN_LAST && strchr(event_kind_fields(ct->ev.kind), 't'))
		ct->ev.other = born_as(trace_meta(t), ct->ev.other);
	return NULL;
}

/* ---- the heap: c->heap[0] has the earliest event ---- */

static bool before(const struct cursor *c, uint32_t a, uint32_t b)
{
	uint64_t x = c->threads[a].ev.clock, y = c->threads[b].ev.clock;

	return x != y ? x < y : a < b;
}

static void sift_down(struct cursor *c, size_t i)
{
	for (;;) {
		size_t best = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < c->nheap; k++)
			if (before(c, c->heap[k], c->heap[best]))
				best = k;
		if (best == i)
			return;
		uint32_t swap = c->heap[i];

		c->heap[i] = c->heap[best];
		c->heap[best] = swap;
		i = best;
	}
}

static struct err *begin(struct cursor *c)
{
	c->begun = true;
	for (uint32_t i = 0; i < c->nthreads; i++) {
		bool any;
		struct err *err = advance(c->trace, &c->threads[i], c->start, &any);

		if (err)
			return err;
		if (any)
			c->heap[c->nheap++] = i;
	}
	for (size_t i = c->nheap; i-- > 0;)
		sift_down(c, i);
	return NULL;
}

/* The event handed out last is still on top: replace it by its thread's next one. */
static struct err *replace_top(struct cursor *c)
{
	struct err *err;
	bool any;

	assert(c->nheap > 0 && c->nheap <= c->nthreads);
	err = advance(c->trace, &c->threads[c->heap[0]], c->start, &any);
	if (err)
		return err;
	if (!any)
		c->heap[0] = c->heap[--c->nheap];
	sift_down(c, 0);
	return NULL;
}

struct err *cursor_next(struct cursor *c, const struct event **ret)
{
	struct err *err = NULL;

	*ret = NULL;
	if (!c->begun)
		err = begin(c);
	else if (c->nheap > 0)
		err = replace_top(c);
	if (!err && c->nheap > 0)
		*ret = &c->threads[c->heap[0]].ev;
	return err;
}
