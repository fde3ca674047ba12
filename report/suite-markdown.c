/* report/suite-markdown.c - what `unplait test` found as Markdown: the comment on a pull request.
 *
 * Names and messages come from the program and may hold anything. They stand in code spans and
 * fenced blocks whose fence is longer than any run of backquotes inside, so they cannot become
 * markup. */
#include "report/report.h"

#include "base/printable.h"
#include "base/strbuf.h"
#include "suite/suite.h"

#include <stdlib.h>
#include <string.h>

static size_t longest_run(const char *text)
{
	size_t longest = 0, now = 0;

	for (; *text; text++) {
		now = *text == '`' ? now + 1 : 0;
		longest = now > longest ? now : longest;
	}
	return longest;
}

/* One line as code. */
static void add_span(struct strbuf *out, const char *text)
{
	size_t fence = longest_run(text) + 1;
	const char *room = longest_run(text) ? " " : "";

	strbuf_pad(out, '`', fence);
	strbuf_adds(out, room);
	strbuf_add_printable(out, text, "");
	strbuf_adds(out, room);
	strbuf_pad(out, '`', fence);
}

static void add_block(struct strbuf *out, const char *text)
{
	size_t fence = longest_run(text) + 1;

	fence = fence < 3 ? 3 : fence;
	strbuf_pad(out, '`', fence);
	strbuf_addc(out, '\n');
	strbuf_add_printable(out, text, "\n\t");
	strbuf_addc(out, '\n');
	strbuf_pad(out, '`', fence);
	strbuf_adds(out, "\n\n");
}

static void add_failure(const struct suite_result *r, struct strbuf *out)
{
	struct strbuf text = { 0 };

	strbuf_adds(out, "### ");
	add_span(out, r->test->name);
	strbuf_addf(out, "%s\n\n**%s**", r->known ? " (known)" : "", r->kind ? r->kind : "failure");
	if (r->file) {
		strbuf_addf(&text, "%s:%u", r->file, r->line);
		strbuf_adds(out, " at ");
		add_span(out, strbuf_str(&text));
		strbuf_clear(&text);
	}
	strbuf_adds(out, "\n\n");
	if (r->message)
		add_block(out, r->message);
	if (r->cause)
		strbuf_addf(&text, "cause   %s%s\n", r->cause,
			    r->explained ? "" : " (not confirmed)");
	if (r->advice)
		strbuf_addf(&text, "advice  %s\n", r->advice);
	if (r->tried)
		strbuf_addf(&text, "tried   %s\n", r->tried);
	if (r->plait) {
		strbuf_adds(&text, "replay  ");
		suite_command(r, "replay", &text);
	}
	if (text.len)
		add_block(out, strbuf_str(&text));
	strbuf_deinit(&text);
}

void report_suite_markdown(const struct suite_results *r, double seconds, struct strbuf *out)
{
	strbuf_adds(out, "## unplait test\n\n");
	report_suite_summary(r, seconds, out);
	strbuf_addc(out, '\n');
	for (size_t i = 0; i < r->len; i++)
		if (r->data[i].verdict == VERDICT_FAILS)
			add_failure(&r->data[i], out);
}
