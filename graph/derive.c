/* graph/derive.c - communication graphs from recorded events, the slow and obvious way.
 *
 * Same rules as the collector in the runtime (rt/modes/graph.c), written down a second time with maps
 * instead of shadow memory: a word knows its last write and the threads that have read it since.
 * `rank` uses this for runs under control, whose plaits hold all events; a test compares the two.
 */
#include "graph/derive.h"

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "trace/trace.h"
#include "unplait/graph.h"

#include <string.h>

#define MAX_WORDS (1u << 24) /* about 2 GB; a few bytes of a plait can name any range */

struct word {
	bool written;
	uint32_t thread, site, context;
	uint64_t time;
	VEC(uint32_t) sharers; /* threads that have read it since */
	bool shared;	       /* some edge was about it */
};

/* A site in a context at a word, when it gave no edge. */
struct repeat {
	uint32_t word, site, context;
	uint64_t time; /* of the last one */
};

struct derivation {
	const struct derive_options *o;
	uint32_t mask;
	struct map words_by_address; /* -> index into words */
	VEC(struct word) words;
	VEC(uint32_t) contexts;	   /* per thread */
	struct map node_times;	   /* hash of thread, site, context -> time of its last execution */
	struct map repeats_by_key; /* -> index into repeats */
	VEC(struct repeat) repeats;
	derive_sink sink;
	derive_bystander bystander;
	void *arg;
};

static uint32_t *context_of(struct derivation *d, uint32_t thread)
{
	while (d->contexts.len <= thread)
		vec_push(&d->contexts, 0);
	return &d->contexts.data[thread];
}

static void push(struct derivation *d, uint32_t thread, uint32_t event)
{
	uint32_t *c = context_of(d, thread);

	*c = (*c << 2 | event) & d->mask;
}

static struct word *word_at(struct derivation *d, uint64_t address)
{
	uint64_t *at = map_put(&d->words_by_address, address >> d->o->shift, d->words.len);

	if (*at == d->words.len)
		vec_add(&d->words);
	return &d->words.data[*at];
}

static bool is_sharer(const struct word *w, uint32_t thread)
{
	for (size_t i = 0; i < w->sharers.len; i++)
		if (w->sharers.data[i] == thread)
			return true;
	return false;
}

static uint64_t *node_time(struct derivation *d, uint32_t thread, uint32_t site, uint32_t context)
{
	uint64_t key = hash_u64((uint64_t)site << 32 | context) ^ hash_u64(thread + 1);

	return map_put(&d->node_times, key, 0);
}

static void emit(struct derivation *d, const struct word *w, const struct event *ev)
{
	struct derived_edge e = { .src_site = UINT32_MAX,
				  .sink_site = ev->site,
				  .sink_context = *context_of(d, ev->thread),
				  .sink_time = ev->clock };

	if (w->written) {
		e.src_site = w->site;
		e.src_context = w->context;
		e.src_time = *node_time(d, w->thread, w->site, w->context);
	}
	d->sink(&e, d->arg);
}

/* Whether the word is ever shared is known at the end only. */
static void note_repeat(struct derivation *d, const struct word *w, const struct event *ev)
{
	struct repeat r = { (uint32_t)(w - d->words.data), ev->site, *context_of(d, ev->thread),
			    ev->clock };
	const uint32_t key[] = { r.word, r.site, r.context };
	uint64_t *at;

	if (!d->bystander)
		return;
	at = map_put(&d->repeats_by_key, hash_bytes(key, sizeof(key), 0), d->repeats.len);
	if (*at == d->repeats.len)
		vec_push(&d->repeats, r);
	d->repeats.data[*at].time = ev->clock;
}

static void read_word(struct derivation *d, uint64_t address, const struct event *ev)
{
	struct word *w = word_at(d, address);

	if (w->written && w->thread == ev->thread) {
		note_repeat(d, w, ev);
		return;
	}
	if (is_sharer(w, ev->thread)) {
		if (d->o->first_read) {
			note_repeat(d, w, ev);
			return;
		}
	} else {
		vec_push(&w->sharers, ev->thread);
	}
	*node_time(d, ev->thread, ev->site, *context_of(d, ev->thread)) = ev->clock;
	emit(d, w, ev);
	if (!w->written)
		return;
	w->shared = true;
	push(d, ev->thread, PLAIT_GRAPH_LOCAL_READ);
	push(d, w->thread, PLAIT_GRAPH_REMOTE_READ);
}

static void write_word(struct derivation *d, uint64_t address, const struct event *ev)
{
	struct word *w = word_at(d, address);
	bool mine = w->written && w->thread == ev->thread;
	bool foreign = w->written && !mine, others = false;
	uint32_t context = *context_of(d, ev->thread);

	if (mine && !w->sharers.len && d->o->first_write) {
		note_repeat(d, w, ev);
		return;
	}
	*node_time(d, ev->thread, ev->site, context) = ev->clock;
	if (foreign)
		emit(d, w, ev);
	w->shared |= foreign;
	for (size_t i = 0; i < w->sharers.len; i++) {
		uint32_t t = w->sharers.data[i];

		if (t == ev->thread)
			continue;
		others = true;
		if (!foreign || t != w->thread)
			push(d, t, PLAIT_GRAPH_REMOTE_WRITE);
	}
	if (foreign)
		push(d, w->thread, PLAIT_GRAPH_REMOTE_WRITE);
	if (foreign || others)
		push(d, ev->thread, PLAIT_GRAPH_LOCAL_WRITE);
	w->written = true;
	w->thread = ev->thread;
	w->site = ev->site;
	w->context = context;
	vec_clear(&w->sharers);
}

/* A new block has no past: words that lie in it wholly. */
static void fresh(struct derivation *d, uint64_t from, uint64_t n)
{
	uint64_t unit = 1ull << d->o->shift;

	/* a huge block: fewer words are known than it has */
	if (n >> d->o->shift > d->words_by_address.len) {
		for (size_t i = 0; i < d->words_by_address.len; i++) {
			const struct map_entry *e = &d->words_by_address.entries[i];
			uint64_t a = e->key << d->o->shift;
			struct word *w = &d->words.data[e->value];

			if (a >= from && a + unit <= from + n) {
				w->written = false;
				vec_clear(&w->sharers);
			}
		}
		return;
	}
	for (uint64_t a = (from + unit - 1) & ~(unit - 1); a + unit <= from + n; a += unit) {
		uint64_t *at = map_find(&d->words_by_address, a >> d->o->shift);

		if (at) {
			d->words.data[*at].written = false;
			vec_clear(&d->words.data[*at].sharers);
		}
	}
}

static void step(struct derivation *d, const struct event *ev)
{
	uint64_t unit = 1ull << d->o->shift;
	/* like the runtime: whatever may write counts as a write, failed compare-exchanges too */
	bool writes = plait_writes(ev->kind);

	if (ev->kind == PLAIT_EV_ALLOC)
		fresh(d, ev->address, ev->n);
	if (!plait_is_access(ev->kind) || !ev->n)
		return;
	for (uint64_t a = ev->address & ~(unit - 1);
	     a < ev->address + ev->n && d->words.len < MAX_WORDS; a += unit)
		if (writes)
			write_word(d, a, ev);
		else
			read_word(d, a, ev);
}

struct err *graph_derive(struct trace *t, const struct derive_options *o, derive_sink sink,
			 derive_bystander bystander, void *arg)
{
	struct derivation d = { .o = o, .sink = sink, .bystander = bystander, .arg = arg };
	const struct event *ev;
	struct cursor c;
	struct err *err;

	d.mask = o->context >= 16 ? UINT32_MAX : (1u << 2 * o->context) - 1;
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev && d.words.len < MAX_WORDS)
		step(&d, ev);
	cursor_deinit(&c);
	if (!err && d.words.len >= MAX_WORDS)
		err = err_new(ERR_ENV,
			      "%s: the run used too much memory to make a graph from its events; "
			      "record it with --mode graph",
			      trace_path(t));
	for (size_t i = 0; i < d.repeats.len && !err; i++) {
		const struct repeat *r = &d.repeats.data[i];

		if (d.words.data[r->word].shared)
			bystander(r->site, r->context, r->time, arg);
	}
	for (size_t i = 0; i < d.words.len; i++)
		vec_deinit(&d.words.data[i].sharers);
	vec_deinit(&d.words);
	vec_deinit(&d.contexts);
	map_deinit(&d.words_by_address);
	map_deinit(&d.node_times);
	vec_deinit(&d.repeats);
	map_deinit(&d.repeats_by_key);
	return err;
}
