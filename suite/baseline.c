/* suite/baseline.c - failures that are known already: a text file, one line per test.
 *
 *	Queue.Drain<tab>fails deadlock
 *	Server.Stops<tab>not-under-control
 *
 * A known test that fails in another way is news. Lines that begin with '#' are comments. */
#include "suite/suite.h"

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/strbuf.h"

static bool is_finding(const struct suite_result *r)
{
	return r->verdict == VERDICT_FAILS || r->verdict == VERDICT_UNSTEADY ||
	       r->verdict == VERDICT_UNCONTROLLED || r->verdict == VERDICT_UNFINISHED;
}

static void add_line(const struct suite_result *r, struct strbuf *out)
{
	strbuf_addf(out, "%s\t%s", r->test->name, verdict_name(r->verdict));
	if (r->kind)
		strbuf_addf(out, " %s", r->kind);
}

struct err *baseline_load(const char *path, struct names *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);
	char *line, *rest = text.data;

	while (!err && (line = strsep(&rest, "\n")))
		if (*line && *line != '#')
			names_intern(ret, line);
	return err;
}

bool baseline_knows(const struct names *known, const struct suite_result *r)
{
	_cleanup_(strbuf_deinit) struct strbuf line = { 0 };

	add_line(r, &line);
	return is_finding(r) && names_find(known, strbuf_str(&line)) != NAMES_NONE;
}

struct err *baseline_write(const char *path, const struct suite_results *r)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	strbuf_adds(&text, "# known to `unplait test --baseline': test, tab, what it does\n");
	for (size_t i = 0; i < r->len; i++)
		if (is_finding(&r->data[i])) {
			add_line(&r->data[i], &text);
			strbuf_addc(&text, '\n');
		}
	return file_write(path, strbuf_str(&text), text.len);
}
