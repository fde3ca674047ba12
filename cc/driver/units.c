/* cc/driver/units.c - a link for hunting alone: each object instrumented by itself.
 *
 * Hunting needs one variant, so no stubs and no shared variables: the instrumented object is the
 * user's object with hooks, under its own names, and takes its place in the link. It depends on its
 * own bitcode alone. The cache has it by that content, so a static library is instrumented once for
 * all the tests of a build, and a link is a link.
 *
 * What is given up: the analyses see one object, and take code outside of it for code that may do
 * anything, as in a shared library. More accesses have hooks; which of them are scheduling points is
 * learned at run time, as ever.
 *
 * Sites are numbered per unit. The driver puts the tables of all units one behind the other and
 * defines, for each unit, the variable that says where its numbers begin. Bitcode stays in pieces
 * (.plait.bc has a frame per unit, in the order of the tables). */
#include "cc/driver/job.h"

#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "cc/analyse/plan.h"
#include "cc/analyse/prepare.h"
#include "cc/driver/merge.h"
#include "cc/expand/expand.h"
#include "cc/instrument/instrument.h"
#include "cc/instrument/sites.h"
#include "cc/instrument/variant.h"
#include "cc/times.h"

#include <ar.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What an entry of the cache has: why it cannot be made by itself, or the object, its tables, and as text how many functions it has
 * (`functions N`), which it defines (`defines NAME`), and what it does not look into (`unseen NAME`). */
static const char *const unit_files[] = { "err",	  "unit.o",	 "sites.bin",
					  "elements.bin", "bitcode.zst", "facts" };

/* Every function that is not local may be called from outside, with anything. The points-to analysis
 * of an object with very many of them (a test framework in a header, not optimised) would take
 * minutes; as a whole such a program takes seconds. */
enum { MOST_FUNCTIONS = 1000, NEVER = 1 /* exit status: see never */ };

struct unit {
	struct link *link;
	struct object *object; /* borrowed */
	char key[CACHE_KEY];
	char base[CACHE_KEY + 16]; /* the variable that says where its sites begin */
	char *prefix;		   /* of its files in our folder */
	struct process process;	   /* that makes it, when the cache has none */
	struct strbuf files;	   /* as cache_pack makes them */
	bool never;		   /* it cannot be made by itself, whatever the circumstances */
};
struct unit_list VEC_FIELDS(struct unit);

/* ---- one unit, in a process of its own ---- */

static struct err *write_facts(struct program *p, const char *path)
{
	struct strbuf text = { 0 };
	struct err *err;

	strbuf_addf(&text, "functions %zu\n", p->fns.len);
	for (size_t i = 0; i < p->fns.len; i++)
		if (!p->fns.data[i].was_local)
			strbuf_addf(&text, "defines %s\n", p->fns.data[i].name);
	for (size_t i = 0; i < p->unseen.len; i++)
		strbuf_addf(&text, "unseen %s\n", p->unseen.text[i]);
	err = file_write(path, text.data, text.len);
	strbuf_deinit(&text);
	return err;
}

static struct err *write_unit_tables(struct unit *u, struct program *p)
{
	_cleanup_(xfreep) char *sites = xasprintf("%ssites.bin", u->prefix);
	_cleanup_(xfreep) char *elements = xasprintf("%selements.bin", u->prefix);
	_cleanup_(xfreep) char *bitcode = xasprintf("%sbitcode.zst", u->prefix);
	_cleanup_(xfreep) char *facts = xasprintf("%sfacts", u->prefix);
	struct err *err = sites_write(p, sites);

	if (!err)
		err = sites_write_elements(p, elements);
	if (!err)
		err = program_write_bitcode(p, bitcode);
	return err ? err : write_facts(p, facts);
}

static struct err *make_unit(struct unit *u, struct program *p)
{
	struct link *l = u->link;
	struct object_list one = { u->object, 1, 1 };
	struct analysis analysis = { 0 };
	_cleanup_(xfreep) char *object = xasprintf("%sunit.o", u->prefix);
	struct err *err = merge_objects(p, &one);

	if (!err)
		err = prepare_program(p);
	if (!err && LLVMGetFirstGlobalIFunc(p->module))
		err = err_new(ERR_ENV, "a resolver runs before libplait can");
	if (!err && p->fns.len > MOST_FUNCTIONS)
		err = err_new(ERR_ENV, "%zu functions are too many", p->fns.len);
	if (err) {
		u->never = p->fns.len > 0; /* it could be read */
		return err;
	}
	analysis_run(&analysis, p);
	err = expand_program(p, &analysis);
	if (!err)
		plan_program(p, &analysis);
	analysis_deinit(&analysis);
	if (!err)
		err = write_unit_tables(u, p);
	if (err)
		return err;
	instrument(p, PLAIT_VARIANT_FULL);
	return variant_emit(p, PLAIT_VARIANT_FULL, l->args->opt_level, l->args->gc_sections, object,
			    NULL);
}

static int unit_main(void *arg)
{
	struct unit *u = arg;
	struct link *l = u->link;
	struct program p = { .unit = u->base, .trace_all = l->program.trace_all };
	_cleanup_(xfreep) char *complaint = xasprintf("%serr", u->prefix);
	struct err *err;

	times_begin();
	memcpy(p.folder, l->program.folder, sizeof(p.folder));
	for (int v = 0; v < PLAIT_VARIANTS; v++)
		p.absent[v] = v != PLAIT_VARIANT_FULL;
	err = make_unit(u, &p);
	if (!err)
		return 0;
	err_free(file_write(complaint, err_message(err), strlen(err_message(err))));
	return u->never ? NEVER : 3;
}

/* ---- all of them ---- */

static void key_of(struct unit *u)
{
	const struct link *l = u->link;
	struct cache_key k;

	cache_key_init(&k, &l->cache);
	cache_key_text(&k, "unit");
	cache_key_text(&k, l->program.folder);
	cache_key_number(&k, l->program.trace_all);
	cache_key_number(&k, l->args->gc_sections);
	cache_key_number(&k, (uint64_t)l->args->opt_level);
	for (size_t i = 0; i < u->object->blobs.len; i++)
		cache_key_add(&k, u->object->blobs.data[i].data, u->object->blobs.data[i].len);
	cache_key_end(&k, u->key);
	snprintf(u->base, sizeof(u->base), "plait_base.%s", u->key);
}

static void list_units(struct link *l, struct unit_list *ret)
{
	for (size_t i = 0; i < l->objects.len; i++) {
		struct unit *u;

		if (!l->objects.data[i].has_bitcode)
			continue;
		u = vec_add(ret);
		u->link = l;
		u->object = &l->objects.data[i];
		u->prefix = xasprintf("%s/%zu-", l->tmp, i);
		u->process.ended = true;
		key_of(u);
	}
}

/* A unit of the same content before this one: its object, tables and base serve for both. */
static const struct unit *earlier(const struct unit_list *all, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(all->data[k].key, all->data[i].key) == 0)
			return &all->data[k];
	return NULL;
}

/* Its files, or an earlier link, say that it cannot be made by itself. */
static struct err *refused(const struct unit *u)
{
	const char *why;
	size_t len;

	if (!cache_file(&u->files, "err", &why, &len))
		return NULL;
	return err_new(ERR_ENV, "%s: %.*s", u->object->path, (int)len, why);
}

static struct err *finish_unit(struct unit *u)
{
	_cleanup_(xfreep) char *complaint = xasprintf("%serr", u->prefix);
	struct strbuf said = { 0 };
	struct err *err;

	if ((u->process.exit_code == 0 || u->process.exit_code == NEVER) &&
	    cache_pack(u->prefix, unit_files, ARRAY_SIZE(unit_files), &u->files)) {
		cache_put(&u->link->cache, u->key, &u->files);
		return refused(u);
	}
	err_free(file_read(complaint, &said));
	err = err_new(ERR_ENV, "%s", said.len ? strbuf_str(&said) : "LLVM ended with a signal");
	strbuf_deinit(&said);
	return err_wrap(err, "instrumenting %s", u->object->path);
}

static size_t running(const struct unit_list *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->len; i++)
		n += !all->data[i].process.ended;
	return n;
}

/* Wait for the end of one that runs. */
static struct err *wait_for_one(struct unit_list *all)
{
	VEC(struct process) now = { 0 };
	VEC(size_t) whose = { 0 };
	size_t which = 0;
	struct err *err;

	for (size_t i = 0; i < all->len; i++)
		if (!all->data[i].process.ended) {
			vec_push(&now, all->data[i].process);
			vec_push(&whose, i);
		}
	err = process_wait(now.data, now.len, &which);
	for (size_t i = 0; i < now.len; i++)
		all->data[whose.data[i]].process = now.data[i];
	if (!err)
		err = finish_unit(&all->data[whose.data[which]]);
	vec_deinit(&now);
	vec_deinit(&whose);
	return err;
}

/* As many at a time as there are processors. */
static struct err *make_missing(struct unit_list *all)
{
	size_t most = (size_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	struct err *err = NULL;

	for (size_t i = 0; !err && i < all->len; i++) {
		struct unit *u = &all->data[i];

		if (earlier(all, i))
			continue;
		if (cache_get(&u->link->cache, u->key, &u->files)) {
			err = refused(u);
			continue;
		}
		while (!err && running(all) >= most)
			err = wait_for_one(all);
		if (!err)
			err = process_fork(unit_main, u, &u->process);
	}
	while (running(all)) {
		struct err *other = wait_for_one(all);

		if (!err)
			err = other;
		else
			err_free(other);
	}
	return err;
}

/* ---- tables of all ---- */

struct gathered {
	struct link *link;
	struct strbuf bitcode;
	uint32_t functions; /* of the units before */
	struct names defined, unseen;
};

static void add_counts(struct plait_sites_header *to, const struct plait_sites_header *h)
{
	to->accesses_total += h->accesses_total;
	to->accesses_instrumented += h->accesses_instrumented;
	to->branches_total += h->branches_total;
	to->branches_recorded += h->branches_recorded;
	to->loads_address_feeding += h->loads_address_feeding;
	to->functions += h->functions;
}

/* The number that each string of a unit has in the program, by its offset; the caller frees it. */
static uint32_t *number_strings(struct program *p, const char *strings, size_t len)
{
	uint32_t *ret = xcalloc(len + 1, sizeof(*ret));

	for (size_t at = 0; at < len; at += strlen(strings + at) + 1)
		ret[at] = (uint32_t)names_intern(&p->strings, strings + at);
	return ret;
}

/* The table of one unit, behind those before it. */
static bool add_sites(struct gathered *g, const char *data, size_t len)
{
	struct program *p = &g->link->program;
	uint32_t elements = (uint32_t)p->elements.len, *string;
	struct plait_sites_header h;
	const struct plait_site *s;
	const struct plait_element *e;

	if (len < sizeof(h))
		return false;
	memcpy(&h, data, sizeof(h));
	if (memcmp(h.magic, PLAIT_SITES_MAGIC, sizeof(h.magic)) != 0 ||
	    len != sizeof(h) + h.nsites * sizeof(*s) + h.nelements * sizeof(*e) + h.nstrings_bytes)
		return false;
	s = (const void *)(data + sizeof(h));
	e = (const void *)(s + h.nsites);
	string = number_strings(p, (const char *)(e + h.nelements), h.nstrings_bytes);
	for (uint32_t i = 0; i < h.nsites; i++) {
		struct plait_site *site = vec_add(&p->sites);

		memcpy(site, s + i, sizeof(*site));
		site->file = string[site->file];
		site->function = string[site->function];
		site->object = string[site->object];
		site->inlined_at_file = string[site->inlined_at_file];
		site->ir_function += g->functions;
		if (site->element != UINT32_MAX)
			site->element += elements;
	}
	for (uint32_t i = 0; i < h.nelements; i++) {
		struct plait_element *element = vec_add(&p->elements);

		memcpy(element, e + i, sizeof(*element));
		element->name = string[element->name];
	}
	add_counts(&p->counts, &h);
	free(string);
	return true;
}

static void add_facts(struct gathered *g, const char *data, size_t len)
{
	_cleanup_(xfreep) char *text = xstrndup(data, len);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *space = strchr(line, ' ');

		if (!space)
			continue;
		*space++ = '\0';
		if (strcmp(line, "functions") == 0)
			g->functions += (uint32_t)strtoul(space, NULL, 10);
		else
			names_intern(line[0] == 'd' ? &g->defined : &g->unseen, space);
	}
}

static struct err *gather_unit(struct gathered *g, struct unit *u)
{
	struct link *l = g->link;
	const char *data;
	size_t len;

	strbuf_addf(&l->bases, "\t.globl \"%s\"\n\t.hidden \"%s\"\n\"%s\":\n\t.long %zu\n", u->base,
		    u->base, u->base, l->program.sites.len);
	if (!cache_file(&u->files, "sites.bin", &data, &len) || !add_sites(g, data, len))
		return err_new(ERR_ENV, "the tables of %s are damaged", u->object->path);
	if (cache_file(&u->files, "facts", &data, &len))
		add_facts(g, data, len);
	if (cache_file(&u->files, "bitcode.zst", &data, &len))
		strbuf_add(&g->bitcode, data, len);
	return NULL;
}

/* One archive for the linker: a file for each of hundreds of objects takes longer than to link
 * them. It has no index, because all of it is linked. */
static struct err *write_archive(struct link *l, const struct unit_list *all)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };

	strbuf_adds(&sb, ARMAG);
	for (size_t i = 0; i < all->len; i++) {
		const struct unit *same = earlier(all, i), *u = same ? same : &all->data[i];
		const char *data;
		size_t len;

		if (!cache_file(&u->files, "unit.o", &data, &len))
			return err_new(ERR_ENV, "the object of %s is missing", u->object->path);
		strbuf_addf(&sb, "%-16s%-12d%-6d%-6d%-8d%-10zu" ARFMAG, "unit.o/", 0, 0, 0, 644,
			    len);
		strbuf_add(&sb, data, len);
		if (len % 2)
			strbuf_addc(&sb, '\n');
	}
	l->units = xasprintf("%s/units.a", l->tmp);
	return file_write(l->units, sb.data, sb.len);
}

/* What no unit defines is outside of the program. */
static void keep_unseen(struct gathered *g)
{
	for (size_t i = 0; i < g->unseen.len; i++)
		if (names_find(&g->defined, g->unseen.text[i]) == NAMES_NONE)
			names_intern(&g->link->program.unseen, g->unseen.text[i]);
}

static struct err *gather(struct link *l, struct unit_list *all)
{
	struct gathered g = { .link = l };
	_cleanup_(xfreep) char *sites = xasprintf("%s/sites.bin", l->tmp);
	_cleanup_(xfreep) char *elements = xasprintf("%s/elements.bin", l->tmp);
	_cleanup_(xfreep) char *bitcode = xasprintf("%s/bitcode.zst", l->tmp);
	struct err *err = NULL;

	names_intern(&l->program.strings, "");
	for (size_t i = 0; !err && i < all->len; i++)
		if (!earlier(all, i))
			err = gather_unit(&g, &all->data[i]);
	keep_unseen(&g);
	if (!err)
		err = sites_write(&l->program, sites);
	if (!err)
		err = sites_write_elements(&l->program, elements);
	if (!err)
		err = file_write(bitcode, g.bitcode.data, g.bitcode.len);
	strbuf_deinit(&g.bitcode);
	names_deinit(&g.defined);
	names_deinit(&g.unseen);
	return err;
}

struct err *units_make(struct link *l)
{
	struct unit_list all = { 0 };
	struct err *err;

	for (int v = 0; v < PLAIT_VARIANTS; v++)
		l->program.absent[v] = v != PLAIT_VARIANT_FULL;
	list_units(l, &all);
	err = make_missing(&all);
	if (!err)
		err = gather(l, &all);
	if (!err)
		err = write_archive(l, &all);
	for (size_t i = 0; i < all.len; i++) {
		strbuf_deinit(&all.data[i].files);
		free(all.data[i].prefix);
	}
	vec_deinit(&all);
	return err;
}
