/* suite/changed.c - which tests could a change have touched? Those whose program was built from a
 * file that differs from a revision: debug info lists the files of every unit, headers too, and git
 * lists what differs, uncommitted and new files included. Libraries that lie beside the program or
 * in its run path count as part of it. */
#include "suite/suite.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/process.h"
#include "base/strbuf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { GIT_SECONDS = 60 };

/* ---- git ---- */

static struct err *git(char *const *argv, const char *folder, struct strbuf *ret)
{
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);
	_cleanup_(xfreep) char *out = xasprintf("%s/out", dir ? dir : "");
	struct process_options o = { .argv = argv,
				     .folder = folder,
				     .in = "/dev/null",
				     .out = out,
				     .timeout = GIT_SECONDS };
	struct process p;

	if (!err)
		err = process_run(&o, &p);
	if (!err && p.exit_code != 0)
		err = err_new(ERR_ENV, "git could not tell what has changed (it says why above)");
	if (!err)
		err = file_read(out, ret);
	if (dir)
		file_remove_tree(dir);
	free(dir);
	return err;
}

static void add_files(const char *top, char *lines, struct names *ret)
{
	char *line;

	while ((line = strsep(&lines, "\n"))) {
		_cleanup_(xfreep) char *path = xasprintf("%s/%s", top, line);

		if (*line)
			names_intern(ret, path);
	}
}

/* Absolute names of all files that differ from the revision. */
static struct err *changed_files(const char *revision, struct names *ret)
{
	char *where[] = { "git", "rev-parse", "--show-toplevel", NULL };
	char *differ[] = { "git", "diff", "--name-only", (char *)revision, "--", NULL };
	char *added[] = { "git", "ls-files", "--others", "--exclude-standard", NULL };
	_cleanup_(strbuf_deinit) struct strbuf top = { 0 }, files = { 0 }, others = { 0 };
	struct err *err = git(where, NULL, &top);

	if (err)
		return err;
	while (top.len && top.data[top.len - 1] == '\n')
		top.data[--top.len] = 0;
	err = git(differ, strbuf_str(&top), &files);
	if (!err)
		err = git(added, strbuf_str(&top), &others);
	if (!err) {
		add_files(strbuf_str(&top), files.data, ret);
		add_files(strbuf_str(&top), others.data, ret);
	}
	return err;
}

/* ---- debug info ---- */

struct change {
	struct names files; /* absolute names of what differs */
	struct map seen;    /* index of a file -> some program was built from it */
};

static bool is_changed(struct change *c, const char *folder, const char *file)
{
	char real[PATH_MAX];
	_cleanup_(xfreep) char *path =
		file[0] == '/' ? xstrdup(file) : xasprintf("%s/%s", folder, file);
	uint32_t id = realpath(path, real) ? names_find(&c->files, real) : NAMES_NONE;

	if (id == NAMES_NONE)
		return false;
	map_put(&c->seen, id, 1);
	return true;
}

enum answer { UNTOUCHED, TOUCHED, UNKNOWN };

static enum answer units_touched(Dwarf *dw, struct change *c)
{
	bool any = false, touched = false;
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;

	while (dwarf_get_units(dw, cu, &cu, NULL, NULL, &unit, NULL) == 0) {
		Dwarf_Attribute a;
		const char *folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &a));
		Dwarf_Files *files;
		size_t n;

		if (dwarf_getsrcfiles(&unit, &files, &n) != 0)
			continue;
		any = true;
		for (size_t i = 0; i < n; i++) {
			const char *file = dwarf_filesrc(files, i, NULL, NULL);

			if (file && is_changed(c, folder ? folder : "", file))
				touched = true;
		}
	}
	return touched ? TOUCHED : any ? UNTOUCHED : UNKNOWN;
}

/* One library: in a folder of the run path, or beside the program. */
static void find_library(const char *program, const char *run_path, const char *name,
			 struct words *ret)
{
	const char *slash = strrchr(program, '/');
	_cleanup_(xfreep) char *origin =
		slash ? xasprintf("%.*s", (int)(slash - program), program) : xstrdup(".");
	_cleanup_(xfreep) char *folders = xasprintf("%s:%s", run_path ? run_path : "", origin);
	char *folder, *rest = folders;

	while ((folder = strsep(&rest, ":"))) {
		bool from_origin = strncmp(folder, "$ORIGIN", 7) == 0;
		char *path = xasprintf("%s%s/%s", from_origin ? origin : "",
				       from_origin ? folder + 7 : folder, name);

		if (*folder && file_exists(path)) {
			words_take(ret, path);
			return;
		}
		free(path);
	}
}

static void find_libraries(const char *program, Elf *elf, struct words *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		const char *run_path = NULL;
		GElf_Dyn d;

		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_DYNAMIC ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; gelf_getdyn(data, i, &d); i++)
			if (d.d_tag == DT_RUNPATH || d.d_tag == DT_RPATH)
				run_path = elf_strptr(elf, h.sh_link, d.d_un.d_val);
		for (int i = 0; gelf_getdyn(data, i, &d); i++)
			if (d.d_tag == DT_NEEDED)
				find_library(program, run_path,
					     elf_strptr(elf, h.sh_link, d.d_un.d_val), ret);
	}
}

static enum answer file_touched(const char *program, struct change *changed,
				struct words *libraries)
{
	enum answer answer = UNKNOWN;
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	Dwarf *dw = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);

	if (dw) {
		answer = units_touched(dw, changed);
		if (libraries)
			find_libraries(program, dwarf_getelf(dw), libraries);
		dwarf_end(dw);
	}
	if (fd >= 0)
		close(fd);
	return answer;
}

static enum answer program_touched(const char *program, struct change *changed)
{
	struct words libraries = { 0 };
	enum answer answer = file_touched(program, changed, &libraries);

	for (size_t i = 0; i < libraries.len; i++)
		if (file_touched(libraries.data[i], changed, NULL) == TOUCHED)
			answer = TOUCHED;
	words_deinit(&libraries);
	return answer;
}

/* Many tests share a program: each is looked at once. */
static bool test_touched(const struct suite_test *t, struct change *changed, struct names *programs,
			 struct map *answers)
{
	const char *program = t->command.len ? t->command.data[0] : "";
	uint32_t id = names_intern(programs, program);
	uint64_t *known = map_find(answers, id);

	if (!known) {
		known = map_put(answers, id, program_touched(program, changed));
		if (*known == UNKNOWN)
			log_warn("%s: no debug info says what it was built from, so its tests are "
				 "kept",
				 program);
	}
	return *known != UNTOUCHED;
}

/* A header of macros and constants leaves no trace in debug info: it may be in every program. */
static const char *unseen_header(const struct change *c)
{
	static const char *const endings[] = { ".h",   ".hh",  ".hpp", ".hxx", ".h++",
					       ".inc", ".ipp", ".tcc", ".def" };

	for (uint32_t i = 0; i < c->files.len; i++) {
		const char *dot = strrchr(c->files.text[i], '.');

		for (size_t k = 0; dot && k < ARRAY_SIZE(endings); k++)
			if (strcmp(dot, endings[k]) == 0 && !map_find(&c->seen, i))
				return c->files.text[i];
	}
	return NULL;
}

static void keep_touched(struct suite *s, struct change *c)
{
	struct names programs = { 0 };
	struct map answers = { 0 };
	const char *header;
	size_t kept = 0;

	for (size_t i = 0; i < s->tests.len; i++)
		test_touched(&s->tests.data[i], c, &programs, &answers);
	header = unseen_header(c);
	if (header)
		log_note("%s has changed, and no debug info says who uses it: all tests are kept",
			 header);
	for (size_t i = 0; i < s->tests.len; i++)
		if (header || test_touched(&s->tests.data[i], c, &programs, &answers))
			s->tests.data[kept++] = s->tests.data[i];
		else
			suite_test_deinit(&s->tests.data[i]);
	s->tests.len = kept;
	names_deinit(&programs);
	map_deinit(&answers);
}

struct err *suite_keep_changed(struct suite *s, const char *revision)
{
	struct change c = { 0 };
	struct err *err = changed_files(revision, &c.files);

	if (!err)
		keep_touched(s, &c);
	names_deinit(&c.files);
	map_deinit(&c.seen);
	return err;
}
