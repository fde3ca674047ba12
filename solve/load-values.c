/* solve/load-values.c - a full recording into an order model, by what was read and written.
 *
 * Where the symbolic machine cannot follow a thread (a library, a construct it does not know), the
 * recorded events themselves are the model: every write stores the recorded number, and every read
 * is a decision: as long as a thread reads what it read, it does what it did. That is true whatever
 * the thread computes, so an order that keeps all values up to some point is a run up to there.
 * What a thread would do with another value only a native run can tell.
 *
 * Ranges (memcpy and the like) have no recorded contents: their reads see anything. Memory that was
 * written before it was read has an unknown first value, taken as 0. Both make proposals that do
 * not come true, never findings. */
#include "solve/load.h"

#include "base/err.h"
#include "base/map.h"
#include "debug/names.h"
#include "solve/load-kinds.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/* Longer recordings would need windows. */
enum { MOST_EVENTS = 20000 };

struct values {
	struct trace *trace;
	struct loaded *out;
	struct order_build *b;
	uint64_t *nodes;  /* per thread: a hash of all that it did and read */
	struct map bytes; /* address -> its first value; 256: it was written first */
	struct map sizes; /* of blocks of the heap */
	struct map names; /* address -> site that first touched it */
	struct symbols *symbols;
};

/* ---- memory before the first step ---- */

enum { WRITTEN_FIRST = 256 };

static void note_bytes(struct values *v, const struct event *ev, uint64_t value, bool read)
{
	for (uint64_t i = 0; i < ev->n && i < 8; i++)
		map_put(&v->bytes, ev->address + i,
			read ? value >> 8 * i & 0xff : (uint64_t)WRITTEN_FIRST);
	map_put(&v->names, ev->address, ev->site);
}

static uint64_t initial_value(void *arg, uint64_t address, unsigned bytes)
{
	const struct values *v = arg;
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (map_get_or(&v->bytes, address + i, 0) & 0xff) << 8 * i;
	return value;
}

static void place_name(void *arg, uint64_t address, struct strbuf *out)
{
	const struct values *v = arg;
	const uint64_t *site = map_find(&v->names, address);
	struct code_point p;

	if (site && v->symbols && symbols_site(v->symbols, (uint32_t)*site, &p) && *p.object)
		strbuf_adds(out, p.object);
}

/* ---- steps ---- */

static void done(struct values *v, const struct event *ev, uint64_t how)
{
	uint64_t *node = &v->nodes[ev->thread];

	*node = hash_u64(*node ^ hash_u64((uint64_t)ev->kind << 32 | ev->site) ^
			 hash_u64(how + 1) * 3);
}

static term_id put(struct values *v, const struct event *ev, const struct order_step *o)
{
	if (!load_is_step(ev->kind, ev->thread))
		return order_build_more(v->b, ev->thread, o);
	vec_push(&v->out->trails[ev->thread], v->nodes[ev->thread]);
	return order_build_step(v->b, ev->thread, o);
}

/* The thread read this number, and went on accordingly. */
static void keep_value(struct values *v, const struct event *ev, term_id read)
{
	struct terms *ts = order_build_terms(v->b);
	unsigned bits = term_get(ts, read)->width;
	term_id same =
		term_binary(ts, TERM_EQ, read, term_const(ts, bits, ev->value & term_mask(bits)));
	struct order_taken at = { .thread = ev->thread,
				  .position = order_build_position(v->b, ev->thread),
				  .site = ev->site,
				  .was = 1,
				  .node = v->nodes[ev->thread],
				  .doom = 255 };

	order_build_recorded(v->b, same, &at);
	v->out->conditions++;
}

static bool is_word(const struct event *ev)
{
	return ev->n == 1 || ev->n == 2 || ev->n == 4 || ev->n == 8;
}

static void add_access(struct values *v, const struct event *ev)
{
	struct terms *ts = order_build_terms(v->b);
	bool rmw = ev->kind == PLAIT_EV_ATOMIC_RMW;
	unsigned bits = (unsigned)ev->n * 8;
	struct order_step o = { .kind = load_step_kind(ev->kind),
				.site = ev->site,
				.address = ev->address,
				.bits = bits,
				.value = TERM_NONE,
				.held = TERM_NONE };
	term_id read;

	if (o.kind == ORDER_STEP_WRITE)
		o.value = term_const(ts, bits, ev->value & term_mask(bits));
	read = put(v, ev, &o);
	if (read != TERM_NONE)
		keep_value(v, ev, read);
	if (rmw)
		order_build_value(v->b, ev->thread,
				  term_const(ts, bits, ev->value2 & term_mask(bits)));
	note_bytes(v, ev, ev->value, read != TERM_NONE);
	done(v, ev, read != TERM_NONE ? ev->value : 0);
}

/* What is inside was not recorded. */
static void add_range(struct values *v, const struct event *ev)
{
	enum { MOST_WORDS = 64 };
	bool write = ev->kind == PLAIT_EV_WRITE_RANGE || ev->kind == PLAIT_EV_WRITE ||
		     ev->kind == PLAIT_EV_ATOMIC_WRITE;

	put(v, ev, &(struct order_step){ .kind = ORDER_STEP_LOCAL, .site = ev->site });
	for (uint64_t i = 0; i + 8 <= ev->n && i < 8 * MOST_WORDS; i += 8)
		order_build_more(
			v->b, ev->thread,
			&(struct order_step){ .kind = write ? ORDER_STEP_WRITE : ORDER_STEP_READ,
					      .site = ev->site,
					      .address = ev->address + i,
					      .bits = 64,
					      .value = write ? order_build_input(v->b, 64, 0)
							     : TERM_NONE,
					      .held = TERM_NONE });
	done(v, ev, 0);
}

static void add_sync(struct values *v, const struct event *ev)
{
	struct order_step o = { .kind = load_step_kind(ev->kind),
				.site = ev->site,
				.address = ev->address,
				.mutex = ev->address2,
				.other = ev->other,
				.result = ev->result > 0 ? (int)ev->result : 0,
				.value = TERM_NONE,
				.held = TERM_NONE };

	if (ev->kind == PLAIT_EV_BARRIER_WAIT || ev->kind == PLAIT_EV_SEM_INIT)
		o.other = (uint32_t)ev->n;
	if (ev->kind == PLAIT_EV_SEM_WAIT || ev->kind == PLAIT_EV_SEM_TRYWAIT)
		o.result = ev->result != 0;
	if (ev->kind == PLAIT_EV_FREE)
		o.other = (uint32_t)MIN(MAX(map_get_or(&v->sizes, ev->address, 1), 1u), UINT32_MAX);
	else if (ev->kind == PLAIT_EV_LOCK_DESTROY)
		o.other = 0;
	map_put(&v->names, ev->address, ev->site);
	put(v, ev, &o);
	done(v, ev, (uint64_t)o.result);
	v->out->open_results |= load_has_open_result(ev->kind);
}

static void add_event(struct values *v, const struct event *ev)
{
	if (ev->kind == PLAIT_EV_ALLOC)
		*map_put(&v->sizes, ev->address, 0) = ev->n;
	if (ev->kind == PLAIT_EV_BRANCH || ev->kind == PLAIT_EV_PATH_SWITCH)
		done(v, ev, ev->n);
	if (ev->kind == PLAIT_EV_READ_RANGE || ev->kind == PLAIT_EV_WRITE_RANGE ||
	    (plait_is_access(ev->kind) && !is_word(ev)))
		add_range(v, ev);
	else if (plait_is_access(ev->kind))
		add_access(v, ev);
	else if (load_is_step(ev->kind, ev->thread) || load_step_kind(ev->kind) != ORDER_STEP_LOCAL)
		add_sync(v, ev);
}

static struct err *add_events(struct values *v)
{
	const struct event *ev;
	uint64_t n = 0;
	struct cursor c;
	struct err *err;

	cursor_init(&c, v->trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev && n++ <= MOST_EVENTS)
		if (ev->thread < v->out->ntrails &&
		    !(ev->kind == PLAIT_EV_START && ev->thread == 0))
			add_event(v, ev);
	cursor_deinit(&c);
	if (n > MOST_EVENTS)
		v->out->unsupported = xasprintf("it has more than %d events", MOST_EVENTS);
	return err;
}

static void finish(struct values *v)
{
	struct order_memory memory = { initial_value, place_name, v };
	struct err *err;

	for (size_t i = 0; i < v->out->ntrails; i++)
		vec_push(&v->out->trails[i], v->nodes[i]);
	err = symbols_open(v->trace, &v->symbols);
	if (err) { /* names are nice to have */
		err_free(err);
		v->symbols = NULL;
	}
	err = order_build_finish(v->b, &memory, &v->out->built);
	if (err) {
		v->out->unsupported = xstrdup(err_message(err));
		err_free(err);
	}
	symbols_close(v->symbols);
}

bool load_has_values(const struct trace *t)
{
	const struct trace_meta *meta = trace_meta(t);

	return meta->mode == PLAIT_MODE_FULL || meta->mode == PLAIT_MODE_CONTROL;
}

struct err *load_values(struct trace *t, struct loaded *ret)
{
	const struct trace_meta *meta = trace_meta(t);
	struct values v = { .trace = t, .out = ret };
	struct err *err;

	*ret = (struct loaded){ .failing = ORDER_NONE, .ntrails = meta->nthreads };
	v.b = order_build_new();
	v.nodes = xcalloc(meta->nthreads + 1, sizeof(*v.nodes));
	ret->trails = xcalloc(meta->nthreads + 1, sizeof(*ret->trails));
	ret->paths = xcalloc(meta->nthreads + 1, sizeof(*ret->paths));
	for (size_t i = 0; i < meta->nthreads; i++) {
		order_build_thread(v.b, meta->threads[i].name);
		v.nodes[i] = hash_bytes(meta->threads[i].name, strlen(meta->threads[i].name), 2);
	}
	err = add_events(&v);
	if (!err && !ret->unsupported)
		finish(&v);
	names_intern(&ret->gaps, "followed by recorded values: a read that could see another value "
				 "is tried once");
	order_build_free(v.b);
	free(v.nodes);
	map_deinit(&v.bytes);
	map_deinit(&v.sizes);
	map_deinit(&v.names);
	if (err)
		loaded_deinit(ret);
	return err;
}
