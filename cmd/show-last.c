/* cmd/show-last.c - see show-last.h. Times count backwards from the last event of the run. */
#include "cmd/show-last.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "run/last.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 5 };

struct view {
	struct trace *trace;
	struct symbols *symbols;
	struct last last;
};

static const char *name_of(const struct view *v, uint32_t thread)
{
	const struct trace_meta *m = trace_meta(v->trace);

	return thread < m->nthreads ? m->threads[thread].name : "?";
}

/* Seconds; negative: not known. */
static double seconds(const struct view *v, uint64_t from, uint64_t to)
{
	uint64_t hz = trace_meta(v->trace)->clock_hz;

	return hz && to >= from ? (double)(to - from) / (double)hz : -1;
}

static void add_time(double s, struct strbuf *out)
{
	if (s >= 1)
		strbuf_addf(out, "%.1f s", s);
	else if (s >= 0.001)
		strbuf_addf(out, "%.1f ms", s * 1e3);
	else
		strbuf_addf(out, "%.1f us", s * 1e6);
}

static void add_object(const struct view *v, const struct event *ev, struct strbuf *out)
{
	size_t before = out->len;

	if (v->symbols)
		err_free(symbols_event_object(v->symbols, ev, out));
	if (out->len == before)
		strbuf_addf(out, "0x%" PRIx64, ev->address);
}

static void add_place(const struct view *v, uint32_t site, struct strbuf *out)
{
	struct code_point at;

	if (!v->symbols || !symbols_site(v->symbols, site, &at))
		return;
	if (at.file[0])
		strbuf_addf(out, " at %s:%u", at.file, at.line);
	if (at.function[0])
		strbuf_addf(out, " in %s", at.function);
}

static bool event_has(const struct event *ev, char field)
{
	return strchr(event_kind_fields(ev->kind), field) != NULL;
}

/* Does its address mean memory? */
static bool has_object(const struct event *ev)
{
	uint32_t until = ev->kind == PLAIT_EV_BLOCKED ? (uint32_t)ev->n : ev->kind;

	return ev->address && until != PLAIT_EV_INPUT && until != PLAIT_EV_JOIN;
}

/* ---- waits ---- */

static void add_what(const struct view *v, const struct event *wait, struct strbuf *out)
{
	switch (last_wait_kind(wait)) {
	case PLAIT_EV_INPUT:
		if (wait->address)
			strbuf_addf(out, "for descriptor %" PRIu64, wait->address - 1);
		else
			strbuf_adds(out, "for one of several descriptors");
		return;
	case PLAIT_EV_JOIN:
		strbuf_adds(out, "to join a thread");
		return;
	case PLAIT_EV_WOKEN:
		strbuf_adds(out, "for the condition variable ");
		break;
	case PLAIT_EV_SEM_WAIT:
		strbuf_adds(out, "for the semaphore ");
		break;
	case PLAIT_EV_BARRIER_LEAVE:
		strbuf_adds(out, "at the barrier ");
		break;
	default:
		strbuf_adds(out, "to lock ");
		break;
	}
	add_object(v, wait, out);
}

static void add_wait(const struct view *v, const struct event *wait, struct strbuf *out)
{
	uint32_t other = last_waits_for(&v->last, wait);
	double s = seconds(v, wait->clock, v->last.end);

	strbuf_adds(out, "waits ");
	add_what(v, wait, out);
	if (other == wait->thread)
		strbuf_adds(out, ", which it has itself");
	else if (other != UINT32_MAX)
		strbuf_addf(out, last_wait_kind(wait) == PLAIT_EV_JOIN ? ": %s" : ", which %s has",
			    name_of(v, other));
	add_place(v, wait->site, out);
	if (s >= 0) {
		strbuf_adds(out, ", for ");
		add_time(s, out);
	}
}

static void print_waits_in_ring(const struct view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->last.nthreads; i++)
		n += v->last.threads[i].in_ring;
	if (!n)
		return;
	printf("deadlock    %zu thread%s wait%s for each other:", n, n == 1 ? "" : "s",
	       n == 1 ? "s" : "");
	for (uint32_t i = 0; i < v->last.nthreads; i++)
		if (v->last.threads[i].in_ring)
			printf(" %s", name_of(v, i));
	puts("");
}

/* ---- threads ---- */

static void print_line(const struct strbuf *line)
{
	printable_puts(strbuf_str(line), stdout);
	puts("");
}

static void print_state(const struct view *v, uint32_t thread)
{
	const struct trace_meta *m = trace_meta(v->trace);
	const struct last_thread *t = &v->last.threads[thread];
	_cleanup_(strbuf_deinit) struct strbuf line = { 0 };
	bool failed = m->outcome.nframes && m->outcome.thread == thread;

	strbuf_addf(&line, "  %-9s %s", name_of(v, thread), failed ? "failed" : "");
	if (t->waits)
		add_wait(v, last_wait(t), &line);
	else if (!failed)
		strbuf_adds(&line, "was running");
	for (size_t i = 0; i < t->locks.len; i++) {
		strbuf_adds(&line, i ? ", " : "; has ");
		add_object(v, &t->locks.data[i].taken, &line);
		add_place(v, t->locks.data[i].taken.site, &line);
	}
	print_line(&line);
}

static void print_event(const struct view *v, const struct event *ev)
{
	_cleanup_(strbuf_deinit) struct strbuf line = { 0 };
	double s = seconds(v, ev->clock, v->last.end);

	strbuf_adds(&line, "            -");
	add_time(s < 0 ? 0 : s, &line);
	strbuf_pad(&line, ' ', line.len < 26 ? 26 - line.len : 1);
	strbuf_adds(&line, ev->kind == PLAIT_EV_BLOCKED ? "waits" : event_kind_name(ev->kind));
	strbuf_addc(&line, ' ');
	if (ev->kind == PLAIT_EV_BLOCKED)
		add_what(v, ev, &line);
	else if (event_has(ev, 't'))
		strbuf_addf(&line, "thread %s", name_of(v, ev->other));
	else if (ev->address && ev->kind != PLAIT_EV_STACK)
		add_object(v, ev, &line);
	add_place(v, ev->site, &line);
	print_line(&line);
}

static void print_span(const struct view *v)
{
	const struct last *l = &v->last;
	double s = seconds(v, l->from, l->end);
	_cleanup_(strbuf_deinit) struct strbuf line = { 0 };

	if (s < 0)
		return;
	strbuf_adds(&line, "last        every event of the last ");
	add_time(s, &line);
	if (l->from)
		strbuf_adds(&line, "; of some threads older ones, too");
	else if (!l->gone)
		strbuf_adds(&line, ", which is the whole run");
	if (l->gone)
		strbuf_addf(&line, "; %zu thread%s that ended before %s gone", l->gone,
			    l->gone == 1 ? "" : "s", l->gone == 1 ? "is" : "are");
	print_line(&line);
}

struct err *show_last(struct trace *t, struct symbols *s, uint64_t count)
{
	const struct trace_meta *m = trace_meta(t);
	struct view v = { .trace = t, .symbols = s };
	struct err *err = last_read(t, count ? count : FEW, &v.last);
	size_t ended = 0;

	if (!err) {
		print_span(&v);
		print_waits_in_ring(&v);
		puts("at the end");
	}
	for (uint32_t i = 0; !err && i < m->nthreads; i++) {
		const struct last_thread *of = &v.last.threads[i];

		ended += m->threads[i].ended;
		if (m->threads[i].ended || !of->nevents)
			continue;
		print_state(&v, i);
		for (size_t k = 0; k < of->nevents; k++)
			print_event(&v, &of->events[k]);
	}
	if (ended)
		printf("  %zu thread%s had ended\n", ended, ended == 1 ? "" : "s");
	last_deinit(&v.last);
	return err;
}

/* ---- JSON ---- */

static void json_event(const struct view *v, const char *key, const struct event *ev,
		       struct json *j)
{
	_cleanup_(strbuf_deinit) struct strbuf object = { 0 };
	struct code_point at = { .file = "", .function = "" };
	double s = seconds(v, ev->clock, v->last.end);

	if (has_object(ev))
		add_object(v, ev, &object);
	if (v->symbols)
		symbols_site(v->symbols, ev->site, &at);
	json_begin_object(j, key);
	json_str(j, "kind", event_kind_name(ev->kind));
	if (ev->kind == PLAIT_EV_BLOCKED)
		json_str(j, "until", event_kind_name((uint32_t)ev->n));
	if (object.len)
		json_str(j, "object", strbuf_str(&object));
	if (ev->kind == PLAIT_EV_BLOCKED && ev->n == PLAIT_EV_INPUT && ev->address)
		json_uint(j, "descriptor", ev->address - 1);
	if (event_has(ev, 't'))
		json_str(j, "thread", name_of(v, ev->other));
	json_str(j, "file", at.file);
	json_uint(j, "line", at.line);
	json_str(j, "function", at.function);
	if (s >= 0)
		json_real(j, "seconds_before_end", s, 9);
	json_end(j);
}

static void json_thread(const struct view *v, uint32_t thread, struct json *j)
{
	const struct last_thread *t = &v->last.threads[thread];
	uint32_t other;

	json_begin_object(j, NULL);
	json_str(j, "name", name_of(v, thread));
	json_bool(j, "deadlocked", t->in_ring);
	json_begin_array(j, "holds");
	for (size_t i = 0; i < t->locks.len; i++)
		json_event(v, NULL, &t->locks.data[i].taken, j);
	json_end(j);
	if (t->waits) {
		json_event(v, "waits", last_wait(t), j);
		other = last_waits_for(&v->last, last_wait(t));
		if (other != UINT32_MAX)
			json_str(j, "waits_for", name_of(v, other));
	}
	json_begin_array(j, "events");
	for (size_t i = 0; i < t->nevents; i++)
		json_event(v, NULL, &t->events[i], j);
	json_end(j);
	json_end(j);
}

struct err *json_last(struct trace *t, struct symbols *s, uint64_t count, struct json *j)
{
	const struct trace_meta *m = trace_meta(t);
	struct view v = { .trace = t, .symbols = s };
	struct err *err = last_read(t, count ? count : FEW, &v.last);
	double complete = seconds(&v, v.last.from, v.last.end);

	json_begin_object(j, "last");
	if (complete >= 0)
		json_real(j, "complete_seconds", complete, 6);
	json_uint(j, "threads_gone", v.last.gone);
	json_begin_array(j, "threads");
	for (uint32_t i = 0; !err && i < m->nthreads; i++)
		if (!m->threads[i].ended && v.last.threads[i].nevents)
			json_thread(&v, i, j);
	json_end(j);
	json_end(j);
	last_deinit(&v.last);
	return err;
}
