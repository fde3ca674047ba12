/* cmd/show-run.c - see show-run.h. */
#include "cmd/show-run.h"

#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "run/place.h"
#include "run/run.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void show_saved(const char *plait, struct strbuf *out)
{
	strbuf_adds(out, "  saved; see it again with:  unplait replay ");
	strbuf_add_shell(out, plait);
	strbuf_addc(out, '\n');
}

void print_saved(const char *plait)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	show_saved(plait, &text);
	fputs(strbuf_str(&text), stdout);
}

void show_outcome(const struct run_result *r, struct strbuf *out)
{
	strbuf_addf(out, "%s%s%s", color(run_failed(r) ? COLOR_RED : COLOR_GREEN),
		    outcome_name(r->outcome), color(COLOR_OFF));
	if (r->outcome == PLAIT_OUTCOME_SIGNAL)
		strbuf_addf(out, " %d (%s)", r->signal, strsignal(r->signal));
	if (r->outcome == PLAIT_OUTCOME_EXIT)
		strbuf_addf(out, " %d", r->exit_code);
	if (r->text) {
		strbuf_adds(out, ": ");
		strbuf_add_printable(out, r->text, "");
	}
	strbuf_addc(out, '\n');
}

void show_uncontrolled(uint32_t uncontrolled, const char *note, struct strbuf *out)
{
	struct strbuf sb = { 0 };

	uncontrolled_describe(uncontrolled, &sb);
	if (sb.len)
		strbuf_addf(out, "not under control: %s\n", strbuf_str(&sb));
	if (note) {
		strbuf_adds(out, "note: ");
		strbuf_add_printable(out, note, "");
		strbuf_addc(out, '\n');
	}
	strbuf_deinit(&sb);
}

enum { LAST_LINES = 10 };

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text = strchrnul(text, '\n'), text += *text == '\n')
		n++;
	return n;
}

static void show_lines(const char *name, const char *text, const char *headline, bool all,
		       struct strbuf *out)
{
	size_t lines = text ? count_lines(text) : 0, skip;

	/* one line that the first line of the report already has is not said twice */
	if (!lines || (lines == 1 && headline && strstr(text, headline)))
		return;
	skip = all || lines <= LAST_LINES ? 0 : lines - LAST_LINES;
	strbuf_addf(out, skip ? "  %s, the last %d of %zu lines:\n" : "  %s:\n", name, LAST_LINES,
		    lines);
	for (; *text; text = strchrnul(text, '\n'), text += *text == '\n') {
		_cleanup_(xfreep) char *line = NULL;

		if (skip && skip--)
			continue;
		line = xstrndup(text, strcspn(text, "\n"));
		strbuf_adds(out, "    | ");
		strbuf_add_printable(out, line, "");
		strbuf_addc(out, '\n');
	}
}

void show_output(const struct run_result *r, bool all, struct strbuf *out)
{
	show_lines("it printed", r->out, r->text, all, out);
	show_lines("on standard error", r->errors, r->text, all, out);
}

void show_places(const struct places *p, const char *indent, struct strbuf *out)
{
	for (size_t i = 0; i < p->len; i++) {
		const struct place *at = &p->data[i];

		strbuf_addf(out, "%s%s", indent, at->function);
		if (at->file[0])
			strbuf_addf(out, " at %s:%u", at->file, at->line);
		strbuf_addc(out, '\n');
	}
}

void show_failure_stack(const struct run_result *r, const char *plait, struct strbuf *out)
{
	_cleanup_(places_deinit) struct places stack = { 0 };

	if (!plait || r->blocked.len)
		return;
	err_free(places_of_failure(r, plait, &stack)); /* best effort */
	show_places(&stack, "    ", out);
}

static void json_place(struct json *j, const char *key, const struct place *p)
{
	json_begin_object(j, key);
	json_str(j, "file", p->file);
	json_uint(j, "line", p->line);
	json_str(j, "function", p->function);
	json_end(j);
}

static void json_stack(struct json *j, const struct run_result *r, const char *plait)
{
	_cleanup_(places_deinit) struct places stack = { 0 };
	const struct place *at;

	err_free(places_of_failure(r, plait, &stack)); /* best effort */
	at = places_at(&stack);
	if (!at)
		return;
	json_place(j, "at", at);
	json_begin_array(j, "stack");
	for (size_t i = 0; i < stack.len; i++)
		json_place(j, NULL, &stack.data[i]);
	json_end(j);
}

void json_outcome(struct json *j, const char *key, const struct run_result *r, const char *plait)
{
	json_begin_object(j, key);
	json_str(j, "kind", outcome_name(r->outcome));
	json_str(j, "message", r->text);
	if (r->signal)
		json_int(j, "signal", r->signal);
	if (r->exit_code >= 0)
		json_int(j, "exit", r->exit_code);
	if (plait)
		json_stack(j, r, plait);
	if (r->out && *r->out)
		json_str(j, "stdout", r->out);
	if (r->errors && *r->errors)
		json_str(j, "stderr", r->errors);
	json_end(j);
}

/* The kinds that --fail-on can choose among. */
static const enum plait_outcome_kind kinds[] = { PLAIT_OUTCOME_ASSERT, PLAIT_OUTCOME_SIGNAL,
						 PLAIT_OUTCOME_DEADLOCK, PLAIT_OUTCOME_HANG };

static uint32_t kind_bit(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(outcome_name(kinds[i])) == len &&
		    strncmp(outcome_name(kinds[i]), word, len) == 0)
			return OUTCOME_BIT(kinds[i]);
	return 0;
}

struct err *fail_on_option(const char *words, bool *fail_on_exit, uint32_t *ignored)
{
	uint32_t named = 0;

	*fail_on_exit = false;
	*ignored = 0;
	for (const char *w = words; w && *w; w += strcspn(w, ","), w += *w == ',') {
		size_t len = strcspn(w, ",");
		uint32_t bit = kind_bit(w, len);

		if (len == 4 && strncmp(w, "exit", 4) == 0)
			*fail_on_exit = true;
		else if (bit)
			named |= bit;
		else
			return err_new(ERR_USAGE,
				       "--fail-on is a list of exit, assert, signal, deadlock and "
				       "hang, not '%s'",
				       words);
	}
	if (!named)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		*ignored |= OUTCOME_BIT(kinds[i]);
	*ignored &= ~named;
	if (!*fail_on_exit)
		*ignored |= OUTCOME_BIT(PLAIT_OUTCOME_EXIT);
	return NULL;
}

struct err *run_options(const char *fail_on, const char *gate, const char *points,
			struct target *target, uint32_t *ret)
{
	static const char *const names[] = { "sync", "learned", "all" };
	struct err *err = fail_on_option(fail_on, &target->fail_on_exit, &target->ignored);
	uint32_t i;

	if (err)
		return err;
	if (gate && strcmp(gate, "futex") && strcmp(gate, "fiber"))
		return err_new(ERR_USAGE, "--gate is futex or fiber, not '%s'", gate);
	target->gate = !gate ? 0 : !strcmp(gate, "futex") ? 1 : 2;
	if (!points || !strcmp(points, "auto"))
		return NULL;
	for (i = 0; i < 3; i++)
		if (!strcmp(points, names[i])) {
			*ret = i;
			return NULL;
		}
	return err_new(ERR_USAGE, "--points is auto, sync, learned or all, not '%s'", points);
}

struct err *timeouts_option(const char *timeouts, uint32_t *ret)
{
	return !timeouts || timeouts_parse(timeouts, ret)
		       ? NULL
		       : err_new(ERR_USAGE, "--timeouts is late, never or any, not '%s'", timeouts);
}
