/* cc/driver/link.c - a link, taken over.
 *
 *	1. an ordinary link of the objects' native code, with a map: errors are the user's own, and
 *	   the map says which archive members were used;
 *	2. the bitcode of exactly those objects, merged, analysed and planned;
 *	3. up to five child processes, one per variant, each with a copy of everything, write objects;
 *	4. the user's link again, with those objects instead of the user's, the tables and libplait.
 *
 * A link without bitcode, or one that has no room for a runtime (-nostdlib, -static, -r), stops
 * after step 1. */
#include "cc/driver/link.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cc/instrument/instrument.h"
#include "cc/driver/objects.h"
#include "cc/expand/expand.h"
#include "cc/analyse/plan.h"
#include "cc/analyse/prepare.h"
#include "cc/driver/merge.h"
#include "cc/driver/command.h"
#include "cc/program.h"
#include "cc/instrument/sites.h"
#include "cc/times.h"
#include "cc/instrument/variant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE_PROGRAM = 40000 }; /* accesses that may be shared */

static const char *const variant_names[] = { "plain", "path", "full", "graph", "order" };

struct link {
	struct args *args;
	const char *clang, *tmp;
	const char *output;
	struct object_list objects;
	struct program program;
	pid_t pids[PLAIT_VARIANTS]; /* who makes each variant; 0: nobody yet */
	int decided[2];		    /* a pipe: tells the maker of plain which variants there are */
	bool whole_archives;	    /* members that the ordinary link did not use, too */
};

static void push_arg(struct command *c, const struct arg *arg)
{
	for (int i = 0; i < arg->nwords; i++)
		command_push(c, arg->words[i]);
}

static struct err *ordinary_link(struct link *l, const char *output, const char *map, int *status)
{
	struct command c = { 0 };
	struct err *err;

	command_push(&c, l->clang);
	for (size_t i = 0; i < l->args->list.len; i++)
		if (l->args->list.data[i].kind != ARG_LANGUAGE)
			push_arg(&c, &l->args->list.data[i]);
	command_push(&c, "-o");
	command_push(&c, output);
	if (map)
		command_takef(&c, "-Wl,-Map=%s", map);
	err = command_run(&c, NULL, status);
	command_deinit(&c);
	return err;
}

/* ---- the objects in the final link ---- */

static const struct object *find_object(struct link *l, const char *path, bool member)
{
	for (size_t i = 0; i < l->objects.len; i++) {
		const struct object *o = &l->objects.data[i];

		if (o->has_bitcode && (o->member != NULL) == member && strcmp(o->path, path) == 0)
			return o;
	}
	return NULL;
}

/* "-lfoo" -> the archive libfoo.a that gave us bitcode, if one did. */
static const struct object *find_library(struct link *l, const struct arg *arg)
{
	const char *name = arg->nwords == 2 ? arg->words[1] : arg->words[0] + 2;
	_cleanup_(xfreep) char *file =
		name[0] == ':' ? xstrdup(name + 1) : xasprintf("lib%s.a", name);

	for (size_t i = 0; i < l->objects.len; i++) {
		const struct object *o = &l->objects.data[i];
		const char *slash = strrchr(o->path, '/');

		if (o->has_bitcode && o->member && strcmp(slash ? slash + 1 : o->path, file) == 0)
			return o;
	}
	return NULL;
}

static void push_ours(struct link *l, struct command *c, bool *done)
{
	if (*done)
		return;
	*done = true;
	for (int v = 0; v < PLAIT_VARIANTS; v++)
		if (!l->program.absent[v])
			command_takef(c, "%s/%s.o", l->tmp, variant_names[v]);
	command_takef(c, "%s/tables.o", l->tmp);
}

/* Does the link use a member that has no bitcode? */
static bool has_native_member(const struct link *l, const char *path)
{
	for (size_t i = 0; i < l->objects.len; i++) {
		const struct object *o = &l->objects.data[i];

		if (o->member && !o->has_bitcode && strcmp(o->path, path) == 0)
			return true;
	}
	return false;
}

/* What is left of an archive. Members that the ordinary link had no use for are of no use here
 * either, and to write an archive takes as long as to link with it. */
static struct err *push_archive(struct link *l, struct command *c, const char *path, unsigned n)
{
	_cleanup_(xfreep) char *copy = xasprintf("%s/rest-%u.a", l->tmp, n);
	bool empty;
	struct err *err;

	if (!l->whole_archives && !has_native_member(l, path))
		return NULL;
	err = objects_filter_archive(&l->objects, path, copy, &empty);
	if (!err && !empty)
		command_takef(c, "%s", copy);
	return err;
}

static struct err *push_runtime(struct link *l, struct command *c)
{
	const char *name = l->args->shared	? "libplait.so"
			   : l->args->sanitizer ? "libplait-sanitizer.a"
						: "libplait.a";
	const char *other = getenv("UNPLAIT_RUNTIME"); /* for tests */
	_cleanup_(xfreep) char *lib =
		other && !l->args->shared ? xstrdup(other) : file_find_part(name);
	char *slash;

	if (!lib)
		return err_new(ERR_ENV, "%s is missing from this installation of unplait", name);
	command_takef(c, "%s", lib);
	/* that one has strong names, to come before the sanitizer's; the program's own come first
	 */
	if (l->args->sanitizer && !l->args->shared)
		command_push(c, "-Wl,-z,muldefs");
	if (l->args->shared) {
		slash = strrchr(lib, '/');
		command_takef(c, "-Wl,-rpath,%.*s", (int)(slash - lib), lib);
	} else {
		command_push(c, "-Wl,--export-dynamic-symbol=plait_*");
	}
	command_push(c, "-Wl,--push-state,--as-needed,-Bdynamic,-ldl,-lpthread,--pop-state");
	return NULL;
}

static struct err *run_final_link(struct link *l, const char *log, int *status)
{
	struct command c = { 0 };
	bool done = false;
	struct err *err = NULL;

	command_push(&c, l->clang);
	for (size_t i = 0; !err && i < l->args->list.len; i++) {
		const struct arg *arg = &l->args->list.data[i];
		const struct object *o = NULL;

		if (arg->kind == ARG_LANGUAGE)
			continue;
		if (arg->kind == ARG_OBJECT && find_object(l, arg->words[0], false)) {
			push_ours(l, &c, &done);
			continue;
		}
		if (arg->kind == ARG_OBJECT)
			o = find_object(l, arg->words[0], true);
		else if (arg->kind == ARG_LIBRARY)
			o = find_library(l, arg);
		if (o) {
			push_ours(l, &c, &done);
			err = push_archive(l, &c, o->path, (unsigned)i);
		} else {
			push_arg(&c, arg);
		}
	}
	push_ours(l, &c, &done);
	if (!err)
		err = push_runtime(l, &c);
	command_push(&c, "-Qunused-arguments");
	command_push(&c, "-o");
	command_push(&c, l->output);
	if (!err)
		err = command_run(&c, log, status);
	command_deinit(&c);
	return err;
}

static struct err *final_link(struct link *l, int *status)
{
	_cleanup_(xfreep) char *log = xasprintf("%s/final.log", l->tmp);
	struct strbuf said = { 0 };
	struct err *err = run_final_link(l, log, status);

	if (!err && *status != 0) {
		l->whole_archives = true;
		err = run_final_link(l, log, status);
	}
	if (!err && *status != 0) {
		err_free(file_read(log, &said));
		err = err_new(ERR_ENV,
			      "the ordinary link went well, the instrumented one did not:\n%s",
			      strbuf_str(&said));
	}
	strbuf_deinit(&said);
	return err;
}

/* ---- the variants ---- */

/* The maker of plain is started before that is decided: its module is not to be expanded. */
static bool wait_for_decision(struct link *l, int v)
{
	struct program *p = &l->program;

	close(l->decided[1]);
	if (v == PLAIT_VARIANT_PLAIN &&
	    read(l->decided[0], p->absent, sizeof(p->absent)) != sizeof(p->absent))
		return false;
	if (p->absent[v])
		_exit(0);
	return true;
}

/* Where the maker of a variant says what went wrong. */
static char *complaint_of(const struct link *l, int v)
{
	return xasprintf("%s/%s.err", l->tmp, variant_names[v]);
}

/* In a child: change our copy of the program, write the object, leave. */
static _Noreturn void emit_variant(struct link *l, int v)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/%s.o", l->tmp, variant_names[v]);
	_cleanup_(xfreep) char *complaint = complaint_of(l, v);
	struct err *err;

	if (!wait_for_decision(l, v))
		_exit(3);
	times_begin();
	instrument(&l->program, v);
	variant_split(&l->program, v);
	err = variant_emit(&l->program, v, l->args->opt_level, l->args->gc_sections, path);
	if (err) {
		err_free(file_write(complaint, err_message(err), strlen(err_message(err))));
		_exit(3);
	}
	_exit(0);
}

static struct err *child_failed(struct link *l, int v, int st)
{
	_cleanup_(xfreep) char *complaint = complaint_of(l, v);
	struct strbuf said = { 0 };
	struct err *err;

	if (WIFEXITED(st) && WEXITSTATUS(st) == 0)
		return NULL;
	if (WIFEXITED(st)) {
		err_free(file_read(complaint, &said));
		err = err_new(ERR_ENV, "%s", strbuf_str(&said));
	} else {
		err = err_new(ERR_ENV, "LLVM ended with signal %d", WTERMSIG(st));
	}
	strbuf_deinit(&said);
	return err_wrap(err, "making the variant %s", variant_names[v]);
}

static void start_variant(struct link *l, int v)
{
	fflush(NULL);
	l->pids[v] = fork();
	if (l->pids[v] == 0)
		emit_variant(l, v);
}

static struct err *finish_variants(struct link *l)
{
	struct err *err = NULL;

	for (int v = 0; v < PLAIT_VARIANTS; v++) {
		int st = 0;
		struct err *mine = NULL;

		if (!l->pids[v])
			continue;
		if (l->pids[v] < 0)
			mine = err_new(ERR_ENV, "cannot start a process");
		else if (waitpid(l->pids[v], &st, 0) == l->pids[v])
			mine = child_failed(l, v, st);
		if (!err)
			err = mine;
		else
			err_free(mine);
	}
	return err;
}

/* ---- tables ---- */

/* How to link it again, with other variants: `unplait record` says so where one is missing. */
static void add_command(const struct link *l, struct strbuf *sb)
{
	const struct args *a = l->args;
	size_t n = strlen(a->argv[0]);

	strbuf_addf(sb, "folder %s\ncommand unplait %s", l->program.folder,
		    n > 2 && strcmp(a->argv[0] + n - 2, "++") == 0 ? "c++" : "cc");
	for (int i = 1; i < a->argc; i++) {
		strbuf_addc(sb, ' ');
		strbuf_add_shell(sb, a->argv[i]);
	}
	strbuf_addc(sb, '\n');
}

static bool has_newline(const struct args *a)
{
	for (int i = 1; i < a->argc; i++)
		if (strchr(a->argv[i], '\n'))
			return true;
	return false;
}

static struct err *write_build(struct link *l, const char *path)
{
	struct strbuf sb = { 0 };
	struct err *err;

	strbuf_addf(&sb, "output %s\nkind %s\nvariants", l->output,
		    l->args->shared ? "library" : "executable");
	for (int v = 0; v < PLAIT_VARIANTS; v++)
		if (!l->program.absent[v])
			strbuf_addf(&sb, " %s", variant_names[v]);
	strbuf_addf(&sb, "\ntrace_all %d\n", l->program.trace_all);
	if (!has_newline(l->args)) /* the section has a line for each fact */
		add_command(l, &sb);
	for (size_t i = 0; i < l->program.unseen.len; i++) {
		_cleanup_(xfreep) char *name = demangle(l->program.unseen.text[i]);

		strbuf_addf(&sb, "unseen %s\n", name);
	}
	for (size_t i = 0; i < l->objects.len; i++) {
		const struct object *o = &l->objects.data[i];
		const char *dot = strrchr(o->path, '.');

		if (o->has_bitcode)
			strbuf_addf(&sb, "object %s%s%s\n", o->path, o->member ? ":" : "",
				    o->member ? o->member : "");
		else if (o->member || (dot && strcmp(dot, ".o") == 0))
			strbuf_addf(&sb, "external %s%s%s\n", o->path, o->member ? ":" : "",
				    o->member ? o->member : "");
	}
	err = file_write(path, sb.data, sb.len);
	strbuf_deinit(&sb);
	return err;
}

static struct err *assemble_by(struct link *l, const char *program, const char *option, int *status)
{
	struct command c = { 0 };
	_cleanup_(xfreep) char *log = xasprintf("%s/tables.log", l->tmp);
	struct err *err;

	command_push(&c, program);
	command_push(&c, option);
	command_takef(&c, "%s/tables.s", l->tmp);
	command_push(&c, "-o");
	command_takef(&c, "%s/tables.o", l->tmp);
	err = command_run(&c, log, status);
	command_deinit(&c);
	return err;
}

/* clang can do it, too, but takes longer to start than the assembler for all of its work. */
static struct err *assemble(struct link *l)
{
	int status = 0;
	struct err *err = assemble_by(l, "as", "--64", &status);

	if (err || status != 0) {
		err_free(err);
		err = assemble_by(l, l->clang, "-c", &status);
	}
	if (!err && status != 0)
		err = err_new(ERR_ENV, "cannot assemble the site tables");
	return err;
}

static struct err *write_tables(struct link *l)
{
	struct {
		const char *name;
		char *path;
	} files[] = { { "sites.bin", NULL },
		      { "elements.bin", NULL },
		      { "bitcode.zst", NULL },
		      { "build.txt", NULL },
		      { "tables.s", NULL } };
	struct err *err;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		files[i].path = xasprintf("%s/%s", l->tmp, files[i].name);
	err = sites_write(&l->program, files[0].path);
	if (!err)
		err = sites_write_elements(&l->program, files[1].path);
	if (!err)
		err = program_write_bitcode(&l->program, files[2].path);
	if (!err)
		err = write_build(l, files[3].path);
	if (!err)
		err = sites_write_assembly(&l->program, l->tmp, l->output, files[4].path);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		free(files[i].path);
	return err ? err : assemble(l);
}

/* graph and order are there for speed alone: the full variant can do what they do. In a large
 * program they would make the link half as long again, so they are made when asked for. The table
 * of places of order would keep every section alive, and AddressSanitizer cannot look into its
 * pieces of assembly. Hunting needs full alone. */
static bool is_control_asked(void)
{
	const char *ask = getenv("UNPLAIT_VARIANTS");

	return ask && strcmp(ask, "control") == 0;
}

/* A resolver runs before libplait can: its code must be plain. */
static bool wants_plain(const struct program *p)
{
	return !is_control_asked() || LLVMGetFirstGlobalIFunc(p->module);
}

static void choose_variants(struct link *l)
{
	struct program *p = &l->program;
	const char *ask = getenv("UNPLAIT_VARIANTS");
	bool few = ask ? strcmp(ask, "few") == 0 : p->counts.accesses_instrumented > LARGE_PROGRAM;
	bool control = is_control_asked();

	p->absent[PLAIT_VARIANT_GRAPH] = control || few || p->trace_all;
	p->absent[PLAIT_VARIANT_ORDER] =
		control || few || p->trace_all || l->args->gc_sections || l->args->sanitizes_twice;
	p->absent[PLAIT_VARIANT_PATH] = control;
	p->absent[PLAIT_VARIANT_PLAIN] = !wants_plain(p);
}

static struct err *make_variants(struct link *l)
{
	struct program *p = &l->program;
	struct analysis analysis = { 0 };
	struct err *err;

	if (pipe(l->decided) < 0)
		return err_errno(errno, "cannot make a pipe");
	p->library = l->args->shared;
	p->trace_all = getenv("UNPLAIT_TRACE_ALL") != NULL;
	objects_external_refs(&l->objects, &p->external_refs);
	err = merge_objects(p, &l->objects);
	if (!err)
		err = prepare_program(p);
	times_note("merge", TIMES_ALL);
	if (err)
		return err;
	if (wants_plain(p))
		start_variant(l, PLAIT_VARIANT_PLAIN); /* before anything changes */
	analysis_run(&analysis, p);
	times_note("analyse", TIMES_ALL);
	err = expand_program(p, &analysis);
	times_note("expand", TIMES_ALL);
	if (!err)
		plan_program(p, &analysis);
	analysis_deinit(&analysis);
	times_note("plan", TIMES_ALL);
	choose_variants(l);
	if (!err && write(l->decided[1], p->absent, sizeof(p->absent)) != sizeof(p->absent))
		err = err_errno(errno, "cannot write to a pipe");
	if (!err)
		err = write_tables(l);
	times_note("write tables", TIMES_ALL);
	for (int v = PLAIT_VARIANT_PLAIN + 1; !err && v < PLAIT_VARIANTS; v++)
		if (!p->absent[v])
			start_variant(l, v);
	close(l->decided[0]);
	close(l->decided[1]);
	return err;
}

static struct err *take_over(struct link *l, int *status)
{
	struct err *err = make_variants(l), *other = finish_variants(l);

	if (!err)
		err = other;
	else
		err_free(other);
	return err ? err : final_link(l, status);
}

static bool any_bitcode(const struct object_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->data[i].has_bitcode)
			return true;
	return false;
}

static struct err *copy_program(const char *from, const char *to)
{
	struct strbuf data = { 0 };
	struct stat st;
	struct err *err = file_read(from, &data);

	if (!err)
		err = file_write(to, data.data, data.len);
	strbuf_deinit(&data);
	if (!err && stat(from, &st) == 0)
		chmod(to, st.st_mode);
	return err;
}

/* Our part failed: say so, or keep the ordinary link when asked to. */
static struct err *fall_back(struct link *l, struct err *err, const char *plain, int *status)
{
	const char *ask = getenv("UNPLAIT_FALLBACK");

	if (!ask || strcmp(ask, "1") != 0)
		return err_wrap(err, "instrumenting %s", l->output);
	err_free(err);
	*status = 0;
	return copy_program(plain, l->output);
}

/* Can the output be written? If not, the linker is to say so itself. */
static bool has_place(const char *output)
{
	const char *slash = strrchr(output, '/');
	_cleanup_(xfreep) char *dir =
		slash ? xstrndup(output, (size_t)(slash + 1 - output)) : xstrdup(".");

	return access(output, W_OK) == 0 || access(dir, W_OK) == 0;
}

struct err *link_program(struct args *a, const char *clang, const char *tmp, int *status)
{
	struct link l = { .args = a, .clang = clang, .tmp = tmp };
	_cleanup_(xfreep) char *plain = xasprintf("%s/ordinary", tmp);
	_cleanup_(xfreep) char *map = xasprintf("%s/map", tmp);
	_cleanup_(xfreep) char *beside = NULL;
	struct err *err;

	l.output = a->output ? a->output : "a.out";
	beside = xasprintf("%s.plain", l.output);
	if (a->relocatable || a->is_static || a->no_runtime || !has_place(l.output))
		return ordinary_link(&l, l.output, NULL, status);
	err = ordinary_link(&l, plain, map, status);
	if (err || *status != 0)
		return err;
	err = objects_from_map(map, &l.objects);
	if (!err)
		err = objects_load(&l.objects);
	if (!err && a->plain_too)
		err = copy_program(plain, beside);
	if (!err && !any_bitcode(&l.objects))
		err = copy_program(plain, l.output);
	else if (!err) {
		err = take_over(&l, status);
		if (err)
			err = fall_back(&l, err, plain, status);
	}
	objects_deinit(&l.objects);
	program_deinit(&l.program);
	return err;
}
