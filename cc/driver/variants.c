/* cc/driver/variants.c - the whole program, analysed once and written once per variant.
 *
 * The merged module is analysed, expanded and planned; then up to five child processes, one per
 * variant, each with a copy of everything, write objects. */
#include "cc/driver/job.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cc/analyse/plan.h"
#include "cc/analyse/prepare.h"
#include "cc/driver/merge.h"
#include "cc/expand/expand.h"
#include "cc/instrument/atomics.h"
#include "cc/instrument/instrument.h"
#include "cc/instrument/sites.h"
#include "cc/instrument/variant.h"
#include "cc/times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What halves.c puts beside full.o. */
#define HOOKS_FILE "hooks.o"

const char *const variant_names[PLAIT_VARIANTS] = { "plain", "path", "full", "graph", "order" };

static bool read_all(int fd, void *p, size_t n)
{
	for (ssize_t got; n > 0; n -= (size_t)got, p = (char *)p + got)
		if ((got = read(fd, p, n)) <= 0)
			return false;
	return true;
}

static bool write_all(int fd, const void *p, size_t n)
{
	for (ssize_t put; n > 0; n -= (size_t)put, p = (const char *)p + put)
		if ((put = write(fd, p, n)) <= 0)
			return false;
	return true;
}

/* The maker of plain is started before that is decided: its module is not to be expanded. Its instructions
 * lie where ours do, since it is a child. */
static bool wait_for_decision(struct link *l, int v)
{
	struct program *p = &l->program;

	close(l->decided[1]);
	if (v == PLAIT_VARIANT_PLAIN &&
	    (!read_all(l->decided[0], p->absent, sizeof(p->absent)) ||
	     !read_all(l->decided[0], p->atomics.data, p->atomics.len * sizeof(struct atomic))))
		return false;
	if (p->absent[v])
		_exit(0);
	return true;
}

char *variants_hooks(const struct link *l)
{
	return xasprintf("%s/%s", l->tmp, HOOKS_FILE);
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
	_cleanup_(xfreep) char *hooks = variants_hooks(l);
	_cleanup_(xfreep) char *complaint = complaint_of(l, v);
	struct err *err;

	if (!wait_for_decision(l, v))
		_exit(3);
	times_begin();
	instrument(&l->program, v);
	variant_split(&l->program, v);
	err = variant_emit(&l->program, v, l->args->opt_level, l->args->gc_sections, path, hooks);
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

/* ---- which ---- */

/* $UNPLAIT_VARIANTS: all, control, or the modes that are to have code of their own from the start. */
static bool asked_for(const char *what)
{
	_cleanup_(xfreep) char *list = xasprintf(",%s,", getenv("UNPLAIT_VARIANTS") ?: "");
	_cleanup_(xfreep) char *word = xasprintf(",%s,", what);

	return strstr(list, word) != NULL;
}

bool variants_for_control(void)
{
	return asked_for("control");
}

struct err *variants_check(void)
{
	static const char *const known[] = { "", "all", "control", "path", "graph", "order" };
	_cleanup_(xfreep) char *list = xstrdup(getenv("UNPLAIT_VARIANTS") ?: "");
	char *rest = list, *word;

	while ((word = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < ARRAY_SIZE(known) && strcmp(known[i], word) != 0)
			i++;
		if (i == ARRAY_SIZE(known))
			return err_new(ERR_USAGE,
				       "UNPLAIT_VARIANTS is all, control, or a list of path, graph "
				       "and order with commas, not '%s'",
				       word);
	}
	return NULL;
}

/* A resolver runs before libplait can: its code must be plain. */
static bool wants_plain(const struct program *p)
{
	return !(variants_for_control() || p->trace_all) || LLVMGetFirstGlobalIFunc(p->module);
}

bool variants_has_order(const struct link *l)
{
	return !l->program.trace_all && !l->args->gc_sections && !l->args->sanitizes_twice;
}

/* graph and order are there for speed alone, because the full variant can do what they do, and would
 * make the link twice as long: `unplait record` makes them at the first use of their modes
 * (run/variant.c). Hunting needs full alone, and so does the check of the pruning. */
static void choose_variants(struct link *l)
{
	struct program *p = &l->program;
	bool all = asked_for("all"), control = variants_for_control();

	p->absent[PLAIT_VARIANT_GRAPH] = p->trace_all || !(all || asked_for("graph"));
	p->absent[PLAIT_VARIANT_ORDER] = !variants_has_order(l) || !(all || asked_for("order"));
	p->absent[PLAIT_VARIANT_PATH] = control || p->trace_all;
	p->absent[PLAIT_VARIANT_PLAIN] = !wants_plain(p);
}

/* ---- once for the same content ---- */

/* What the tables are made of; the variants come before them. */
static const char *const table_files[] = { "sites.bin", "elements.bin", "bitcode.zst", "unseen" };

static char *file_in(const struct link *l, const char *name)
{
	return xasprintf("%s/%s", l->tmp, name);
}

/* Everything that the objects and tables depend on. */
static void key_of(const struct link *l, char ret[CACHE_KEY])
{
	const struct program *p = &l->program;
	const struct args *a = l->args;
	struct cache_key k;

	cache_key_init(&k, &l->cache);
	cache_key_text(&k, "variants");
	cache_key_text(&k, getenv("UNPLAIT_VARIANTS"));
	cache_key_text(&k, p->folder);
	cache_key_number(&k, p->library);
	cache_key_number(&k, p->trace_all);
	cache_key_number(&k, a->gc_sections);
	cache_key_number(&k, a->sanitizes_twice);
	cache_key_number(&k, (uint64_t)a->opt_level);
	for (size_t i = 0; i < p->racing.len; i++) {
		cache_key_text(&k, p->racing.data[i].file);
		cache_key_number(&k, p->racing.data[i].line);
	}
	for (size_t i = 0; i < p->external_refs.len; i++)
		cache_key_text(&k, p->external_refs.text[i]);
	for (size_t i = 0; i < l->objects.len; i++) {
		const struct object *o = &l->objects.data[i];

		for (size_t j = 0; j < o->blobs.len; j++)
			cache_key_add(&k, o->blobs.data[j].data, o->blobs.data[j].len);
	}
	cache_key_end(&k, ret);
}

static struct err *read_unseen(struct link *l, const char *path)
{
	struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);
	char *rest = text.data, *line;

	while (!err && text.len && (line = strsep(&rest, "\n")))
		if (*line)
			names_intern(&l->program.unseen, line);
	strbuf_deinit(&text);
	return err;
}

static struct err *read_counts(struct link *l, const char *path)
{
	struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);

	if (!err && text.len < sizeof(l->program.counts))
		err = err_new(ERR_ENV, "%s is cut short", path);
	if (!err)
		memcpy(&l->program.counts, text.data, sizeof(l->program.counts));
	strbuf_deinit(&text);
	return err;
}

/* The files of an earlier link are in our folder: learn from them what that link knew. */
static struct err *adopt(struct link *l)
{
	_cleanup_(xfreep) char *sites = file_in(l, "sites.bin"), *unseen = file_in(l, "unseen");
	struct err *err = read_counts(l, sites);

	for (int v = 0; v < PLAIT_VARIANTS; v++) {
		_cleanup_(xfreep) char *object = xasprintf("%s/%s.o", l->tmp, variant_names[v]);

		l->program.absent[v] = !file_exists(object);
	}
	return err ? err : read_unseen(l, unseen);
}

static void keep(const struct link *l, const char *key)
{
	const char *names[PLAIT_VARIANTS + ARRAY_SIZE(table_files) + 1];
	_cleanup_(xfreep) char *prefix = file_in(l, "");
	_cleanup_(strbuf_deinit) struct strbuf pack = { 0 };
	char objects[PLAIT_VARIANTS][16];
	size_t n = 0;

	for (int v = 0; v < PLAIT_VARIANTS; v++) {
		snprintf(objects[v], sizeof(objects[v]), "%s.o", variant_names[v]);
		names[n++] = objects[v];
	}
	for (size_t i = 0; i < ARRAY_SIZE(table_files); i++)
		names[n++] = table_files[i];
	names[n++] = HOOKS_FILE;
	if (l->cache.dir && cache_pack(prefix, names, n, &pack))
		cache_put(&l->cache, key, &pack);
}

static struct err *write_unseen(struct link *l, const char *path)
{
	struct strbuf text = { 0 };
	struct err *err;

	for (size_t i = 0; i < l->program.unseen.len; i++)
		strbuf_addf(&text, "%s\n", l->program.unseen.text[i]);
	err = file_write(path, text.data ? text.data : "", text.len);
	strbuf_deinit(&text);
	return err;
}

static struct err *write_table_files(struct link *l)
{
	struct program *p = &l->program;
	_cleanup_(xfreep) char *sites = file_in(l, "sites.bin"), *unseen = file_in(l, "unseen");
	_cleanup_(xfreep) char *elements = file_in(l, "elements.bin");
	_cleanup_(xfreep) char *bitcode = file_in(l, "bitcode.zst");
	struct err *err = sites_write(p, sites);

	if (!err)
		err = sites_write_elements(p, elements);
	if (!err)
		err = program_write_bitcode(p, bitcode);
	return err ? err : write_unseen(l, unseen);
}

/* ---- the whole way ---- */

/* Which variants there are, and which atomics have places. A link that drops unused sections has none: the
 * table of places would keep every function alive. */
static struct err *tell_plain(struct link *l)
{
	struct program *p = &l->program;

	if (p->absent[PLAIT_VARIANT_PLAIN])
		return NULL;
	if (!l->args->gc_sections)
		atomics_decide(p);
	atomics_look_for_racing(p, l->args->racing);
	return write_all(l->decided[1], p->absent, sizeof(p->absent)) &&
			       write_all(l->decided[1], p->atomics.data,
					 p->atomics.len * sizeof(struct atomic))
		       ? NULL
		       : err_errno(errno, "cannot write to a pipe");
}

static struct err *make(struct link *l)
{
	struct program *p = &l->program;
	struct analysis analysis = { 0 };
	struct err *err;

	if (pipe(l->decided) < 0)
		return err_errno(errno, "cannot make a pipe");
	err = merge_objects(p, &l->objects);
	if (!err)
		err = prepare_program(p);
	times_note("merge", TIMES_ALL);
	if (err)
		return err;
	atomics_collect(p);
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
	if (!err)
		err = tell_plain(l);
	if (!err)
		err = write_table_files(l);
	times_note("write tables", TIMES_ALL);
	for (int v = PLAIT_VARIANT_PLAIN + 1; !err && v < PLAIT_VARIANTS; v++)
		if (!p->absent[v])
			start_variant(l, v);
	close(l->decided[0]);
	close(l->decided[1]);
	return err;
}

struct err *variants_make(struct link *l)
{
	struct program *p = &l->program;
	_cleanup_(xfreep) char *prefix = file_in(l, "");
	_cleanup_(strbuf_deinit) struct strbuf pack = { 0 };
	char key[CACHE_KEY];
	struct err *err, *other;

	objects_external_refs(&l->objects, &p->external_refs);
	key_of(l, key);
	if (cache_get(&l->cache, key, &pack) && cache_unpack(&pack, prefix))
		return adopt(l);
	err = make(l);
	other = finish_variants(l);
	if (!err)
		err = other;
	else
		err_free(other);
	if (!err)
		keep(l, key);
	return err;
}
