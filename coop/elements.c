/* coop/elements.c - which elements a binary has, and profiles: which of them an instance records.
 *
 * In mode order the elements are the compiler's (unplait/sites.h). A binary without a table of
 * elements gets them by name: accesses to one global variable are one element, all others together
 * are "other memory". In mode block they are the basic blocks with shared accesses. Synchronisation
 * objects are found by running (vectors.h says how they are numbered). */
#include "coop/program.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "unplait/vectors.h"

#include <stdio.h>

#define OTHER_MEMORY "other memory"

static bool is_access(const struct plait_site *s)
{
	return s->kind >= PLAIT_SITE_READ && s->kind <= PLAIT_SITE_ATOMIC_RMW &&
	       (s->flags & PLAIT_SITE_POINT);
}

static uint32_t add_element(struct coop_program *p, uint32_t id, const char *name)
{
	struct coop_program_element *e = vec_add(&p->elements);

	e->id = id;
	e->name = xstrdup(name);
	return (uint32_t)p->elements.len - 1;
}

/* Two elements of one name get the second's number behind it. */
static void add_named(struct coop_program *p, struct names *names, uint32_t id, const char *name)
{
	_cleanup_(xfreep) char *other = NULL;

	if (names_find(names, name) != NAMES_NONE)
		name = other = xasprintf("%s#%u", name, id);
	names_intern(names, name);
	add_element(p, id, name);
}

static void by_table(struct coop_program *p, const struct sites *s)
{
	struct names names = { 0 };

	for (uint32_t i = 0; i < s->header.nelements; i++)
		add_named(p, &names, i, sites_string(s, s->elements[i].name));
	for (uint32_t i = 0; i < s->header.nsites; i++)
		if (s->sites[i].element < s->header.nelements)
			p->of_site[i + 1] = s->sites[i].element;
	names_deinit(&names);
}

static void by_name(struct coop_program *p, const struct sites *s)
{
	struct names names = { 0 };

	for (uint32_t i = 0; i < s->header.nsites; i++) {
		const char *name = sites_string(s, s->sites[i].object);
		uint32_t id;

		if (!is_access(&s->sites[i]))
			continue;
		id = names_intern(&names, *name ? name : OTHER_MEMORY);
		if (id == p->elements.len)
			add_element(p, id, names.text[id]);
		p->of_site[i + 1] = id;
	}
	names_deinit(&names);
}

static void by_block(struct coop_program *p, const struct sites *s)
{
	for (uint32_t i = 0; i < s->header.nsites; i++) {
		const struct plait_site *site = &s->sites[i];
		_cleanup_(xfreep) char *name = NULL;

		if (!is_access(site) || !(site->flags & PLAIT_SITE_BLOCK))
			continue;
		name = xasprintf("%s:%u:%u", sites_string(s, site->file), site->line, site->column);
		p->of_site[i + 1] = add_element(p, i + 1, name);
	}
}

struct err *coop_program_open(const char *binary, enum plait_mode mode, struct coop_program **ret)
{
	_cleanup_(xfreep) char *path = file_find_program(binary);
	struct coop_program *p;
	struct sites *s;
	struct err *err;

	if (!path)
		return err_new(ERR_ENV, "%s: no such program", binary);
	err = sites_open(path, &s);
	if (err)
		return err;
	p = xcalloc(1, sizeof(*p));
	p->path = xstrdup(path);
	p->mode = mode;
	snprintf(p->build, sizeof(p->build), "%s", s->build_id);
	p->nsites = s->header.nsites + 1;
	p->of_site = xmalloc(p->nsites * sizeof(*p->of_site));
	for (uint32_t i = 0; i < p->nsites; i++)
		p->of_site[i] = COOP_NONE;
	if (mode == PLAIT_MODE_BLOCK)
		by_block(p, s);
	else if (s->header.nelements)
		by_table(p, s);
	else
		by_name(p, s);
	for (uint32_t i = 0; i < p->nsites; i++)
		if (p->of_site[i] != COOP_NONE)
			p->elements.data[p->of_site[i]].nsites++;
	sites_close(s);
	*ret = p;
	return NULL;
}

void coop_program_close(struct coop_program *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->elements.len; i++)
		free(p->elements.data[i].name);
	vec_deinit(&p->elements);
	free(p->of_site);
	free(p->path);
	free(p);
}

uint32_t coop_program_find(const struct coop_program *p, uint32_t id)
{
	for (uint32_t i = 0; i < p->elements.len; i++)
		if (p->elements.data[i].id == id)
			return i;
	return COOP_NONE;
}

uint32_t coop_program_add_sync(struct coop_program *p, uint32_t id)
{
	uint32_t i = coop_program_find(p, id);
	_cleanup_(xfreep) char *name = NULL, *source = NULL;

	if (i != COOP_NONE)
		return i;
	name = id == PLAIT_SYNC_OTHER ? xstrdup("other synchronisation")
				      : binary_symbol_at(p->path, (uint64_t)(id & 0x3fffffff) << 2);
	if (!name)
		name = xasprintf("synchronisation@0x%x", (id & 0x3fffffff) << 2);
	if (strstr(name, ".plait")) /* the compiler's suffix of what was local to a file */
		*strstr(name, ".plait") = 0;
	source = demangle(name);
	return add_element(p, id, source ? source : name);
}

/* ---- profiles ---- */

void profile_write(const struct coop_program *p, const bool *chosen, struct strbuf *out)
{
	strbuf_addf(out, PLAIT_PROFILE_MAGIC "%s %s\n",
		    p->mode == PLAIT_MODE_BLOCK ? "block" : "order", p->build);
	for (uint32_t i = 0; i < p->elements.len; i++) {
		const struct coop_program_element *e = &p->elements.data[i];

		if (chosen && !chosen[i])
			continue;
		strbuf_addf(out, "# %s\n", e->name);
		if (!e->nsites)
			strbuf_addf(out, "sync %u\n", e->id);
		for (uint32_t s = 0; s < p->nsites; s++)
			if (p->of_site[s] == i)
				strbuf_addf(out, "site %u %u\n", s, e->id);
	}
	if (!chosen)
		strbuf_adds(out, "sync all\n");
}

struct err *profile_read(const char *path, struct coop_program *p, bool **ret)
{
	struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);
	char mode[16] = "", build[64] = "", *save = NULL, *line;
	VEC(uint32_t) found = { 0 };

	if (err)
		return err;
	line = text.data ? strtok_r(text.data, "\n", &save) : NULL;
	if (!line || sscanf(line, PLAIT_PROFILE_MAGIC "%15s %63s", mode, build) != 2) {
		strbuf_deinit(&text);
		return err_new(ERR_ENV, "%s is no profile; `unplait coop plan` makes them", path);
	}
	while ((line = strtok_r(NULL, "\n", &save))) {
		uint32_t site, id, i = COOP_NONE;

		if (sscanf(line, "site %u %u", &site, &id) == 2)
			i = coop_program_find(p, id);
		else if (sscanf(line, "sync %u", &id) == 1)
			i = coop_program_add_sync(p, id);
		if (i != COOP_NONE)
			vec_push(&found, i);
	}
	if (strcmp(build, p->build) != 0)
		err = err_new(ERR_ENV, "%s is for another build of the program; plan again", path);
	else if (strcmp(mode, p->mode == PLAIT_MODE_BLOCK ? "block" : "order") != 0)
		err = err_new(ERR_ENV, "%s is for mode %s", path, mode);
	if (!err) {
		*ret = xcalloc(p->elements.len + 1, sizeof(**ret));
		for (size_t i = 0; i < found.len; i++)
			(*ret)[found.data[i]] = true;
	}
	vec_deinit(&found);
	strbuf_deinit(&text);
	return err;
}
