/* rt/pcs.c - program counters as sites, for code without a site table.
 *
 * `pcs` in the run folder is a hash table of PLAIT_PC_SITES program counters, open addressing,
 * filled by compare-and-swap; a counter's site is PLAIT_PC_SITE_FIRST plus its slot. The hash is
 * the distance from the executable's load address: neighbours in the code are neighbours in the
 * table, so that site differences in the trace stay short, and an executable's numbers do not
 * depend on where it was loaded. */
#include "rt/rt.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PROBES 64

static uint64_t *pcs;
static uint64_t base;

static int first_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

/* Without a folder: a table that the fork server shares with its children, so that a program
 * counter keeps its number from run to run. */
void rt_pcs_share(void)
{
	long p = rt_syscall(SYS_mmap, 0, PLAIT_PC_SITES * 8, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	dl_iterate_phdr(first_module, &base);
	if (p > 0 || p < -4095)
		pcs = (uint64_t *)p;
}

void rt_pcs_open(void)
{
	char path[4200];
	size_t len = strlen(rt_dir);
	long fd, p;

	pcs = NULL;
	memcpy(path, rt_dir, len);
	memcpy(path + len, "/pcs", 5);
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_CLOEXEC, 0644, 0, 0);
	if (fd < 0)
		return;
	dl_iterate_phdr(first_module, &base);
	p = rt_syscall(SYS_ftruncate, fd, PLAIT_PC_SITES * 8, 0, 0, 0, 0);
	if (p == 0)
		p = rt_syscall(SYS_mmap, 0, PLAIT_PC_SITES * 8, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p > 0 || p < -4095)
		pcs = (uint64_t *)p;
}

uint32_t rt_pc_site(const void *pc)
{
	uint64_t *table = pcs, key = (uint64_t)pc;
	uint32_t slot = (uint32_t)((key - base) >> 2);

	if (!table)
		return 0;
	for (uint32_t i = 0; i < PROBES; i++, slot++) {
		uint64_t *entry = &table[slot % PLAIT_PC_SITES];
		uint64_t seen = __atomic_load_n(entry, __ATOMIC_RELAXED);

		if (seen == 0 && __atomic_compare_exchange_n(entry, &seen, key, false,
							     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			seen = key;
		if (seen == key)
			return PLAIT_PC_SITE_FIRST + slot % PLAIT_PC_SITES;
	}
	return 0;
}
