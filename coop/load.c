/* coop/load.c - logs from plaits.
 *
 * A plait of mode order or block has its vectors in a section. One that was recorded under control
 * has all its events in their true order, from which the vectors follow: who accessed what, in the
 * terms of unplait/vectors.h. Threads are known by name, elements by number; both mean the same in
 * every run of one build. */
#include "coop/program.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "trace/trace.h"
#include "unplait/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The innermost instrumented function; the frames above it may be the runtime's own. */
static char *where(const struct trace_outcome *o, const char *binary, uint64_t load)
{
	for (uint32_t i = 0; i < o->nframes; i++) {
		char *name = binary_symbol_at(binary, o->frames[i] - load - (i > 0));
		char *suffix = name ? strstr(name, ".plait") : NULL;

		if (suffix) {
			*suffix = 0;
			return name;
		}
		free(name);
	}
	return xstrdup("?");
}

char *coop_signature(const struct trace_outcome *o, const char *binary, uint64_t load)
{
	_cleanup_(xfreep) char *function = NULL;

	switch (o->kind) {
	case PLAIT_OUTCOME_PASS:
		return NULL;
	case PLAIT_OUTCOME_DEADLOCK:
	case PLAIT_OUTCOME_HANG: /* a free run that deadlocks is found to hang */
		return xstrdup("stuck");
	case PLAIT_OUTCOME_ASSERT:
		return xasprintf("assert: %s", o->message ? o->message : "abort");
	case PLAIT_OUTCOME_SIGNAL:
		function = where(o, binary, load);
		return xasprintf("signal %d in %s", o->signal, function);
	case PLAIT_OUTCOME_EXIT:
		return xasprintf("exit status %d", o->exit_code);
	default:
		return xstrdup(outcome_name(o->kind));
	}
}

/* ---- a section of vectors ---- */

struct builder {
	uint32_t element, sequence;
	struct coop_run *runs;
	size_t len, cap;
};
struct builders VEC_FIELDS(struct builder);

enum { THREAD_MASK = (1 << PLAIT_VECTORS_THREAD_BITS) - 1 };

static void push_run(struct builder *b, uint32_t thread, uint32_t count)
{
	if (b->len + 1 >= b->cap) { /* two words at most: the last one filled up, and the rest */
		b->cap = b->cap ? 2 * b->cap : 16;
		b->runs = xreallocarray(b->runs, b->cap, sizeof(*b->runs));
	}
	b->len = coop_push_run(b->runs, b->len, thread, count);
}

/* Are these words their own shortest form: no zero, no thread that never was, no two in a row of
 * one thread? Looked at many at a time: it is what reading a long log costs. */
static bool are_runs(const uint32_t *words, uint32_t n, uint32_t nthreads)
{
	uint32_t bad = 0;

	for (uint32_t i = 1; i < n; i++) {
		uint32_t thread = words[i] & THREAD_MASK;

		bad |= (thread >= nthreads) | (words[i] <= THREAD_MASK) |
		       (thread == (words[i - 1] & THREAD_MASK));
	}
	return !bad;
}

/* The first word may go on with the last run of the chunk before. False: a thread that never was.
 */
static bool push_words(struct builder *b, const uint32_t *words, uint32_t n, uint32_t nthreads)
{
	uint32_t i = 0;

	while (n && !words[n - 1])
		n--;
	for (; i < n && words[i]; i++) {
		if (i == 1 && b->len + n <= b->cap && are_runs(words, n, nthreads)) {
			memcpy(b->runs + b->len, words + 1, (n - 1) * sizeof(*words));
			b->len += n - 1;
			return true;
		}
		if ((words[i] & THREAD_MASK) >= nthreads)
			return false;
		push_run(b, words[i] & THREAD_MASK, words[i] >> PLAIT_VECTORS_THREAD_BITS);
	}
	return true;
}

static struct builder *builder_of(struct builders *all, struct map *index, uint32_t element)
{
	uint64_t *slot = map_put(index, element, all->len);

	if (*slot == all->len)
		vec_add(all)->element = element;
	return &all->data[*slot];
}

static void builders_deinit(struct builders *all)
{
	for (size_t i = 0; i < all->len; i++)
		free(all->data[i].runs);
	vec_deinit(all);
}

/* Memory for many runs comes in huge pages: filling it costs more than parsing otherwise. */
static struct coop_run *new_runs(size_t n)
{
	size_t bytes = n * sizeof(struct coop_run), huge = 2 << 20;
	void *p;

	if (bytes < 2 * huge)
		return xreallocarray(NULL, n, sizeof(struct coop_run));
	p = aligned_alloc(huge, (bytes + huge - 1) & ~(huge - 1));
	if (!p)
		return xreallocarray(NULL, n, sizeof(struct coop_run));
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

/* How many words each element has, so that its runs are stored once. */
static void count_words(const uint8_t *data, size_t len, struct builders *ret, struct map *index)
{
	size_t at = sizeof(struct plait_vectors_header);

	while (at + sizeof(struct plait_vectors_chunk) <= len) {
		const struct plait_vectors_chunk *c = (const void *)(data + at);

		if (c->nwords == 0 || c->nwords > (len - at - sizeof(*c)) / 4)
			break;
		if (c->reserved)
			builder_of(ret, index, c->element)->cap += c->nwords;
		at += sizeof(*c) + c->nwords * 4ull;
	}
	for (size_t i = 0; i < ret->len; i++)
		ret->data[i].runs = new_runs(ret->data[i].cap += 2);
}

/* NULL, or what is wrong. Chunks of one element stand in order: each is taken when the one before
 * is full. */
static const char *parse_section(const uint8_t *data, size_t len, uint32_t nthreads,
				 struct builders *ret, struct map *index)
{
	size_t at = sizeof(struct plait_vectors_header);

	count_words(data, len, ret, index);
	while (at + sizeof(struct plait_vectors_chunk) <= len) {
		const struct plait_vectors_chunk *c = (const void *)(data + at);
		struct builder *b;

		if (c->nwords == 0 || c->nwords > (len - at - sizeof(*c)) / 4)
			return "a chunk of its vectors is cut off";
		at += sizeof(*c) + c->nwords * 4ull;
		if (!c->reserved)
			continue;
		b = builder_of(ret, index, c->element);
		if (c->sequence != b->sequence++)
			return "parts of a vector are missing";
		if (!push_words(b, c->words, c->nwords, nthreads))
			return "a vector names a thread that never was";
	}
	return NULL;
}

/* ---- from events ---- */

static bool touches(const struct event *ev, const struct trace_meta *m,
		    const struct coop_program *p, uint32_t *id, uint32_t *id2)
{
	const struct trace_module *exe = &m->modules[0];

	*id = *id2 = COOP_NONE;
	if (plait_is_access(ev->kind)) {
		if (ev->site < p->nsites && p->of_site[ev->site] != COOP_NONE)
			*id = p->elements.data[p->of_site[ev->site]].id;
		return *id != COOP_NONE;
	}
	if (!plait_vectors_sync(ev->kind))
		return false;
	if (ev->site < p->nsites && p->of_site[ev->site] != COOP_NONE)
		*id = p->elements.data[p->of_site[ev->site]].id;
	else
		*id = plait_vectors_sync_element(ev->address, exe->load_address, exe->low,
						 exe->high);
	if (ev->kind == PLAIT_EV_WAIT || ev->kind == PLAIT_EV_WOKEN)
		*id2 = plait_vectors_sync_element(ev->address2, exe->load_address, exe->low,
						  exe->high);
	return true;
}

static struct err *from_events(struct trace *t, struct coop_program *p, struct builders *ret,
			       struct map *index)
{
	const struct trace_meta *m = trace_meta(t);
	const struct event *ev;
	bool threads = false;
	struct cursor c;
	struct err *err;
	uint32_t id, id2;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		threads |= ev->kind == PLAIT_EV_FORK;
		if (!threads || !touches(ev, m, p, &id, &id2))
			continue;
		push_run(builder_of(ret, index, id), ev->thread, 1);
		if (id2 != COOP_NONE)
			push_run(builder_of(ret, index, id2), ev->thread, 1);
	}
	cursor_deinit(&c);
	/* what was not accessed has an empty vector */
	for (size_t i = 0; i < p->elements.len; i++)
		builder_of(ret, index, p->elements.data[i].id);
	return err;
}

/* ---- logs ---- */

/* Threads of a log -> threads of all logs. */
static void rename_threads(struct builder *b, const uint32_t *ids, uint32_t n)
{
	bool same = true;

	for (uint32_t i = 0; i < n; i++)
		same &= ids[i] == i;
	for (size_t r = 0; r < b->len && !same; r++)
		b->runs[r].thread = ids[b->runs[r].thread];
}

static const char too_many[] = "its threads and those of the other logs have more than 8192 names";

static void add_log(struct coop *c, struct trace *t, struct coop_program *p, const bool *chosen,
		    const struct trace_outcome *outcome, const uint32_t *ids, struct builders *all)
{
	const struct trace_meta *m = trace_meta(t);
	_cleanup_(xfreep) char *signature =
		coop_signature(outcome, m->modules[0].path, m->modules[0].load_address);

	coop_begin_log(c, trace_path(t), signature);
	for (size_t i = 0; i < all->len; i++) {
		struct builder *b = &all->data[i];
		uint32_t k = p && b->element & PLAIT_SYNC_ELEMENT
				     ? coop_program_add_sync(p, b->element)
			     : p ? coop_program_find(p, b->element)
				 : COOP_NONE;

		if (chosen && (k == COOP_NONE || !chosen[k]))
			continue;
		rename_threads(b, ids, (uint32_t)m->nthreads);
		coop_take(
			c,
			coop_element(c, b->element, k != COOP_NONE ? p->elements.data[k].name : ""),
			b->runs, b->len);
		b->runs = NULL;
	}
	coop_end_log(c);
}

const char *coop_load_section(struct coop *c, const char *name, const char *signature,
			      const char *const *threads, uint32_t nthreads, const void *data,
			      size_t len)
{
	struct builders all = { 0 };
	struct map index = { 0 };
	const char *wrong = parse_section(data, len, nthreads, &all, &index);
	uint32_t *ids = xcalloc(nthreads + 1, sizeof(*ids));

	for (uint32_t i = 0; !wrong && i < nthreads; i++) {
		ids[i] = names_intern(&c->threads, threads[i]);
		if (ids[i] > THREAD_MASK)
			wrong = too_many;
	}
	if (!wrong) {
		coop_begin_log(c, name, signature);
		for (size_t i = 0; i < all.len; i++) {
			struct builder *b = &all.data[i];

			rename_threads(b, ids, nthreads);
			coop_take(c, coop_element(c, b->element, ""), b->runs, b->len);
			b->runs = NULL;
		}
		coop_end_log(c);
	}
	free(ids);
	map_deinit(&index);
	builders_deinit(&all);
	return wrong;
}

static char *unusable(struct coop *c, const struct trace_outcome *outcome, uint32_t mode,
		      const char *build)
{
	if (outcome->kind == PLAIT_OUTCOME_UNKNOWN)
		return xstrdup("nobody knows how its run ended");
	if (!*build)
		return xstrdup("its program was not built with unplait, or has no build-id");
	if (c->build[0] && strcmp(c->build, build) != 0)
		return xasprintf("it is of another build of the program (%.12s, the others are of "
				 "%.12s)",
				 build, c->build);
	if (c->mode && c->mode != mode)
		return xasprintf("it was recorded in mode %s, the others in mode %s",
				 mode_name(mode), mode_name(c->mode));
	return NULL;
}

struct err *coop_load_trace(struct coop *c, struct trace *t, struct coop_program *p,
			    const bool *chosen, const struct trace_outcome *outcome, char **why)
{
	const struct trace_meta *m = trace_meta(t);
	const char *build = m->nmodules ? m->modules[0].build_id : "", *wrong = NULL;
	struct builders all = { 0 };
	struct map index = { 0 };
	const void *data = NULL;
	uint32_t mode = p ? p->mode : PLAIT_MODE_ORDER, *ids;
	size_t len = 0;
	struct err *err = trace_section(t, "vectors", &data, &len);

	*why = NULL;
	if (!outcome)
		outcome = &m->outcome;
	if (!err && data && len >= sizeof(struct plait_vectors_header)) {
		mode = ((const struct plait_vectors_header *)data)->mode;
		wrong = parse_section(data, len, (uint32_t)m->nthreads, &all, &index);
	} else if (!err && p && m->clock == PLAIT_CLOCK_STEPS && m->nevents && m->nmodules) {
		err = from_events(t, p, &all, &index);
	} else if (!err) {
		wrong = "it has no access vectors: record with --mode order or block";
	}
	if (!err && wrong)
		*why = xstrdup(wrong);
	if (!err && !*why)
		*why = unusable(c, outcome, mode, build);
	ids = xcalloc(m->nthreads + 1, sizeof(*ids));
	for (uint32_t i = 0; !err && !*why && i < m->nthreads; i++) {
		ids[i] = names_intern(&c->threads, m->threads[i].name);
		if (ids[i] > THREAD_MASK)
			*why = xstrdup(too_many);
	}
	if (!err && !*why) {
		snprintf(c->build, sizeof(c->build), "%s", build);
		c->mode = mode;
		add_log(c, t, p, chosen, outcome, ids, &all);
	}
	free(ids);
	map_deinit(&index);
	builders_deinit(&all);
	return err;
}

struct err *coop_load(struct coop *c, const char *path, struct coop_program *p, char **why)
{
	struct trace *t = NULL;
	struct err *err = trace_open(path, &t);

	*why = NULL;
	if (err) { /* one damaged log does not spoil the others */
		*why = xstrdup(err_message(err));
		err_free(err);
		return NULL;
	}
	err = coop_load_trace(c, t, p, NULL, NULL, why);
	trace_close(t);
	return err;
}
