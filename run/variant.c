/* run/variant.c - see variant.h.
 *
 * What the program's link was is in its section .plait.build: the folder, the command, the
 * variants it has or can never have, and a hash of the bitcode it was made of. The link is
 * repeated with another output. If the hash of the result is another one, an object or a source
 * has changed in between, and what was made is a different program: it goes.
 *
 * A file that was made earlier serves again unless the program is newer or of other content. */
#include "run/variant.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "debug/binary.h"
#include "unplait/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what the link has noted ---- */

/* The value of the line `NAME VALUE`, owned by the caller; NULL when no line has that name. */
static char *build_line(const struct strbuf *build, const char *name)
{
	_cleanup_(xfreep) char *start = xasprintf("\n%s ", name);
	const char *line = build->len ? strstr(strbuf_str(build), start) : NULL;

	return line ? xstrndup(line + strlen(start), strcspn(line + 1, "\n") + 1 - strlen(start))
		    : NULL;
}

/* False: `unplait cc` has not linked it. */
static bool read_build(const char *path, struct strbuf *ret)
{
	_cleanup_(xfreep) char *variants = NULL;
	bool found = false;

	err_free(binary_section(path, PLAIT_SECTION_BUILD, ret, &found));
	variants = found ? build_line(ret, "variants") : NULL;
	return variants != NULL;
}

static bool lists(const struct strbuf *build, const char *line, const char *variant)
{
	_cleanup_(xfreep) char *value = build_line(build, line);
	char *rest = value, *word;

	while ((word = strsep(&rest, " ")))
		if (strcmp(word, variant) == 0)
			return true;
	return false;
}

/* Which code is that mode's own? NULL: it needs none, or every program has it. */
static const char *variant_of(const char *mode)
{
	return strcmp(mode, "block") == 0 || strcmp(mode, "order") == 0 ? "order"
	       : strcmp(mode, "graph") == 0				? "graph"
	       : strcmp(mode, "path") == 0				? "path"
									: NULL;
}

/* Modes that no program can have code for: order in a link that drops sections, for example. */
static bool never(const struct strbuf *build, const char *variant)
{
	_cleanup_(xfreep) char *line = xasprintf("\nnever %s\n", variant);

	return strstr(strbuf_str(build), line) != NULL;
}

/* ---- the link, once more ---- */

/* The command as it was, from our own installation, with another output. */
static char *link_command(const struct strbuf *build, const char *variant, const char *output)
{
	_cleanup_(xfreep) char *folder = build_line(build, "folder");
	_cleanup_(xfreep) char *command = build_line(build, "command"); /* unplait cc ... */
	_cleanup_(xfreep) char *self = file_self();
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };

	if (!folder || !command || !self || strncmp(command, "unplait ", 8) != 0)
		return NULL;
	strbuf_adds(&sb, "cd ");
	strbuf_add_shell(&sb, folder);
	strbuf_addf(&sb, " && UNPLAIT_VARIANTS=%s ", variant);
	strbuf_add_shell(&sb, self);
	strbuf_addf(&sb, " %s -o ", command + 8);
	strbuf_add_shell(&sb, output);
	return strbuf_detach(&sb);
}

/* What the linker or compiler complained about first. */
static struct err *complaint(const char *log)
{
	_cleanup_(strbuf_deinit) struct strbuf said = { 0 };

	err_free(file_read(log, &said));
	return err_new(ERR_ENV, "the link, repeated, fails%s%.*s", said.len ? ": " : "",
		       (int)strcspn(strbuf_str(&said), "\n"), strbuf_str(&said));
}

static struct err *check_content(const struct strbuf *build, const char *variant, const char *made)
{
	_cleanup_(strbuf_deinit) struct strbuf theirs = { 0 };
	_cleanup_(xfreep) char *before = build_line(build, "content"), *now = NULL;

	if (!read_build(made, &theirs) || !lists(&theirs, "variants", variant))
		return err_new(ERR_ENV, "the link, repeated, makes no such code");
	now = build_line(&theirs, "content");
	if (!before || !now || strcmp(before, now) != 0)
		return err_new(ERR_ENV, "its objects or sources have changed since it was linked");
	return NULL;
}

/* Link into `dir`, which lies beside the program, and put the result where it belongs. */
static struct err *make_in(const struct strbuf *build, const char *variant, const char *dir,
			   const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	_cleanup_(xfreep) char *full = realpath(dir, NULL); /* the link starts elsewhere */
	_cleanup_(xfreep) char *made = xasprintf("%s/%s", full ? full : dir, name);
	_cleanup_(xfreep) char *log = xasprintf("%s/log", dir);
	_cleanup_(xfreep) char *command = link_command(build, variant, made);
	char *argv[] = { "sh", "-c", command, NULL };
	struct process_options o = {
		.argv = argv, .in = "/dev/null", .out = log, .err = log, .own_group = true
	};
	struct process process;
	struct err *err;

	if (!command)
		return err_new(ERR_ENV, "it does not say how it was linked");
	interrupt_catch();
	err = process_run(&o, &process);
	if (!err && process.exit_code != 0)
		err = complaint(log);
	if (!err)
		err = check_content(build, variant, made);
	if (!err && rename(made, path) != 0)
		err = err_new(ERR_ENV, "cannot write %s", path);
	return err;
}

static struct err *make(const char *program, const struct strbuf *build, const char *variant,
			const char *path)
{
	_cleanup_(xfreep) char *dir = xasprintf("%s-XXXXXX", path);
	struct err *err;

	if (!mkdtemp(dir))
		return err_new(ERR_ENV, "cannot write %s", path);
	log_note("%s has no code of its own for this mode yet: making %s", program, path);
	err = make_in(build, variant, dir, path);
	file_remove_tree(dir);
	return err;
}

/* ---- the file beside the program ---- */

static bool is_older(const char *path, const char *than)
{
	struct stat a, b;

	return stat(path, &a) != 0 || stat(than, &b) != 0 || a.st_mtim.tv_sec < b.st_mtim.tv_sec ||
	       (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec < b.st_mtim.tv_nsec);
}

static bool serves(const struct strbuf *build, const char *program, const char *variant,
		   const char *path)
{
	struct err *err = is_older(path, program) ? err_new(ERR_ENV, "older")
						  : check_content(build, variant, path);
	bool ret = !err;

	err_free(err);
	return ret;
}

/* What to type to have that code in the program itself. */
static char *link_again(const struct strbuf *build, const char *variant)
{
	_cleanup_(xfreep) char *folder = build_line(build, "folder");
	_cleanup_(xfreep) char *command = build_line(build, "command");
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };

	if (!folder || !command)
		return xasprintf("link it again with UNPLAIT_VARIANTS=%s", variant);
	strbuf_adds(&sb, "link it again: (cd ");
	strbuf_add_shell(&sb, folder);
	strbuf_addf(&sb, " && UNPLAIT_VARIANTS=%s %s)", variant, command);
	return strbuf_detach(&sb);
}

/* why: it cannot be made; NULL: it would not be the same program for its logs. */
static struct err *do_without(const char *why, const char *program, const struct strbuf *build,
			      const char *mode)
{
	_cleanup_(xfreep) char *again = link_again(build, variant_of(mode));
	_cleanup_(xfreep) char *reason =
		why ? xasprintf(", and it cannot be made: %s", why) : xstrdup("");

	if (strcmp(mode, "path") == 0)
		return err_new(ERR_ENV, "%s has no code for mode path%s. Use --mode full, or %s",
			       program, reason, again);
	log_note("%s has no code of its own for mode %s%s. Mode full's is used, which is slower. "
		 "For "
		 "code of its own, %s",
		 program, mode, reason, again);
	return NULL;
}

struct err *variant_find(const char *program, const char *mode, char **ret)
{
	_cleanup_(strbuf_deinit) struct strbuf build = { 0 };
	_cleanup_(xfreep) char *file = file_find_program(program), *path = NULL;
	const char *variant = variant_of(mode);
	struct err *err = NULL;

	*ret = NULL;
	if (!variant || !file || !read_build(file, &build) || lists(&build, "variants", variant) ||
	    never(&build, variant))
		return NULL;
	if (strcmp(variant, "order") == 0)
		return do_without(NULL, program, &build, mode);
	path = xasprintf("%s.%s", file, variant);
	if (!serves(&build, file, variant, path))
		err = make(program, &build, variant, path);
	if (err && !interrupted()) {
		struct err *other = do_without(err_message(err), program, &build, mode);

		err_free(err);
		return other;
	}
	*ret = err ? NULL : xstrdup(path);
	return err;
}

bool variant_exists(const char *program, const char *variant)
{
	_cleanup_(strbuf_deinit) struct strbuf build = { 0 };
	_cleanup_(xfreep) char *file = file_find_program(program);

	return file && read_build(file, &build) && lists(&build, "variants", variant);
}
