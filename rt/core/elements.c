/* rt/core/elements.c - see elements.h. The tables are address space until they are used. */
#include "rt/core/elements.h"

#include <string.h>

enum { SITES_MAX = 1 << 22, TABLE = 2 * ELEMENTS_MAX };

uint32_t *elements_sites;
uint32_t elements_nsites;
static struct entry {
	uint32_t element, number; /* number 0: free */
} *table;

static struct entry *find(uint32_t element)
{
	uint32_t i = element * 0x9e3779b1u >> 15;

	while (table[i % TABLE].number && table[i % TABLE].element != element)
		i++;
	return &table[i % TABLE];
}

bool elements_init(void)
{
	if (!elements_sites)
		elements_sites = rt_reserve_memory(SITES_MAX * sizeof(*elements_sites), 0);
	if (!table)
		table = rt_reserve_memory(TABLE * sizeof(*table), 0);
	return elements_sites && table;
}

bool elements_set_site(uint32_t site, uint32_t number)
{
	if (!elements_init() || site >= SITES_MAX)
		return false;
	elements_sites[site] = number;
	if (site >= elements_nsites)
		elements_nsites = site + 1;
	return true;
}

uint32_t elements_find(uint32_t element)
{
	return table ? __atomic_load_n(&find(element)->number, __ATOMIC_ACQUIRE) : 0;
}

bool elements_put(uint32_t element, uint32_t number)
{
	struct entry *e;

	if (!elements_init() || number >= ELEMENTS_MAX)
		return false;
	e = find(element);
	e->element = element;
	__atomic_store_n(&e->number, number, __ATOMIC_RELEASE);
	return true;
}

void elements_clear(void)
{
	if (elements_sites)
		memset(elements_sites, 0, elements_nsites * sizeof(*elements_sites));
	if (table)
		memset(table, 0, TABLE * sizeof(*table));
	elements_nsites = 0;
}

uint32_t elements_of_sync(const void *object)
{
	const struct plait_module_info *m = &rt_run->modules[0];

	return plait_vectors_sync_element((uint64_t)object, m->load_address, m->low, m->high);
}
