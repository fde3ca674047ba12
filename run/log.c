/* run/log.c - see log.h. The counts in the records are differences (rt/log/order.c); here they become
 * what they stand for. */
#include "run/log.h"

#include "base/err.h"
#include "base/vec.h"
#include "trace/trace.h"
#include "unplait/control.h"
#include "unplait/log.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN = 64 }; /* as in rt/log/order.c */

struct answers VEC_FIELDS(struct plait_log_answer);
struct handovers VEC_FIELDS(struct plait_log_handover);

/* What another thread wrote down about an operation of `thread`. */
struct before {
	uint32_t thread;
	struct plait_log_handover handover;
};

struct builder {
	struct plait_log head;
	VEC(struct plait_log_thread) threads;
	struct handovers handovers;
	VEC(struct plait_log_result) results;
	VEC(struct plait_log_signal) signals;
	VEC(struct plait_log_mark) marks;
	VEC(struct plait_log_time) times;
	struct handovers after; /* of all signals */
	VEC(struct before) before;
	bool cut_at_signals;
	struct answers answers, soft;
	bool last_is_soft, interrupted; /* the last record was of a signal, or is about it */
	/* the thread took a signal: it may have come in the middle of counting, and later marks be others */
	bool signalled;
	struct strbuf bytes;
};

bool log_has_signals(const void *log)
{
	return ((const struct plait_log *)log)->nsignals > 0;
}

bool log_is_cut(const void *log)
{
	return ((const struct plait_log *)log)->cut;
}

bool log_is_heard(const void *log)
{
	return ((const struct plait_log *)log)->heard;
}

uint64_t log_nanswers(const void *log)
{
	return ((const struct plait_log *)log)->nanswers;
}

bool log_is_bare(struct trace *t)
{
	return trace_meta(t)->mode == PLAIT_MODE_SYNC;
}

/* ---- from a recording ---- */

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static struct err *damaged(struct trace *t)
{
	return err_new(ERR_ENV, "%s: the log is damaged", trace_path(t));
}

static void add_answer(struct builder *b, const struct event *ev)
{
	struct plait_log_answer a = { .call = (uint32_t)ev->n,
				      .result = ev->result,
				      .bytes = b->bytes.len,
				      .nbytes = ev->nbytes,
				      .clock = ev->clock };

	b->last_is_soft = plait_call_how(a.call) == PLAIT_CALL_SOFT;
	if (b->last_is_soft)
		vec_push(&b->soft, a);
	else
		vec_push(&b->answers, a);
	strbuf_add(&b->bytes, ev->bytes, ev->nbytes);
}

/* same: of the operation of the last record; then it may be about the signal that came behind it. */
static void add_handover(struct builder *b, const struct plait_log_handover *h, bool same)
{
	b->interrupted &= same;
	if (!b->interrupted) {
		vec_push(&b->handovers, *h);
		return;
	}
	vec_push(&b->after, *h);
	b->signals.data[b->signals.len - 1].after.n++;
}

/* Its operation came before one of another thread. One that the thread was killed in was never made. */
static void add_before(struct builder *b, struct trace *t, const struct event *ev, uint32_t thread)
{
	if (ev->n <= trace_meta(t)->threads[thread].synced)
		vec_push(&b->before,
			 ((struct before){ ev->other, { ev->value, ev->n, thread, 0 } }));
}

/* One event; *count: of the last record, known: of the other threads. */
static struct err *add_event(struct builder *b, struct trace *t, const struct event *ev,
			     uint32_t thread, uint64_t *count, uint64_t known[KNOWN])
{
	struct answers *last;

	switch (ev->kind) {
	case PLAIT_EV_HANDOVER:
		*count += ev->n;
		if (ev->other >= b->head.nthreads)
			return damaged(t);
		known[(ev->other + 1) % KNOWN] += (uint64_t)unzigzag(ev->value);
		add_handover(
			b,
			&(struct plait_log_handover){ .at = *count,
						      .thread = ev->other,
						      .count = known[(ev->other + 1) % KNOWN] },
			ev->n == 0);
		break;
	case PLAIT_EV_CAME_BEFORE:
		if (ev->other >= b->head.nthreads)
			return damaged(t);
		add_before(b, t, ev, thread);
		break;
	case PLAIT_EV_RESULT:
		*count += ev->n;
		b->interrupted = false;
		vec_push(&b->results,
			 ((struct plait_log_result){ .at = *count, .result = ev->result }));
		break;
	case PLAIT_EV_MARK:
		*count += ev->n;
		b->interrupted &= ev->n == 0;
		if (!b->signalled)
			vec_push(&b->marks,
				 ((struct plait_log_mark){ .at = *count, .value = ev->value }));
		break;
	case PLAIT_EV_WOKE:
		*count += ev->n;
		b->interrupted = false;
		break;
	case PLAIT_EV_ANSWER:
		add_answer(b, ev);
		break;
	case PLAIT_EV_ANSWER_MORE:
		last = b->last_is_soft ? &b->soft : &b->answers;
		if (!last->len)
			return damaged(t);
		last->data[last->len - 1].nbytes += ev->nbytes;
		strbuf_add(&b->bytes, ev->bytes, ev->nbytes);
		break;
	case PLAIT_EV_INTERRUPTED:
		*count += ev->n;
		if (ev->value > *count)
			return damaged(t);
		vec_push(&b->signals,
			 ((struct plait_log_signal){ .at = *count - ev->value,
						     .after = { b->after.len, 0 },
						     .number = (uint32_t)ev->result }));
		b->interrupted = b->signalled = true;
		break;
	default:
		break;
	}
	return NULL;
}

/* Some records have the time of their operation in front of them. */
static void add_time(struct builder *b, const struct event *ev, uint64_t count, uint64_t *clock)
{
	bool slept = ev->kind == PLAIT_EV_WOKE;
	bool counted = slept || ev->kind == PLAIT_EV_HANDOVER || ev->kind == PLAIT_EV_MARK;

	if (counted && ev->clock != *clock)
		vec_push(&b->times, ((struct plait_log_time){ count, ev->clock, slept, 0 }));
	*clock = ev->clock;
}

/* The thread's part ends with operation `synced`. What it told later of operations up to there holds all the same. */
static struct err *add_rest(struct builder *b, struct trace *t, struct cursor *c, uint32_t thread,
			    uint64_t synced)
{
	const struct event *ev;
	struct err *err;

	while (!(err = cursor_next(c, &ev)) && ev) {
		if (ev->kind != PLAIT_EV_CAME_BEFORE)
			continue;
		if (ev->other >= b->head.nthreads)
			return damaged(t);
		if (ev->n <= synced)
			add_before(b, t, ev, thread);
	}
	return err;
}

static struct err *add_thread(struct builder *b, struct trace *t, uint32_t thread)
{
	const struct trace_thread *info = &trace_meta(t)->threads[thread];
	struct plait_log_thread out = { .parent = info->parent,
					.ordinal = info->ordinal,
					.synced = info->synced,
					.handovers.first = b->handovers.len,
					.results.first = b->results.len,
					.signals.first = b->signals.len,
					.marks.first = b->marks.len,
					.times.first = b->times.len,
					.answers.first = b->answers.len,
					.soft.first = b->soft.len };
	uint64_t count = 0, clock = 0, known[KNOWN] = { 0 };
	const struct event *ev;
	struct cursor c;
	struct err *err;

	cursor_init(&c, t, thread, 0);
	b->interrupted = b->signalled = false;
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if ((err = add_event(b, t, ev, thread, &count, known)) ||
		    (b->cut_at_signals && ev->kind == PLAIT_EV_INTERRUPTED))
			break;
		add_time(b, ev, count, &clock);
	}
	if (!err && ev) {
		out.synced = count;
		b->head.cut = 1;
		b->signals.len--;
		err = add_rest(b, t, &c, thread, count);
	}
	cursor_deinit(&c);
	out.handovers.n = b->handovers.len - out.handovers.first;
	out.results.n = b->results.len - out.results.first;
	out.signals.n = b->signals.len - out.signals.first;
	out.marks.n = b->marks.len - out.marks.first;
	out.times.n = b->times.len - out.times.first;
	out.answers.n = b->answers.len - out.answers.first;
	out.soft.n = b->soft.len - out.soft.first;
	vec_push(&b->threads, out);
	return err;
}

static void builder_deinit(struct builder *b)
{
	vec_deinit(&b->threads);
	vec_deinit(&b->handovers);
	vec_deinit(&b->results);
	vec_deinit(&b->signals);
	vec_deinit(&b->marks);
	vec_deinit(&b->times);
	vec_deinit(&b->after);
	vec_deinit(&b->before);
	vec_deinit(&b->answers);
	vec_deinit(&b->soft);
	strbuf_deinit(&b->bytes);
}

static int compare_handovers(const void *a, const void *b)
{
	const struct plait_log_handover *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int compare_before(const void *a, const void *b)
{
	const struct before *x = a, *y = b;

	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* What others know of a thread's operations takes its place among what it knows itself. */
static void merge_before(struct builder *b)
{
	struct handovers merged = { 0 };
	size_t next = 0;

	if (!b->before.len)
		return;
	qsort(b->before.data, b->before.len, sizeof(struct before), compare_before);
	for (size_t i = 0; i < b->threads.len; i++) {
		struct plait_log_part *part = &b->threads.data[i].handovers;
		size_t first = merged.len, n = part->n;

		for (size_t k = 0; k < n; k++)
			vec_push(&merged, b->handovers.data[part->first + k]);
		for (; next < b->before.len && b->before.data[next].thread == i; next++)
			vec_push(&merged, b->before.data[next].handover);
		*part = (struct plait_log_part){ first, merged.len - first };
		if (part->n > n)
			qsort(merged.data + first, part->n, sizeof(struct plait_log_handover),
			      compare_handovers);
	}
	vec_deinit(&b->handovers);
	b->handovers = merged;
}

#define PUT(out, vec) strbuf_add(out, (vec)->data, (vec)->len * sizeof((vec)->data[0]))

/* What signals come after stands behind the hand-overs of all threads. */
static void append_after(struct builder *b)
{
	for (size_t i = 0; i < b->signals.len; i++)
		b->signals.data[i].after.first += b->handovers.len;
	for (size_t i = 0; i < b->after.len; i++)
		vec_push(&b->handovers, b->after.data[i]);
}

struct err *log_from_trace(struct trace *t, bool cut_at_signals, struct strbuf *ret)
{
	_cleanup_(builder_deinit) struct builder b = { .head = { .version = PLAIT_FORMAT_VERSION },
						       .cut_at_signals = cut_at_signals };
	struct err *err = NULL;

	if (!trace_meta(t)->nthreads)
		return err_new(ERR_ENV,
			       "%s: the run ended before it began: there is nothing to replay",
			       trace_path(t));
	memcpy(b.head.magic, PLAIT_LOG_MAGIC, 8);
	b.head.heard = !log_is_bare(t);
	b.head.nthreads = (uint32_t)trace_meta(t)->nthreads;
	b.head.atomics = !(trace_meta(t)->flags & PLAIT_RUN_NO_ATOMICS);
	for (uint32_t i = 0; i < b.head.nthreads && !err; i++)
		err = add_thread(&b, t, i);
	if (err)
		return err;
	merge_before(&b);
	append_after(&b);
	b.head.nhandovers = b.handovers.len;
	b.head.nresults = b.results.len;
	b.head.nsignals = b.signals.len;
	b.head.nmarks = b.marks.len;
	b.head.ntimes = b.times.len;
	b.head.nanswers = b.answers.len + b.soft.len;
	for (uint32_t i = 0; i < b.head.nthreads; i++)
		b.threads.data[i].soft.first += b.answers.len;
	b.head.nbytes = b.bytes.len;
	strbuf_add(ret, &b.head, sizeof(b.head));
	PUT(ret, &b.threads);
	PUT(ret, &b.handovers);
	PUT(ret, &b.results);
	PUT(ret, &b.signals);
	PUT(ret, &b.marks);
	PUT(ret, &b.times);
	PUT(ret, &b.answers);
	PUT(ret, &b.soft);
	strbuf_add(ret, b.bytes.data, b.bytes.len);
	return log_check(ret->data, ret->len);
}

static void add_name(struct plait_inputs *to, char how, const char *text, size_t n)
{
	if (n + 2 > sizeof(to->named) - to->named_len) {
		to->lost++;
		return;
	}
	to->named[to->named_len++] = how;
	memcpy(to->named + to->named_len, text, n);
	to->named_len += (uint32_t)n;
	to->named[to->named_len++] = 0;
}

/* Is it there already? A server may open the same file for every request. */
static bool is_named(const struct plait_inputs *in, char how, const char *text, size_t n)
{
	const char *at = in->named, *end = at + in->named_len;

	while ((at = memmem(at, (size_t)(end - at), text, n))) {
		if (at > in->named && at[-1] == how && at + n < end && !at[n])
			return true;
		at++;
	}
	return false;
}

struct err *log_names(struct trace *t, struct plait_inputs *ret)
{
	const struct event *ev;
	struct cursor c;
	struct err *err;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev)
		if (ev->kind == PLAIT_EV_NAMED && ev->nbytes && memchr(ev->bytes, 0, ev->nbytes) &&
		    !is_named(ret, (char)ev->n, (const char *)ev->bytes, ev->nbytes))
			add_name(ret, (char)ev->n, (const char *)ev->bytes, ev->nbytes);
	cursor_deinit(&c);
	return err;
}

/* ---- checking ---- */

static bool within(const struct plait_log_part *p, uint64_t n)
{
	return p->first <= n && p->n <= n - p->first;
}

static bool fits(const struct plait_log *log, size_t len)
{
	uint64_t left = len - sizeof(*log);
	const struct {
		uint64_t n, size;
	} arrays[] = { { log->nthreads, sizeof(struct plait_log_thread) },
		       { log->nhandovers, sizeof(struct plait_log_handover) },
		       { log->nresults, sizeof(struct plait_log_result) },
		       { log->nsignals, sizeof(struct plait_log_signal) },
		       { log->nmarks, sizeof(struct plait_log_mark) },
		       { log->ntimes, sizeof(struct plait_log_time) },
		       { log->nanswers, sizeof(struct plait_log_answer) },
		       { log->nbytes, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		if (arrays[i].n > left / arrays[i].size)
			return false;
		left -= arrays[i].n * arrays[i].size;
	}
	return left == 0;
}

static bool points_inside(const struct plait_log *log)
{
	struct plait_log_arrays arrays = plait_log_arrays(log);
	const struct plait_log_thread *threads = arrays.threads;
	const struct plait_log_handover *h = arrays.handovers;
	const struct plait_log_signal *s = arrays.signals;
	const struct plait_log_answer *a = arrays.answers;

	for (uint32_t i = 0; i < log->nthreads; i++)
		if (!within(&threads[i].handovers, log->nhandovers) ||
		    !within(&threads[i].results, log->nresults) ||
		    !within(&threads[i].signals, log->nsignals) ||
		    !within(&threads[i].marks, log->nmarks) ||
		    !within(&threads[i].times, log->ntimes) ||
		    !within(&threads[i].answers, log->nanswers) ||
		    !within(&threads[i].soft, log->nanswers))
			return false;
	for (uint64_t i = 0; i < log->nhandovers; i++)
		if (h[i].thread >= log->nthreads)
			return false;
	for (uint64_t i = 0; i < log->nsignals; i++)
		if (!within(&s[i].after, log->nhandovers) || !s[i].number ||
		    s[i].number >= PLAIT_LOG_SIGNALS)
			return false;
	for (uint64_t i = 0; i < log->nanswers; i++)
		if (!within(&(struct plait_log_part){ a[i].bytes, a[i].nbytes }, log->nbytes))
			return false;
	return true;
}

struct err *log_check(const void *data, size_t len)
{
	const struct plait_log *log = data;

	if (len < sizeof(*log) || memcmp(log->magic, PLAIT_LOG_MAGIC, 8) != 0 ||
	    log->version != PLAIT_FORMAT_VERSION)
		return err_new(ERR_ENV, "the log is not readable, or of another version");
	if (!log->nthreads || log->nthreads > PLAIT_MAX_THREADS || !fits(log, len) ||
	    !points_inside(log))
		return err_new(ERR_ENV, "the log is damaged");
	return NULL;
}
