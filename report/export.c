/* report/export.c - JSON, CSV, STD (the text format of academic race predictors), Perfetto, and the
 * text that `unplait info --events` prints. */
#include "report/export.h"

#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

static const char *thread_name(const struct export *x, uint32_t thread)
{
	const struct trace_meta *m = trace_meta(x->trace);

	return thread < m->nthreads ? m->threads[thread].name : "?";
}

static bool has_field(const struct event *ev, char field)
{
	return strchr(event_kind_fields(ev->kind), field) != NULL;
}

/* ---- text ---- */

static void text_bytes(FILE *out, const struct event *ev)
{
	fputs(" \"", out);
	for (size_t i = 0; i < MIN(ev->nbytes, 60); i++) {
		uint8_t c = ev->bytes[i];

		if (c >= 32 && c < 127 && c != '"' && c != '\\')
			putc(c, out);
		else
			fprintf(out, "\\x%02x", c);
	}
	fputs(ev->nbytes > 60 ? "\"..." : "\"", out);
}

/* Names come from a binary that may be a stranger's: a terminal must not obey them. */
static void text_word(FILE *out, const char *before, const char *word)
{
	fputs(before, out);
	printable_puts(word, out);
}

static void text_event(struct export *x, const struct event *ev)
{
	fprintf(x->out, "%12llu  %-8s %8llu  %-13s", (unsigned long long)ev->clock,
		thread_name(x, ev->thread), (unsigned long long)ev->index,
		event_kind_name(ev->kind));
	if (x->object[0] && ev->kind != PLAIT_EV_STACK)
		text_word(x->out, " ", x->object);
	if (has_field(ev, 't'))
		fprintf(x->out, " thread %s", thread_name(x, ev->other));
	if (has_field(ev, 'v'))
		fprintf(x->out, ev->value < 65536 ? " = %llu" : " = 0x%llx",
			(unsigned long long)ev->value);
	if (ev->kind == PLAIT_EV_ATOMIC_RMW)
		fprintf(x->out, ev->value2 < 65536 ? " -> %llu" : " -> 0x%llx",
			(unsigned long long)ev->value2);
	if (has_field(ev, 'n'))
		fprintf(x->out, " (%llu)", (unsigned long long)ev->n);
	if (has_field(ev, 'r') && ev->result)
		fprintf(x->out, " result %lld", (long long)ev->result);
	if (ev->bytes)
		text_bytes(x->out, ev);
	if (x->at.file[0]) {
		text_word(x->out, "  at ", x->at.file);
		fprintf(x->out, ":%u", x->at.line);
	}
	if (x->at.function[0])
		text_word(x->out, " in ", x->at.function);
	putc('\n', x->out);
}

/* ---- JSON: an array of events, one per line ---- */

static void json_begin(struct export *x)
{
	fputs("{\"unplait\": 1, \"events\": [\n", x->out);
}

static void json_event(struct export *x, const struct event *ev)
{
	struct json j;

	json_init(&j);
	j.compact = true;
	json_begin_object(&j, NULL);
	json_str(&j, "thread", thread_name(x, ev->thread));
	json_uint(&j, "index", ev->index);
	json_uint(&j, "clock", ev->clock);
	json_str(&j, "op", event_kind_name(ev->kind));
	json_uint(&j, "site", ev->site);
	json_str(&j, "file", x->at.file);
	json_uint(&j, "line", x->at.line);
	json_str(&j, "function", x->at.function);
	json_str(&j, "object", x->object);
	if (has_field(ev, 'a'))
		json_hex(&j, "address", ev->address);
	if (ev->address2)
		json_hex(&j, "address2", ev->address2);
	if (has_field(ev, 'n'))
		json_uint(&j, "n", ev->n);
	if (has_field(ev, 'v'))
		json_hex(&j, "value", ev->value);
	if (ev->kind == PLAIT_EV_ATOMIC_RMW)
		json_hex(&j, "new_value", ev->value2);
	if (has_field(ev, 'r'))
		json_int(&j, "result", ev->result);
	if (has_field(ev, 't'))
		json_str(&j, "other", thread_name(x, ev->other));
	if (ev->lost)
		json_uint(&j, "lost_before", ev->lost);
	json_end(&j);
	fprintf(x->out, "%s%.*s", x->count ? ",\n" : "", (int)strcspn(strbuf_str(&j.out), "\n"),
		strbuf_str(&j.out));
	json_deinit(&j);
}

static void json_close(struct export *x)
{
	fputs("\n]}\n", x->out);
}

/* ---- CSV (RFC 4180) ---- */

static void csv_begin(struct export *x)
{
	fputs("clock,thread,index,op,file,line,function,object,address,size,value,new_value,result,"
	      "other\n",
	      x->out);
}

static void csv_text(FILE *out, const char *s)
{
	putc('"', out);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', out);
		putc(*s, out);
	}
	putc('"', out);
}

static void csv_event(struct export *x, const struct event *ev)
{
	fprintf(x->out, "%llu,%s,%llu,%s,", (unsigned long long)ev->clock,
		thread_name(x, ev->thread), (unsigned long long)ev->index,
		event_kind_name(ev->kind));
	csv_text(x->out, x->at.file);
	fprintf(x->out, ",%u,", x->at.line);
	csv_text(x->out, x->at.function);
	putc(',', x->out);
	csv_text(x->out, x->object);
	fprintf(x->out, ",0x%llx,%llu,0x%llx,0x%llx,%lld,%s\n", (unsigned long long)ev->address,
		(unsigned long long)ev->n, (unsigned long long)ev->value,
		(unsigned long long)ev->value2, (long long)ev->result,
		has_field(ev, 't') ? thread_name(x, ev->other) : "");
}

/* ---- STD: thread|operation(operand)|location; only what predictors know ---- */

struct std_state {
	struct map variables, locks;
};

static void std_begin(struct export *x)
{
	x->state = xcalloc(1, sizeof(struct std_state));
}

static unsigned std_number(struct map *m, uint64_t key)
{
	return (unsigned)*map_put(m, key, m->len);
}

static void std_line(struct export *x, const struct event *ev, const char *op, char prefix,
		     unsigned operand)
{
	fprintf(x->out, "T%u|%s(%c%u)|%u\n", ev->thread, op, prefix, operand, ev->site);
}

static void std_access(struct export *x, const struct event *ev, struct std_state *s)
{
	uint64_t first = ev->address & ~7ull, last = ev->address + (ev->n ? ev->n - 1 : 0);

	/* a range is its 8-byte words, at most a page of them */
	for (uint64_t a = first, i = 0; a <= last && i < 512; a += 8, i++) {
		unsigned v = std_number(&s->variables, a);

		if (!event_is_write(ev) || ev->kind == PLAIT_EV_ATOMIC_RMW)
			std_line(x, ev, "r", 'V', v);
		if (event_is_write(ev))
			std_line(x, ev, "w", 'V', v);
	}
}

static void std_event(struct export *x, const struct event *ev)
{
	struct std_state *s = x->state;

	switch (ev->kind) {
	case PLAIT_EV_LOCK:
	case PLAIT_EV_TRYLOCK:
	case PLAIT_EV_WRLOCK:
	case PLAIT_EV_TRYWRLOCK:
		if (ev->result == 0)
			std_line(x, ev, "acq", 'L', std_number(&s->locks, ev->address));
		break;
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RWUNLOCK:
		if (ev->result == 0)
			std_line(x, ev, "rel", 'L', std_number(&s->locks, ev->address));
		break;
	case PLAIT_EV_WAIT:
		std_line(x, ev, "rel", 'L', std_number(&s->locks, ev->address2));
		break;
	case PLAIT_EV_WOKEN:
		std_line(x, ev, "acq", 'L', std_number(&s->locks, ev->address2));
		break;
	case PLAIT_EV_FORK:
		std_line(x, ev, "fork", 'T', ev->other);
		break;
	case PLAIT_EV_JOIN:
		if (ev->result == 0)
			std_line(x, ev, "join", 'T', ev->other);
		break;
	default:
		if (plait_is_access(ev->kind))
			std_access(x, ev, s);
	}
}

static void std_finish(struct export *x)
{
	struct std_state *s = x->state;

	map_deinit(&s->variables);
	map_deinit(&s->locks);
	free(s);
}

/* ---- Perfetto: the JSON trace event format; time in microseconds ---- */

static void perfetto_begin(struct export *x)
{
	const struct trace_meta *m = trace_meta(x->trace);

	fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", x->out);
	for (uint32_t i = 0; i < m->nthreads; i++) {
		struct json j;

		json_init(&j);
		j.compact = true;
		json_begin_object(&j, NULL);
		json_str(&j, "ph", "M");
		json_uint(&j, "pid", m->pid);
		json_uint(&j, "tid", i);
		json_str(&j, "name", "thread_name");
		json_begin_object(&j, "args");
		json_str(&j, "name", m->threads[i].name);
		json_end(&j);
		json_end(&j);
		fprintf(x->out, "%s%.*s", i ? ",\n" : "", (int)strcspn(strbuf_str(&j.out), "\n"),
			strbuf_str(&j.out));
		json_deinit(&j);
	}
}

static void perfetto_event(struct export *x, const struct event *ev)
{
	const struct trace_meta *m = trace_meta(x->trace);
	double hz = m->clock_hz ? (double)m->clock_hz : m->clock == PLAIT_CLOCK_TSC ? 1e9 : 1e6;
	struct json j;

	json_init(&j);
	j.compact = true;
	json_begin_object(&j, NULL);
	json_str(&j, "ph", "i");
	json_str(&j, "s", "t");
	json_uint(&j, "pid", m->pid);
	json_uint(&j, "tid", ev->thread);
	json_real(&j, "ts", (double)ev->clock * 1e6 / hz, 3);
	json_str(&j, "name", event_kind_name(ev->kind));
	json_begin_object(&j, "args");
	json_str(&j, "object", x->object);
	json_str(&j, "file", x->at.file);
	json_uint(&j, "line", x->at.line);
	json_str(&j, "function", x->at.function);
	if (has_field(ev, 'v'))
		json_hex(&j, "value", ev->value);
	json_uint(&j, "index", ev->index);
	json_end(&j);
	json_end(&j);
	fprintf(x->out, ",\n%.*s", (int)strcspn(strbuf_str(&j.out), "\n"), strbuf_str(&j.out));
	json_deinit(&j);
}

const struct export_format export_formats[] = {
	{ "json", "every field of every event", json_begin, json_event, json_close },
	{ "csv", "a table, one event per line", csv_begin, csv_event, NULL },
	{ "std", "reads, writes, locks, forks, joins, for predictors of races and deadlocks",
	  std_begin, std_event, std_finish },
	{ "perfetto", "for ui.perfetto.dev and chrome://tracing", perfetto_begin, perfetto_event,
	  json_close },
	{ "text", "lines for reading", NULL, text_event, NULL },
	{ 0 },
};

const struct export_format *export_find(const char *name)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

static struct err *name_event(struct export *x, const struct event *ev, struct strbuf *object)
{
	struct err *err = NULL;

	strbuf_clear(object);
	x->at = (struct code_point){ .file = "", .function = "", .object = "" };
	if (x->symbols) {
		if (ev->site)
			symbols_site(x->symbols, ev->site, &x->at);
		err = symbols_event_object(x->symbols, ev, object);
	} else if (has_field(ev, 'a')) {
		strbuf_addf(object, "0x%llx", (unsigned long long)ev->address);
	}
	x->object = strbuf_str(object);
	return err;
}

struct err *export_run(struct trace *t, struct symbols *symbols, const struct export_format *format,
		       const struct export_filter *filter, FILE *out)
{
	static const struct export_filter all = { .thread = CURSOR_ALL };
	struct export x = { .trace = t, .symbols = symbols, .out = out };
	_cleanup_(cursor_deinit) struct cursor c;
	struct strbuf object = { 0 };
	const struct event *ev;
	uint64_t skipped = 0;
	struct err *err;

	if (!filter)
		filter = &all;
	cursor_init(&c, t, filter->thread, 0);
	if (format->begin)
		format->begin(&x);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if (filter->kind && ev->kind != filter->kind)
			continue;
		if (skipped++ < filter->first)
			continue;
		if (filter->count && x.count >= filter->count)
			break;
		err = name_event(&x, ev, &object);
		if (err)
			break;
		format->event(&x, ev);
		x.count++;
	}
	if (format->end)
		format->end(&x);
	strbuf_deinit(&object);
	return err;
}
