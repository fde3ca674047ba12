/* suite/command.c - a line to paste into a shell: where the test runs, with its variables. */
#include "suite/suite.h"

#include "base/strbuf.h"

#include <ctype.h>

static void add_word(const char *word, struct strbuf *out)
{
	const char *c = word;

	while (isalnum((unsigned char)*c) || (*c && strchr("._-+=/:,@%", *c)))
		c++;
	if (*word && !*c) {
		strbuf_adds(out, word);
		return;
	}
	strbuf_addc(out, '\'');
	for (c = word; *c; c++)
		if (*c == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_addc(out, *c);
	strbuf_addc(out, '\'');
}

/* NAME='some value': quoted as a whole it would be the name of a program. */
static void add_variable(const char *entry, struct strbuf *out)
{
	size_t name = strcspn(entry, "=");

	strbuf_add(out, entry, name);
	if (entry[name]) {
		strbuf_addc(out, '=');
		if (entry[name + 1])
			add_word(entry + name + 1, out);
	}
	strbuf_addc(out, ' ');
}

void suite_command(const struct suite_result *r, const char *command, struct strbuf *out)
{
	const struct suite_test *t = r->test;

	if (t->folder) {
		strbuf_adds(out, "cd ");
		add_word(t->folder, out);
		strbuf_adds(out, " && ");
	}
	for (size_t i = 0; i < t->environment.len; i++)
		add_variable(t->environment.data[i], out);
	strbuf_addf(out, "unplait %s ", command);
	add_word(r->plait, out);
}
