/* cc/driver/tables.c - the object that carries the tables of a binary. */
#include "cc/driver/job.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cc/driver/command.h"
#include "cc/instrument/sites.h"

#include <string.h>

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

/* Says whether another link had the same objects. */
static void add_content(const struct link *l, struct strbuf *sb)
{
	char hash[CACHE_KEY];
	struct cache_key k;

	cache_key_init(&k, NULL);
	for (size_t i = 0; i < l->objects.len; i++)
		for (size_t j = 0; j < l->objects.data[i].blobs.len; j++)
			cache_key_add(&k, l->objects.data[i].blobs.data[j].data,
				      l->objects.data[i].blobs.data[j].len);
	cache_key_end(&k, hash);
	strbuf_addf(sb, "content %s\n", hash);
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
	if (l->program.trace_all)
		strbuf_adds(&sb, "never graph\n");
	if (!variants_has_order(l))
		strbuf_adds(&sb, "never order\n");
	add_content(l, &sb);
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

static bool any_source(const struct link *l)
{
	for (size_t i = 0; i < l->objects.len; i++)
		if (l->objects.data[i].source.len)
			return true;
	return false;
}

/* What the front end made of each object's source; of one that has nothing else, its bitcode. */
static struct err *write_source(struct link *l, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf all = { 0 };
	struct err *err = NULL;

	for (size_t i = 0; !err && i < l->objects.len; i++) {
		const struct object *o = &l->objects.data[i];

		strbuf_add(&all, o->source.data, o->source.len);
		for (size_t j = 0; !err && !o->source.len && j < o->blobs.len; j++)
			err = bitcode_pack(o->blobs.data[j].data, o->blobs.data[j].len, &all);
	}
	return err ? err : file_write(path, all.data, all.len);
}

struct err *tables_write(struct link *l)
{
	_cleanup_(xfreep) char *build = xasprintf("%s/build.txt", l->tmp);
	_cleanup_(xfreep) char *source = xasprintf("%s/tables.s", l->tmp);
	_cleanup_(xfreep) char *front = xasprintf("%s/source.zst", l->tmp);
	struct err *err = write_build(l, build);
	bool has_source = any_source(l);

	l->program.no_places = l->args->gc_sections && !l->program.absent[PLAIT_VARIANT_PLAIN];
	if (!err && has_source)
		err = write_source(l, front);
	if (!err)
		err = sites_write_assembly(&l->program, l->tmp, l->output, strbuf_str(&l->bases),
					   has_source, source);
	return err ? err : assemble(l);
}
