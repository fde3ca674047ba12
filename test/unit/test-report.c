#include "base/json.h"
#include "base/strbuf.h"
#include "explain/explanation.h"
#include "report/escape.h"
#include "report/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A lost update, as explain would hand it over. */
static struct explanation *lost_update(void)
{
	static const char *threads[] = { "0", "0.1", "0.2" };
	static struct shown_event failing[] = {
		{ .thread = 1,
		  .index = 3,
		  .position = 9,
		  .op = "read",
		  .object = "balance",
		  .value = "0",
		  .file = "bank.c",
		  .line = 12,
		  .function = "std::_Function_handler_of_a_rather_long_name::_M_invoke_deposit_"
			      "without_any_space_to_break_at",
		  .source = "int b = balance;" },
		{ .thread = 2,
		  .index = 3,
		  .position = 10,
		  .op = "read",
		  .object = "balance",
		  .value = "0",
		  .file = "bank.c",
		  .line = 12,
		  .function = "deposit",
		  .source = "int b = balance;",
		  .reordered = true,
		  .switched = true },
		{ .thread = 1,
		  .index = 4,
		  .position = 12,
		  .op = "write",
		  .object = "balance",
		  .value = "10",
		  .file = "bank.c",
		  .line = 13,
		  .function = "deposit",
		  .source = "balance = b + amount; /* <unsafe> */",
		  .reordered = true,
		  .switched = true },
		{ .thread = 0,
		  .index = 20,
		  .position = 30,
		  .op = "assert",
		  .file = "bank.c",
		  .line = 30,
		  .function = "main",
		  .source = "assert(balance == 20);",
		  .failure = true },
	};
	static struct shown_event passing[3];
	static struct shown_flow flows[] = { { true, UINT32_MAX, 1 }, { false, 1, 2 } };
	struct explanation *x = calloc(1, sizeof(*x));

	passing[0] = failing[0];
	passing[1] = failing[2];
	passing[2] = failing[1];
	passing[2].value = "10";
	x->program = "./bank";
	x->outcome = "assert";
	x->outcome_text = "assert: balance == 20 at bank.c:30";
	x->confirmed = true;
	x->replays_tried = x->replays_same = 5;
	x->kind = BUG_ATOMICITY;
	x->summary = "0.2 reads balance between 0.1's read and write of it";
	x->threads = threads;
	x->nthreads = 3;
	x->failing = (struct shown_schedule){ failing, 4, 31, 9, 3 };
	x->passing = (struct shown_schedule){ passing, 3, 31, 9, 2 };
	x->flows = flows;
	x->nflows = 2;
	x->pair[0] = 1;
	x->pair[1] = 2;
	x->advice = (struct shown_advice){ .text = "make bank.c:12-13 atomic",
					   .failed_before = 41,
					   .runs_before = 1000,
					   .runs_after = 10000,
					   .seen_failing = 40,
					   .broken_failing = 39,
					   .seen_passing = 200,
					   .broken_passing = 2 };
	x->pairs_tried = 2;
	return x;
}

static size_t widest_line(const char *text)
{
	size_t widest = 0, now = 0;

	for (; *text; text++) {
		if (*text == '\n') {
			widest = now > widest ? now : widest;
			now = 0;
		} else if ((*text & 0xc0) != 0x80) {
			now++;
		}
	}
	return widest;
}

Test(report, terminal_fits_and_says_it_all)
{
	struct explanation *x = lost_update();
	struct strbuf out = { 0 };

	report_term.explanation(x, &(struct report_view){ .width = 100 }, &out);
	cr_assert_leq(widest_line(strbuf_str(&out)), 100, "%s", strbuf_str(&out));
	cr_assert(strstr(strbuf_str(&out), "kind     atomicity"));
	cr_assert(strstr(strbuf_str(&out), "5 of 5 replays fail the same way"));
	cr_assert(strstr(strbuf_str(&out), "0.2 bank.c:12 reads balance from the initial value"));
	cr_assert(strstr(strbuf_str(&out), "failed 41 of 1000 schedules before, 0 of 10000"));
	strbuf_deinit(&out);
	explanation_free(x);
}

/* The terminal has 100 columns for two schedules; the object is at the end of a line of 200. */
/* What was tried is not advice: every format says that it was tried, and what it did. */
Test(report, doubt_gives_no_advice)
{
	struct explanation *x = lost_update();
	struct shown_candidate near = { .kind = BUG_ATOMICITY,
					.standing = 5,
					.summary = "0.2 reads balance <in> between",
					.advice = x->advice };
	const struct report_format *const formats[] = { &report_term, &report_html, &report_json };
	static const char *const tried[] = {
		"tried    make bank.c:12-13 atomic. With this enforced 0",
		"<b>Tried.</b> make bank.c:12-13 atomic. With this",
		"\"tried\": \"make bank.c:12-13 atomic. With this"
	};
	static const char *const looked[] = {
		"looked   (weak) 0.2 reads balance <in> between; this",
		"<b>Looked at.</b> (weak) 0.2 reads balance &lt;in&gt;", "\"standing\": \"weak\""
	};
	static const char *const advice[] = { "  advice  ", "<b>Advice.", "\"advice\": \"make" };

	x->advice = (struct shown_advice){ 0 };
	x->kind = BUG_UNKNOWN;
	x->summary = "not known: nothing that was tried tells them apart";
	x->doubtful = true;
	x->tried = "make bank.c:12-13 atomic. With this enforced 0 of 300 schedules fail";
	near.advice.text = NULL; /* JSON lists it with each candidate */
	x->candidates = &near;
	x->ncandidates = 1;
	for (int i = 0; i < 3; i++) {
		struct strbuf out = { 0 };

		formats[i]->explanation(x, &(struct report_view){ .width = 100 }, &out);
		cr_assert(strstr(strbuf_str(&out), tried[i]), "%s", strbuf_str(&out));
		cr_assert(strstr(strbuf_str(&out), looked[i]), "%s", strbuf_str(&out));
		cr_assert_null(strstr(strbuf_str(&out), advice[i]), "%s", strbuf_str(&out));
		strbuf_deinit(&out);
	}
	explanation_free(x);
}

Test(report, long_line_shows_its_object)
{
	struct explanation *x = lost_update();
	struct strbuf out = { 0 }, line = { 0 };

	for (int i = 0; i < 20; i++)
		strbuf_addf(&line, "rebalanced(%d) + ", i);
	strbuf_adds(&line, "balance;");
	x->failing.events[0].source = strbuf_str(&line);
	report_term.explanation(x, &(struct report_view){ .width = 100 }, &out);
	cr_assert(strstr(strbuf_str(&out), " + balance;"), "%s", strbuf_str(&out));
	cr_assert(strstr(strbuf_str(&out), "…"));
	strbuf_deinit(&out);
	strbuf_deinit(&line);
	explanation_free(x);
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

Test(report, page_has_a_cell_per_event)
{
	struct explanation *x = lost_update();
	struct strbuf out = { 0 };

	report_html.explanation(x, &(struct report_view){ 0 }, &out);
	cr_assert_eq(count(strbuf_str(&out), "<rect "), x->failing.len + x->passing.len);
	cr_assert_eq(count(strbuf_str(&out), "<svg class=strip"), 2);
	cr_assert(strstr(strbuf_str(&out), "<a href=\"#f0\"><rect"));
	strbuf_deinit(&out);
	explanation_free(x);
}

Test(report, control_flow_that_differs_is_bold)
{
	struct explanation *x = lost_update();
	struct strbuf out = { 0 };

	report_html.explanation(x, &(struct report_view){ 0 }, &out);
	cr_assert_null(strstr(strbuf_str(&out), "class=\"ev t1 only\""));
	x->failing.events[0].only_here = true;
	strbuf_clear(&out);
	report_html.explanation(x, &(struct report_view){ 0 }, &out);
	cr_assert(strstr(strbuf_str(&out), "class=\"ev t1 only\""));
	x->failing.events[0].only_here = false;
	strbuf_deinit(&out);
	explanation_free(x);
}

Test(report, page_is_self_contained_and_escapes)
{
	struct explanation *x = lost_update();
	struct strbuf out = { 0 };
	const char *path = getenv("UNPLAIT_TEST_PAGE"); /* keep the page to look at it */

	report_html.explanation(x, &(struct report_view){ 0 }, &out);
	cr_assert(strstr(strbuf_str(&out), "/* &lt;unsafe&gt; */"));
	cr_assert_null(strstr(strbuf_str(&out), "<unsafe>"));
	cr_assert_null(strstr(strbuf_str(&out), "https:"), "a page must not reach for the network");
	if (path) {
		FILE *f = fopen(path, "w");

		fputs(strbuf_str(&out), f);
		fclose(f);
	}
	strbuf_deinit(&out);
	explanation_free(x);
}

Test(report, json_has_the_agreed_names)
{
	struct explanation *x = lost_update();
	const char *names[] = { "\"confirmed\": true", "\"events_total\": 31",
				"\"flows_total\": 9",  "\"pairs_tried\": 2",
				"\"in\": \"passing\"", "\"kind\": \"atomicity\"" };
	struct strbuf out = { 0 };

	report_json.explanation(x, &(struct report_view){ 0 }, &out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert(strstr(strbuf_str(&out), names[i]), "%s is missing", names[i]);
	strbuf_deinit(&out);
	explanation_free(x);
}

static void check(void (*escape)(struct strbuf *, const char *), const char *text, const char *want)
{
	struct strbuf out = { 0 };

	escape(&out, text);
	cr_assert_str_eq(strbuf_str(&out), want);
	strbuf_deinit(&out);
}

Test(report, escapes)
{
	check(escape_markup, "a<b> & \"c\"\n\033", "a&lt;b&gt; &amp; &quot;c&quot;&#10;");
	check(escape_markup, "gr\xc3\xbc\xc3\x9f \xff", "gr\xc3\xbc\xc3\x9f \xef\xbf\xbd");
	check(escape_dot, "say \"hi\"\\n\n", "say \\\"hi\\\"\\\\n\\l");
	check(escape_uri, "my dir/a#b.c", "my%20dir/a%23b.c");
	check(escape_uri, "/usr/include/x.h", "file:///usr/include/x.h");
	check(escape_uri, "gr\xc3\xbc.c", "gr%C3%BC.c");
}
