/* cc/driver/link.c - a link, taken over.
 *
 *	1. an ordinary link of the objects' native code, with a map: errors are the user's own, and
 *	   the map says which archive members were used;
 *	2. the bitcode of exactly those objects, merged, analysed and instrumented, gives one object per
 *	   variant (variants.c), or a cache has them (cache.c);
 *	3. the user's link again, with those objects instead of the user's, the tables (tables.c) and
 *	   libplait.
 *
 * A link without bitcode, or one that has no room for a runtime (-nostdlib, -static, -r), stops
 * after step 1. */
#include "cc/driver/link.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cc/driver/command.h"
#include "cc/driver/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	_cleanup_(xfreep) char *hooks = variants_hooks(l);

	if (*done)
		return;
	*done = true;
	if (l->units) {
		command_push(c, "-Wl,--push-state,--whole-archive");
		command_push(c, l->units);
		command_push(c, "-Wl,--pop-state");
	}
	for (int v = 0; v < PLAIT_VARIANTS && !l->units; v++)
		if (!l->program.absent[v])
			command_takef(c, "%s/%s.o", l->tmp, variant_names[v]);
	if (file_exists(hooks))
		command_takef(c, "%s", hooks);
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
		command_push(c, "-Wl,--export-dynamic-symbol=ompt_start_tool");
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

static void forget_units(struct link *l)
{
	free(l->units);
	l->units = NULL;
	strbuf_deinit(&l->bases);
	program_forget_sites(&l->program);
}

/* Object by object, unless code for other modes is asked for, or one of the objects cannot be
 * instrumented without the others. */
static bool make_units(struct link *l)
{
	struct err *err;

	if (!variants_for_control() || l->args->shared || l->args->sanitizer)
		return false;
	err = units_make(l);
	if (!err)
		return true;
	if (getenv("UNPLAIT_TIMES"))
		fprintf(stderr, "unplait: not object by object: %s\n", err_message(err));
	err_free(err);
	forget_units(l);
	return false;
}

static struct err *take_over(struct link *l, int *status)
{
	struct program *p = &l->program;
	struct err *err = NULL;

	if (!getcwd(p->folder, sizeof(p->folder)))
		p->folder[0] = '\0';
	p->library = l->args->shared;
	p->trace_all = getenv("UNPLAIT_TRACE_ALL") != NULL;
	if (l->args->racing && (variants_for_control() || l->args->gc_sections))
		fprintf(stderr, "unplait: --unplait-racing does nothing in a link %s\n",
			l->args->gc_sections ? "that drops unused sections" : "for hunting alone");
	if (!l->args->no_cache)
		cache_open(&l->cache);
	if (!make_units(l))
		err = variants_make(l);
	if (!err)
		err = tables_write(l);
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
	err = variants_check();
	if (!err && a->racing)
		err = racing_read(&l.program.racing, a->racing, false);
	if (!err)
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
	forget_units(&l);
	cache_deinit(&l.cache);
	objects_deinit(&l.objects);
	program_deinit(&l.program);
	return err;
}
