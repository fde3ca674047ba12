/* report/suite.c - what `unplait test` says, for people and as JSON.
 *
 *	ok     Queue.Push        every schedule explored (429 runs)
 *	FAILS  Queue.Drain       deadlock at queue.cc:41: ...
 *	       from    pool.cc:12, main.cc:40
 *	       cause   thread 0.2 ...
 *	       replay  unplait replay unplait-tests/Queue.Drain.plait
 *	??     Server.Stops      not under control: ... */
#include "report/report.h"

#include "base/json.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "suite/suite.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_WIDTH = 32, SHOWN_LINES = 6, LINE_WIDTH = 200 };

static void add_name(const struct suite_result *r, struct strbuf *out)
{
	size_t before = out->len, width;

	strbuf_add_printable(out, r->test->name, "");
	width = out->len - before;
	strbuf_pad(out, ' ', width < NAME_WIDTH ? NAME_WIDTH - width : 0);
}

static void add_field(struct strbuf *out, const char *field, const char *text)
{
	if (!text)
		return;
	strbuf_addf(out, "       %-8s", field);
	strbuf_add_printable(out, text, "");
	strbuf_addc(out, '\n');
}

static void add_runs(const struct suite_result *r, struct strbuf *out)
{
	uint64_t ended = r->runs - r->unfinished;

	strbuf_addf(out, "%" PRIu64 " schedule%s", ended, ended == 1 ? "" : "s");
	if (r->unfinished)
		strbuf_addf(out, "; %" PRIu64 " more had not ended when %s cut off", r->unfinished,
			    r->unfinished == 1 ? "it was" : "they were");
}

static void add_passed(const struct suite_result *r, struct strbuf *out)
{
	if (r->verdict == VERDICT_PASSED) {
		strbuf_adds(out, "passed ");
		add_runs(r, out);
	} else {
		strbuf_adds(out, verdict_text(r->verdict));
	}
	if (r->verdict == VERDICT_EXPLORED) {
		strbuf_adds(out, " (");
		add_runs(r, out);
		strbuf_addc(out, ')');
	}
	if (r->why && r->verdict != VERDICT_SINGLE) {
		strbuf_adds(out, "; not under control: ");
		strbuf_add_printable(out, r->why, "");
	}
	strbuf_addc(out, '\n');
}

/* A line of text of the program's, cut where it gets too long to be read. */
static void add_line(const char *text, size_t length, struct strbuf *out)
{
	struct strbuf line = { 0 };

	strbuf_add(&line, text, MIN(length, LINE_WIDTH));
	strbuf_add_printable(out, strbuf_str(&line), "\t");
	if (length > LINE_WIDTH)
		strbuf_adds(out, " ...");
	strbuf_addc(out, '\n');
	strbuf_deinit(&line);
}

/* The message's first line is behind the place, the others are below. */
static void add_message(const char *text, struct strbuf *out)
{
	size_t length = strcspn(text, "\n");

	add_line(text, length, out);
	for (unsigned n = 0; text[length] && n < SHOWN_LINES; n++) {
		text += length + 1;
		length = strcspn(text, "\n");
		strbuf_pad(out, ' ', 15);
		add_line(text, length, out);
	}
}

static void add_failure(const struct suite_result *r, struct strbuf *out)
{
	strbuf_adds(out, r->kind ? r->kind : "failure");
	if (r->file &&
	    !(r->message && strstr(r->message, r->file))) /* a sanitizer says it itself */
		strbuf_addf(out, " at %s:%u", r->file, r->line);
	if (r->known)
		strbuf_adds(out, " (known)");
	strbuf_adds(out, r->message ? ": " : "\n");
	if (r->message)
		add_message(r->message, out);
}

static void add_command(const struct suite_result *r, const char *command, struct strbuf *out)
{
	struct strbuf text = { 0 };

	suite_command(r, command, &text);
	add_field(out, command, strbuf_str(&text));
	strbuf_deinit(&text);
}

static void add_why(const struct suite_result *r, struct strbuf *out)
{
	strbuf_adds(out, verdict_text(r->verdict));
	if (r->why) {
		strbuf_adds(out, ": ");
		strbuf_add_printable(out, r->why, "");
	}
	strbuf_adds(out, r->known ? " (known)\n" : "\n");
}

void report_suite_line(const struct suite_result *r, struct strbuf *out)
{
	bool fails = r->verdict == VERDICT_FAILS, open = r->verdict > VERDICT_FAILS;

	strbuf_addf(out, "%-7s", r->known ? "known" : fails ? "FAILS" : open ? "??" : "ok");
	add_name(r, out);
	strbuf_adds(out, "  ");
	if (r->verdict >= VERDICT_UNCONTROLLED)
		add_why(r, out);
	else if (r->verdict == VERDICT_SKIPPED || r->verdict < VERDICT_FAILS)
		add_passed(r, out);
	else
		add_failure(r, out);
	if (!fails && r->verdict != VERDICT_UNSTEADY)
		return;
	if (!fails)
		add_field(out, "but", verdict_text(r->verdict));
	add_field(out, "from", r->callers);
	if (r->why)
		add_field(out, "outside", r->why);
	add_field(out, "cause", r->cause);
	if (r->cause && !r->explained)
		add_field(out, "", "(not confirmed)");
	add_field(out, "advice", r->advice);
	add_field(out, "tried", r->tried);
	if (r->plait)
		add_command(r, "replay", out);
	if (r->plait && fails)
		add_command(r, "explain", out);
}

void report_suite_summary(const struct suite_results *r, double seconds, struct strbuf *out)
{
	size_t count[VERDICTS] = { 0 }, known = 0;
	uint64_t runs = 0;

	for (size_t i = 0; i < r->len; i++) {
		runs += r->data[i].runs;
		if (r->data[i].known)
			known++;
		else
			count[r->data[i].verdict]++;
	}
	strbuf_addf(out, "%zu test%s", r->len, r->len == 1 ? "" : "s");
	for (int v = VERDICTS - 1; v >= 0; v--)
		if (count[v])
			strbuf_addf(out, ", %zu %s", count[v],
				    v == VERDICT_FAILS	  ? (count[v] == 1 ? "FAILS" : "FAIL")
				    : v == VERDICT_SINGLE ? (count[v] == 1 ? "starts no threads"
									   : "start no threads")
				    : v == VERDICT_SKIPPED
					    ? (count[v] == 1 ? "skips itself" : "skip themselves")
				    : v == VERDICT_UNSTEADY ? "failed but not confirmed"
							    : verdict_text((enum verdict)v));
	if (known)
		strbuf_addf(out, ", %zu known", known);
	strbuf_addf(out, "; %" PRIu64 " schedules in %.1f s\n", runs, seconds);
}

static void json_failure(const struct suite_result *r, struct json *j)
{
	json_begin_object(j, "outcome");
	json_str(j, "kind", r->kind);
	json_str(j, "message", r->message);
	if (r->file) {
		json_begin_object(j, "at");
		json_str(j, "file", r->file);
		json_uint(j, "line", r->line);
		json_end(j);
	}
	json_end(j);
	json_begin_object(j, "replays");
	json_uint(j, "tried", r->replays);
	json_uint(j, "same", r->same);
	json_end(j);
	json_str(j, "plait", r->plait);
	json_str(j, "cause", r->cause);
	json_str(j, "advice", r->advice);
	json_str(j, "tried", r->tried);
	json_bool(j, "explained", r->explained);
}

static void json_words(struct json *j, const char *key, const struct words *w)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < w->len; i++)
		json_str(j, NULL, w->data[i]);
	json_end(j);
}

void report_suite_json(const struct suite_results *r, double seconds, bool interrupted,
		       struct json *j)
{
	json_begin_answer(j);
	json_begin_array(j, "tests");
	for (size_t i = 0; i < r->len; i++) {
		const struct suite_result *x = &r->data[i];

		json_begin_object(j, NULL);
		json_str(j, "name", x->test->name);
		json_words(j, "command", &x->test->command);
		json_words(j, "environment", &x->test->environment);
		json_str(j, "folder", x->test->folder);
		json_str(j, "verdict", verdict_name(x->verdict));
		json_bool(j, "known", x->known);
		json_uint(j, "runs", x->runs);
		json_uint(j, "unfinished", x->unfinished);
		json_uint(j, "threads", x->threads);
		json_str(j, "uncontrolled", x->why);
		json_real(j, "seconds", x->seconds, 3);
		if (x->kind)
			json_failure(x, j);
		json_end(j);
	}
	json_end(j);
	json_bool(j, "interrupted", interrupted);
	json_real(j, "seconds", seconds, 3);
	json_end(j);
}
