/* rt/core/pcs.c - program counters as sites, for code without a site table.
 *
 * In memory: a hash table of PLAIT_PC_SITES program counters, open addressing, filled by
 * compare-and-swap; a counter's site is PLAIT_PC_SITE_FIRST plus its slot. The hash is the distance
 * from the load address of its module, in libraries with the hash of the library's name added:
 * neighbours in the code are neighbours in the table, so that site differences in the trace stay
 * short, and numbers do not depend on where a module was loaded. So a replay, which compares
 * numbers, does not mind that some library has grown and the others have moved. On disk: `pcs` in the run folder, a list of pairs (site, counter), written by the process that
 * saw the counter first through a window that is reserved before it is mapped. */
#include "rt/core/rt.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PROBES 64
#define WINDOW (64u << 10)
#define PAIRS  (WINDOW / 16)

/* `used` lists the slots in the order in which they were filled: a new run of a fork server writes
 * down those it inherits. */
struct table {
	uint64_t pcs[PLAIT_PC_SITES];
	uint32_t used[PLAIT_PC_SITES];
	uint32_t nused;
};

static struct table *table;
static uint64_t base, program_low, program_high; /* of the executable */
static uint64_t (*window)[2];
static uint64_t file_offset;
static uint32_t npairs;
static int lock;
static bool closed = true; /* no file, or no room for more */

static int first_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	base = info->dlpi_addr;
	program_low = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t low = base + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		program_low = low < program_low ? low : program_low;
		if (low + info->dlpi_phdr[i].p_memsz > program_high)
			program_high = low + info->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

static void make_table(int sharing)
{
	long p = rt_syscall(SYS_mmap, 0, sizeof(struct table), PROT_READ | PROT_WRITE,
			    sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	dl_iterate_phdr(first_module, NULL);
	table = p < 0 && p > -4096 ? NULL : (struct table *)p;
}

/* Without a folder: a table that the fork server shares with its children, so that a program
 * counter keeps its number from run to run. */
void rt_pcs_share(void)
{
	make_table(MAP_SHARED);
}

static bool next_window(void)
{
	char path[4200];
	size_t len = strlen(rt_dir);
	long fd, p = -1;

	memcpy(path, rt_dir, len);
	memcpy(path + len, "/pcs", 5);
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			0644, 0, 0);
	if (fd < 0)
		return false;
	if (rt_buffer_reserve((int)fd, file_offset, WINDOW))
		p = rt_syscall(SYS_mmap, 0, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			       (long)file_offset);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p < 0 && p > -4096)
		return false;
	if (window)
		rt_syscall(SYS_munmap, (long)window, WINDOW, 0, 0, 0, 0);
	window = (void *)p;
	file_offset += WINDOW;
	npairs = 0;
	return true;
}

/* The counter is written last: a pair without it is not one. */
static void write_pair(uint32_t site, uint64_t pc)
{
	struct rt_thread *t = rt_self_;
	uint32_t depth = t ? t->depth : 0;

	if (closed)
		return;
	if (t)
		t->depth = depth + 1; /* a signal handler must not come here too */
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	if (!closed && (!window || npairs == PAIRS))
		closed = !next_window();
	if (!closed) {
		window[npairs][0] = site;
		__atomic_store_n(&window[npairs++][1], pc, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	if (t)
		t->depth = depth;
}

void rt_pcs_open(void)
{
	if (!table)
		make_table(MAP_PRIVATE);
	window = NULL; /* the parent's, if this is a child */
	file_offset = 0;
	npairs = 0;
	lock = 0;
	closed = !table;
	for (uint32_t i = 0; table && i < table->nused; i++)
		write_pair(PLAIT_PC_SITE_FIRST + table->used[i], table->pcs[table->used[i]]);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

static uint32_t hash_of_name(const char *path)
{
	uint32_t h = 2166136261;

	for (; *path; path++)
		h = *path == '/' ? 2166136261 : (h ^ (uint8_t)*path) * 16777619;
	return h;
}

/* The library of a counter. Takes no lock, so that a signal handler may ask too. */
static uint32_t library_slot(uint64_t pc)
{
	static __thread struct {
		uint64_t low, high, load;
		uint32_t slot;
	} last;
	struct dl_find_object o;

	if (pc < last.low || pc >= last.high) {
		if (!_dl_find_object || _dl_find_object((void *)pc, &o) != 0)
			return (uint32_t)((pc - base) >> 2);
		last.low = (uint64_t)o.dlfo_map_start;
		last.high = (uint64_t)o.dlfo_map_end;
		last.load = o.dlfo_link_map->l_addr;
		last.slot = hash_of_name(o.dlfo_link_map->l_name);
	}
	return last.slot + (uint32_t)((pc - last.load) >> 2);
}
#else
static uint32_t library_slot(uint64_t pc)
{
	return (uint32_t)((pc - base) >> 2);
}
#endif

/* Where the search for a counter begins. */
static uint32_t slot_of(uint64_t pc)
{
	return pc >= program_low && pc < program_high ? (uint32_t)((pc - base) >> 2)
						      : library_slot(pc);
}

uint32_t rt_pc_site(const void *pc)
{
	uint64_t key = (uint64_t)pc;
	uint32_t slot;

	if (!table || (rt_self_ && rt_self_->depth))
		return 0;
	slot = slot_of(key);
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (slot + i) % PLAIT_PC_SITES;
		uint64_t seen = __atomic_load_n(&table->pcs[at], __ATOMIC_RELAXED);

		if (seen == 0 && __atomic_compare_exchange_n(&table->pcs[at], &seen, key, false,
							     __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			table->used[__atomic_fetch_add(&table->nused, 1, __ATOMIC_RELAXED)] = at;
			write_pair(PLAIT_PC_SITE_FIRST + at, key);
			return PLAIT_PC_SITE_FIRST + at;
		}
		if (seen == key)
			return PLAIT_PC_SITE_FIRST + at;
	}
	return 0;
}
