/* run/races.c - the data races that the runs of a hunt have seen.
 *
 * A run says which pairs of sites raced (struct plait_races). The same line can be many sites, so
 * what a person is told is the number of different pairs of lines. */
#include "run/races.h"

#include "base/err.h"
#include "base/racing.h"
#include "base/strbuf.h"
#include "debug/binary.h"
#include "run/run.h"

#include <string.h>

void race_tally_deinit(struct race_tally *t)
{
	map_deinit(&t->pairs);
}

void race_tally_add(struct race_tally *t, const struct run_result *r)
{
	for (size_t i = 0; i < r->nraces; i++) {
		uint64_t a = r->races[i].first_site, b = r->races[i].second_site;

		++*map_put(&t->pairs, a < b ? a << 32 | b : b << 32 | a, 0);
	}
}

/* The tables of the modules that have sites, by module. */
struct tables {
	const struct plait_run *process;
	struct sites *sites[PLAIT_MAX_MODULES];
};

static void tables_open(struct tables *t, const struct plait_run *process)
{
	*t = (struct tables){ .process = process };
	for (uint32_t i = 0; process && i < process->nmodules && i < PLAIT_MAX_MODULES; i++)
		if (process->modules[i].nsites)
			err_free(sites_open(process->modules[i].path, &t->sites[i]));
}

static void tables_close(struct tables *t)
{
	for (uint32_t i = 0; i < PLAIT_MAX_MODULES; i++)
		sites_close(t->sites[i]);
}

/* What the tables say of a site: file and object are "" where they do not. */
struct site_place {
	const char *file, *object;
	uint32_t line; /* 0: nothing is known */
};

static struct site_place look_up(const struct tables *t, uint32_t site)
{
	for (uint32_t i = 0; i < PLAIT_MAX_MODULES; i++) {
		const struct plait_module_info *m = t->sites[i] ? &t->process->modules[i] : NULL;
		const struct plait_site *s;
		uint32_t local = m ? site - m->first_site : 0;

		if (!m || site < m->first_site || local >= t->sites[i]->header.nsites)
			continue;
		s = &t->sites[i]->sites[local];
		return (struct site_place){ sites_string(t->sites[i], s->file),
					    sites_string(t->sites[i], s->object), s->line };
	}
	return (struct site_place){ "", "", 0 };
}

/* A number for the place of a site. */
static uint64_t place_of(const struct tables *t, uint32_t site)
{
	struct site_place p = look_up(t, site);

	return p.line ? hash_bytes(p.object, strlen(p.object),
				   hash_bytes(p.file, strlen(p.file), hash_u64(p.line)))
		      : hash_u64((uint64_t)1 << 32 | site);
}

/* Two sites in either order: a number for the pair of their places. */
static uint64_t places_key(const struct tables *t, uint64_t sites)
{
	return hash_u64(place_of(t, (uint32_t)(sites >> 32))) +
	       hash_u64(place_of(t, (uint32_t)sites));
}

uint64_t race_tally_places(const struct race_tally *t, const struct plait_run *process)
{
	struct map places = { 0 };
	struct tables tables;
	uint64_t n;

	if (!t->pairs.len)
		return 0;
	tables_open(&tables, process);
	for (size_t i = 0; i < t->pairs.len; i++)
		map_put(&places, places_key(&tables, t->pairs.entries[i].key), 0);
	n = places.len;
	map_deinit(&places);
	tables_close(&tables);
	return n;
}

static void add_place(struct strbuf *out, const struct tables *t, uint32_t site)
{
	struct site_place p = look_up(t, site);

	if (p.line)
		strbuf_addf(out, "%s:%u", p.file, p.line);
	else
		strbuf_addf(out, "site %u", site);
}

void race_tally_write(const struct race_tally *t, const struct plait_run *process, size_t most,
		      struct strbuf *out)
{
	struct map places = { 0 };
	struct tables tables;

	tables_open(&tables, process);
	for (size_t i = 0; i < t->pairs.len && places.len < most; i++) {
		uint32_t a = (uint32_t)(t->pairs.entries[i].key >> 32);
		uint32_t b = (uint32_t)t->pairs.entries[i].key;
		const char *object = look_up(&tables, a).object;
		size_t had = places.len;

		map_put(&places, places_key(&tables, t->pairs.entries[i].key), 0);
		if (places.len == had)
			continue;
		strbuf_adds(out, had ? ", " : "");
		add_place(out, &tables, a);
		strbuf_adds(out, " and ");
		add_place(out, &tables, b);
		if (object[0])
			strbuf_addf(out, " (%s)", object);
	}
	map_deinit(&places);
	tables_close(&tables);
}

void race_tally_list(const struct race_tally *t, const struct plait_run *process,
		     struct racing *ret)
{
	struct tables tables;

	tables_open(&tables, process);
	for (size_t i = 0; i < t->pairs.len * 2; i++) {
		uint64_t pair = t->pairs.entries[i / 2].key;
		struct site_place p = look_up(&tables, (uint32_t)(i % 2 ? pair : pair >> 32));

		if (p.line)
			racing_add(ret, p.file, p.line);
	}
	tables_close(&tables);
}

void race_site_write(const struct plait_run *process, uint32_t site, struct strbuf *out)
{
	struct tables tables;

	tables_open(&tables, process);
	add_place(out, &tables, site);
	tables_close(&tables);
}
