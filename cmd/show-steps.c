/* cmd/show-steps.c - see show-steps.h. */
#include "cmd/show-steps.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/words.h"
#include "cmd/show-run.h"
#include "run/place.h"
#include "run/run.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <string.h>

static bool is_shown(const struct event *ev)
{
	return ev->kind != PLAIT_EV_BRANCH && ev->kind != PLAIT_EV_STACK &&
	       ev->kind != PLAIT_EV_ALLOC && ev->kind != PLAIT_EV_FREE;
}

/* What the programmer would have written: -1 is not 18446744073709551615, and a pointer is
 * hexadecimal. size: bytes of the access. */
static void add_number(struct strbuf *out, uint64_t value, uint64_t size)
{
	unsigned unused = size && size < 8 ? 64 - 8 * (unsigned)size : 0;
	int64_t number = (int64_t)(value << unused) >> unused;

	if (number < 0 && number >= -65536)
		strbuf_addf(out, "%" PRId64, number);
	else
		strbuf_addf(out, value >> 32 ? "0x%" PRIx64 : "%" PRIu64, value);
}

static void show_value(const struct event *ev, struct strbuf *out)
{
	switch (ev->kind) {
	case PLAIT_EV_READ:
	case PLAIT_EV_ATOMIC_READ:
		strbuf_adds(out, " -> ");
		add_number(out, ev->value, ev->n);
		break;
	case PLAIT_EV_WRITE:
	case PLAIT_EV_ATOMIC_WRITE:
		strbuf_adds(out, " = ");
		add_number(out, ev->value, ev->n);
		break;
	case PLAIT_EV_ATOMIC_RMW:
		strbuf_addc(out, ' ');
		add_number(out, ev->value, ev->n);
		strbuf_adds(out, " -> ");
		add_number(out, ev->value2, ev->n);
		break;
	default:
		break;
	}
	if (ev->result)
		strbuf_addf(out, " (result %" PRId64 ")", ev->result);
}

static struct err *show_event(struct trace *t, struct symbols *s, const struct event *ev,
			      struct strbuf *out)
{
	const struct trace_meta *m = trace_meta(t);
	struct code_point p = { 0 };
	struct err *err = NULL;
	const char *fields = event_kind_fields(ev->kind);

	strbuf_addf(out, "%6" PRIu64 "  %-8s ", ev->clock, m->threads[ev->thread].name);
	if (symbols_site(s, ev->site, &p) && p.file && p.file[0])
		strbuf_addf(out, "%s:%u", p.file, p.line);
	if (p.function && p.function[0])
		strbuf_addf(out, " %s", p.function);
	strbuf_addf(out, "  %s ", event_kind_name(ev->kind));
	if (strchr(fields, 'a'))
		err = symbols_event_object(s, ev, out);
	if (strchr(fields, 't') && ev->other < m->nthreads)
		strbuf_adds(out, m->threads[ev->other].name);
	if (ev->nbytes && (ev->kind == PLAIT_EV_ASSERT || ev->kind == PLAIT_EV_FAILURE)) {
		_cleanup_(xfreep) char *text = xstrndup((const char *)ev->bytes, ev->nbytes);

		strbuf_add_printable(out, text, "");
	}
	show_value(ev, out);
	strbuf_addc(out, '\n');
	return err;
}

struct err *show_steps(struct trace *t, struct strbuf *out)
{
	uint32_t last = UINT32_MAX;
	const struct event *ev;
	struct symbols *s = NULL;
	struct cursor c;
	struct err *err;

	err = symbols_open(t, &s);
	if (err)
		return err;
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if (!is_shown(ev))
			continue;
		if (last != UINT32_MAX && ev->thread != last)
			strbuf_addf(out, "%s        -- switch to %s%s\n", color(COLOR_DIM),
				    trace_meta(t)->threads[ev->thread].name, color(COLOR_OFF));
		last = ev->thread;
		err = show_event(t, s, ev, out);
		if (err)
			break;
	}
	cursor_deinit(&c);
	symbols_close(s);
	return err;
}

static const char *name_of(const struct trace_meta *m, uint32_t thread)
{
	return thread < m->nthreads ? m->threads[thread].name : "?";
}

/* What a thread waits for and where: the same text, the same story. */
static char *story_of(struct trace *t, struct symbols *s, const struct plait_blocked *b, bool many)
{
	_cleanup_(places_deinit) struct places stack = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	strbuf_addf(&out, " wait%s %s", many ? "" : "s", b->what);
	if (b->holder != PLAIT_ANY)
		strbuf_addf(&out, "%s%s", b->kind == PLAIT_EV_JOIN ? " " : " held by thread ",
			    name_of(trace_meta(t), b->holder));
	strbuf_addc(&out, '\n');
	places_of_blocked(s, b, &stack);
	show_places(&stack, "      ", &out);
	return strbuf_detach(&out);
}

/* One thread alone, or all that have the same story. */
static void show_story(const struct run_result *r, struct trace *t, struct symbols *s,
		       char *const *stories, size_t first, struct strbuf *out)
{
	_cleanup_(words_deinit) struct words names = { 0 };

	for (size_t i = first; i < r->blocked.len; i++)
		if (strcmp(stories[i], stories[first]) == 0)
			words_push(&names, name_of(trace_meta(t), r->blocked.data[i].thread));
	strbuf_adds(out, "  ");
	words_add_crowd(&names, "thread", out);
	if (names.len > 1) {
		_cleanup_(xfreep) char *of_many = story_of(t, s, &r->blocked.data[first], true);

		strbuf_adds(out, of_many);
	} else {
		strbuf_adds(out, stories[first]);
	}
}

static bool told_before(char *const *stories, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(stories[k], stories[i]) == 0)
			return true;
	return false;
}

struct err *show_blocked(const struct run_result *r, const char *path, struct strbuf *out)
{
	struct trace *t = NULL;
	struct symbols *s = NULL;
	struct err *err;
	char **stories;

	if (!r->blocked.len)
		return NULL;
	stories = xcalloc(r->blocked.len, sizeof(*stories));
	err = trace_open(path, &t);
	if (!err)
		err = symbols_open(t, &s);
	for (size_t i = 0; !err && i < r->blocked.len; i++)
		stories[i] = story_of(t, s, &r->blocked.data[i], false);
	for (size_t i = 0; !err && i < r->blocked.len; i++)
		if (!told_before(stories, i))
			show_story(r, t, s, stories, i, out);
	for (size_t i = 0; i < r->blocked.len; i++)
		free(stories[i]);
	free(stories);
	symbols_close(s);
	trace_close(t);
	return err;
}
