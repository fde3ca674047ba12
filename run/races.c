/* run/races.c - the data races that the runs of a hunt have seen.
 *
 * A run says which pairs of sites raced (struct plait_races). The same line can be many sites, so
 * what a person is told is the number of different pairs of lines. */
#include "run/races.h"

#include "base/err.h"
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

/* A number for the place of a site. */
static uint64_t place_of(const struct tables *t, uint32_t site)
{
	for (uint32_t i = 0; i < PLAIT_MAX_MODULES; i++) {
		const struct plait_module_info *m = t->sites[i] ? &t->process->modules[i] : NULL;
		const struct plait_site *s;
		uint32_t local = m ? site - m->first_site : 0;
		const char *file, *object;

		if (!m || site < m->first_site || local >= t->sites[i]->header.nsites)
			continue;
		s = &t->sites[i]->sites[local];
		if (!s->line)
			break;
		file = sites_string(t->sites[i], s->file);
		object = sites_string(t->sites[i], s->object);
		return hash_bytes(object, strlen(object),
				  hash_bytes(file, strlen(file), hash_u64(s->line)));
	}
	return hash_u64((uint64_t)1 << 32 | site);
}

uint64_t race_tally_places(const struct race_tally *t, const struct plait_run *process)
{
	struct map places = { 0 };
	struct tables tables;
	uint64_t n;

	if (!t->pairs.len)
		return 0;
	tables_open(&tables, process);
	for (size_t i = 0; i < t->pairs.len; i++) {
		uint64_t a = place_of(&tables, (uint32_t)(t->pairs.entries[i].key >> 32));
		uint64_t b = place_of(&tables, (uint32_t)t->pairs.entries[i].key);

		map_put(&places, hash_u64(a) + hash_u64(b), 0); /* in either order */
	}
	n = places.len;
	map_deinit(&places);
	tables_close(&tables);
	return n;
}
