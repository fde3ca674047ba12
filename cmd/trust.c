#include "cmd/trust.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "run/run.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the plait itself names to be run, on one line; empty: nothing. */
static struct err *describe(struct trace *t, bool replaced, struct strbuf *ret)
{
	struct target stored = { 0 };
	struct err *err = target_stored(t, &stored);

	for (char **w = stored.argv; !err && !replaced && w && *w; w++) {
		strbuf_adds(ret, ret->len ? " " : "");
		strbuf_add_printable(ret, *w, "");
	}
	if (!err && stored.oracle) {
		strbuf_adds(ret, ret->len ? ", and the oracle " : "the oracle ");
		strbuf_add_printable(ret, stored.oracle, "");
	}
	target_deinit(&stored);
	return err;
}

static bool says_yes(const char *plait, const char *what)
{
	char answer[16] = "";

	log_note("%s was not made here by you. It will run: %s", plait, what);
	fputs("unplait: run it? [y/N] ", stderr);
	fflush(stderr);
	return fgets(answer, sizeof(answer), stdin) && strchr("yY", answer[0]);
}

struct err *trust_check(const char *plait, bool replaced, bool trust)
{
	_cleanup_(strbuf_deinit) struct strbuf what = { 0 };
	struct trace *t = NULL;
	struct err *err;

	if (trust)
		return NULL;
	err = trace_open(plait, &t);
	if (err) { /* a bare schedule names nothing; the command will say what is wrong with it */
		err_free(err);
		return NULL;
	}
	if (!trace_made_here(t))
		err = describe(t, replaced, &what);
	trace_close(t);
	if (err || !what.len)
		return err;
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && says_yes(plait, strbuf_str(&what)))
		return NULL;
	return err_new(ERR_ENV,
		       "%s was not made here by you, and would run: %s. `unplait info` shows more; "
		       "--trust runs it",
		       plait, strbuf_str(&what));
}
