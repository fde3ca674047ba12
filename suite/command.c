/* suite/command.c - a line to paste into a shell: where the test runs, with its variables. */
#include "suite/suite.h"

#include "base/printable.h"
#include "base/strbuf.h"

#include <string.h>

/* NAME='some value': quoted as a whole it would be the name of a program. */
static void add_variable(const char *entry, struct strbuf *out)
{
	size_t name = strcspn(entry, "=");

	strbuf_add(out, entry, name);
	if (entry[name]) {
		strbuf_addc(out, '=');
		if (entry[name + 1])
			strbuf_add_shell(out, entry + name + 1);
	}
	strbuf_addc(out, ' ');
}

void suite_command(const struct suite_result *r, const char *command, struct strbuf *out)
{
	const struct suite_test *t = r->test;

	if (t->folder) {
		strbuf_adds(out, "cd ");
		strbuf_add_shell(out, t->folder);
		strbuf_adds(out, " && ");
	}
	for (size_t i = 0; i < t->environment.len; i++)
		add_variable(t->environment.data[i], out);
	strbuf_addf(out, "unplait %s ", command);
	strbuf_add_shell(out, r->plait);
}
