/* cmd/rewind-gdb.c - `unplait rewind --gdb CORE` at a terminal: start gdb, with ourselves as its target. */
#include "cmd/rewind.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "rewind/rewind.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `plait other [N]` and `plait suffixes`: what gdb remembers of registers, memory and frames belongs to the old suffix. */
static const char commands[] =
	"python exec('''\\nclass Plait(gdb.Command):\\n"
	"    \"\"\"Other ways that lead to the same dump.\"\"\"\\n"
	"    def __init__(self):\\n"
	"        super().__init__(\"plait\", gdb.COMMAND_USER, prefix=True)\\n"
	"class Other(gdb.Command):\\n"
	"    \"\"\"Go to another suffix, or to number N: plait other [N].\"\"\"\\n"
	"    def __init__(self):\\n"
	"        super().__init__(\"plait other\", gdb.COMMAND_USER)\\n"
	"    def invoke(self, arg, tty):\\n"
	"        gdb.execute((\"monitor other \" + arg).strip())\\n"
	"        gdb.execute(\"maintenance flush register-cache\", to_string=True)\\n"
	"        gdb.execute(\"maintenance flush dcache\", to_string=True)\\n"
	"        gdb.execute(\"frame\")\\n"
	"class Suffixes(gdb.Command):\\n"
	"    \"\"\"Show the suffixes.\"\"\"\\n"
	"    def __init__(self):\\n"
	"        super().__init__(\"plait suffixes\", gdb.COMMAND_USER)\\n"
	"    def invoke(self, arg, tty):\\n"
	"        gdb.execute(\"monitor suffixes\")\\n"
	"Plait(); Other(); Suffixes()\\n''')";

static void add_word(struct strbuf *out, const char *option, const char *word)
{
	strbuf_addf(out, " %s", option);
	strbuf_add_shell(out, word);
}

/* The same command again, now as gdb's target. */
static char *target_command(const char *core, const struct rewind_options *o,
			    const struct strings *crumbs)
{
	struct strbuf sb = { 0 };
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	add_word(&sb, "target remote | ", n > 0 ? self : "unplait");
	strbuf_adds(&sb, " rewind --gdb");
	if (o->blocks)
		strbuf_addf(&sb, " --blocks %" PRIu64, o->blocks);
	if (o->seconds > 0)
		strbuf_addf(&sb, " --time %g", o->seconds);
	if (o->thread)
		add_word(&sb, "--thread ", o->thread);
	strbuf_adds(&sb, o->run ? " --run" : o->no_run ? " --no-run" : "");
	for (size_t i = 0; i < crumbs->len; i++)
		add_word(&sb, "--crumbs ", crumbs->data[i]);
	add_word(&sb, "-- ", core);
	return strbuf_detach(&sb);
}

struct err *rewind_start_gdb(const char *core, const struct rewind_options *o,
			     const struct strings *crumbs, const struct strings *extra)
{
	const struct dump_module *m;
	VEC(const char *) words = { 0 };
	char *target = target_command(core, o, crumbs);
	struct dump d;
	struct err *err = dump_open(core, &d);

	if (err) {
		free(target);
		dump_close(&d);
		return err;
	}
	vec_push(&words, "gdb");
	vec_push(&words, "-q");
	vec_push(&words, "-ex");
	vec_push(&words, commands);
	vec_push(&words, "-ex");
	vec_push(&words, "set remotetimeout 120");
	vec_push(&words, "-ex");
	vec_push(&words, target);
	for (size_t i = 0; i < extra->len; i++) {
		vec_push(&words, "-ex");
		vec_push(&words, extra->data[i]);
	}
	if (extra->len)
		vec_push(&words, "-batch");
	m = dump_module_at(&d, dump_auxv(&d, AT_ENTRY));
	if (m) {
		vec_push(&words, "--");
		vec_push(&words, m->path);
	}
	vec_push(&words, NULL);
	execvp("gdb", (char *const *)(uintptr_t)words.data);
	err = err_new(ERR_ENV, "cannot start gdb: %s", strerror(errno));
	vec_deinit(&words);
	free(target);
	dump_close(&d);
	return err;
}
