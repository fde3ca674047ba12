/* rt/core/modules.c - loaded modules, and the site numbers of instrumented ones.
 *
 * plait_run.modules lists every loaded module, so that addresses and sites can be named after the
 * run. The executable's sites are numbered from 1, because its numbers are constants in its code;
 * libraries follow in the order in which they are loaded. */
#include "rt/core/rt.h"

#include <link.h>
#include <string.h>
#include <sys/syscall.h>

static uint32_t next_site = 1;

/* Instrumented modules and their site numbers: a process that starts another trace (rt_restart)
 * notes its modules anew. */
static struct {
	const void *anchor;
	uint32_t first_site, nsites;
} registered[PLAIT_MAX_MODULES];
static uint32_t nregistered;

struct module_walk {
	uint32_t n;
	bool changed; /* something was loaded since the last walk */
};

/* How many modules were ever loaded when the table in `run` was last brought up to date. */
static struct {
	unsigned long long adds;
	uint32_t registered;
	const struct plait_run *run;
} walked;

static void find_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * note,
			  struct plait_module_info *m)
{
	const uint8_t *p = (const uint8_t *)(info->dlpi_addr + note->p_vaddr);
	const uint8_t *end = p + note->p_memsz;

	while (p + sizeof(ElfW(Nhdr)) <= end) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)p;
		const uint8_t *name = p + sizeof(*n);
		const uint8_t *desc = name + ((n->n_namesz + 3) & ~3u);

		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
			m->build_id_len = n->n_descsz < sizeof(m->build_id) ? (uint8_t)n->n_descsz
									    : sizeof(m->build_id);
			memcpy(m->build_id, desc, m->build_id_len);
			return;
		}
		p = desc + ((n->n_descsz + 3) & ~3u);
	}
}

static void module_path(const struct dl_phdr_info *info, bool first, struct plait_module_info *m)
{
	long n;

	if (first && !info->dlpi_name[0]) {
		n = rt_syscall(SYS_readlink, (long)"/proc/self/exe", (long)m->path,
			       sizeof(m->path) - 1, 0, 0, 0);
		m->path[n > 0 ? n : 0] = 0;
		return;
	}
	for (n = 0; n < (long)sizeof(m->path) - 1 && info->dlpi_name[n]; n++)
		m->path[n] = info->dlpi_name[n];
	m->path[n] = 0;
}

static void note_sites(struct plait_module_info *m)
{
	uint32_t n = __atomic_load_n(&nregistered, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < PLAIT_MAX_MODULES; i++) {
		uint64_t anchor = (uint64_t)registered[i].anchor;

		if (anchor < m->low || anchor >= m->high)
			continue;
		m->first_site = registered[i].first_site;
		m->nsites = registered[i].nsites;
	}
}

static int note_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module_walk *walk = arg;
	struct plait_module_info m = { .load_address = info->dlpi_addr, .low = UINT64_MAX };
	struct plait_module_info *known = rt_run->modules;
	uint32_t i;

	(void)size;
	if (!walk->changed && info->dlpi_adds == walked.adds && rt_run == walked.run &&
	    rt_run->nmodules && nregistered == walked.registered)
		return 1;
	if (!walk->changed) {
		walk->changed = true;
		walked.adds = info->dlpi_adds;
		walked.run = rt_run;
		walked.registered = nregistered;
	}
	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[k];

		if (ph->p_type == PT_NOTE)
			find_build_id(info, ph, &m);
		if (ph->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + ph->p_vaddr < m.low)
			m.low = info->dlpi_addr + ph->p_vaddr;
		if (info->dlpi_addr + ph->p_vaddr + ph->p_memsz > m.high)
			m.high = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
	}
	module_path(info, walk->n++ == 0, &m);
	for (i = 0; i < rt_run->nmodules; i++)
		if (known[i].low == m.low && known[i].high == m.high) {
			note_sites(&known[i]);
			return 0;
		}
	note_sites(&m);
	if (i < PLAIT_MAX_MODULES) {
		known[i] = m;
		__atomic_store_n(&rt_run->nmodules, i + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

void rt_note_modules(void)
{
	struct module_walk walk = { 0 };

	dl_iterate_phdr(note_module, &walk);
}

/* A library that was unloaded and comes back to the same place keeps its numbers. */
static uint32_t known_first_site(const struct plait_module *module, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (registered[i].anchor == module->anchor &&
		    registered[i].nsites == module->nsites)
			return registered[i].first_site;
	return 0;
}

uint32_t rt_module_new(const struct plait_module *module)
{
	uint32_t n = __atomic_load_n(&nregistered, __ATOMIC_RELAXED);
	uint32_t known = known_first_site(module, n), first;

	first = known ? known
		: module->is_library
			? __atomic_fetch_add(&next_site, module->nsites, __ATOMIC_RELAXED)
			: 1;
	if (!module->is_library)
		__atomic_store_n(&next_site, module->nsites + 1, __ATOMIC_RELAXED);
	if (module->module_base)
		*module->module_base = first - 1;
	if (rt_mode == PLAIT_MODE_OFF || known)
		return 0;
	if (n < PLAIT_MAX_MODULES) {
		registered[n].anchor = module->anchor;
		registered[n].first_site = first;
		registered[n].nsites = module->nsites;
		__atomic_store_n(&nregistered, n + 1, __ATOMIC_RELEASE);
	}
	rt_note_modules();
	return first;
}
