/* deadlock/core.c - the area inside a core dump.
 *
 * A memfd area is dumped with the default filter (the kernel counts it as shared anonymous memory),
 * so some segment of the core begins with our magic. A file area is not dumped, but the file is
 * still there: the NT_FILE note has its path. The core also has the locks themselves, and the
 * registers of each thread, which say what futex it slept on. */
#include "deadlock/deadlock.h"

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/reg.h>

struct core {
	struct file_map map;
	const Elf64_Phdr *ph;
	unsigned nph;
	struct map futex; /* tid -> address it sleeps on */
	char *area_path;
};

/* The bytes of the segment that holds `address`; NULL when they were not dumped. */
static const uint8_t *core_bytes(const struct core *c, uint64_t address, size_t *len)
{
	for (unsigned i = 0; i < c->nph; i++) {
		const Elf64_Phdr *ph = &c->ph[i];
		uint64_t into = address - ph->p_vaddr;

		if (ph->p_type != PT_LOAD || address < ph->p_vaddr || into >= ph->p_filesz ||
		    ph->p_offset > c->map.len || ph->p_filesz > c->map.len - ph->p_offset)
			continue;
		*len = ph->p_filesz - into;
		return c->map.data + ph->p_offset + into;
	}
	return NULL;
}

static bool core_read(void *context, uint64_t address, void *buf, size_t len)
{
	size_t there;
	const uint8_t *p = core_bytes(context, address, &there);

	if (!p || there < len)
		return false;
	memcpy(buf, p, len);
	return true;
}

static uint64_t core_futex(void *context, uint32_t tid)
{
	struct core *c = context;

	return map_get_or(&c->futex, tid, 0);
}

static void read_prstatus(struct core *c, const uint8_t *p, size_t len)
{
	const struct elf_prstatus *st = (const void *)p;

	if (len >= sizeof(*st) && st->pr_reg[ORIG_RAX] == 202 /* futex */)
		map_put(&c->futex, (uint64_t)st->pr_pid, st->pr_reg[RDI]);
}

/* count, page size, count * (start, end, offset), count strings */
static void read_nt_file(struct core *c, const uint8_t *p, size_t len)
{
	uint64_t head[2];
	const char *name, *end = (const char *)p + len;

	if (len < sizeof(head))
		return;
	memcpy(head, p, sizeof(head));
	if (head[0] > (len - sizeof(head)) / 24)
		return;
	name = (const char *)p + sizeof(head) + 24 * head[0];
	for (uint64_t i = 0; i < head[0] && name < end; i++) {
		size_t n = strnlen(name, (size_t)(end - name));

		if (n > 5 && name + n < end && strcmp(name + n - 5, ".area") == 0 && !c->area_path)
			c->area_path = xstrdup(name);
		name += n + 1;
	}
}

static void read_notes(struct core *c, const uint8_t *p, size_t len)
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		size_t name, desc;

		memcpy(&n, p, sizeof(n));
		name = ((size_t)n.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)n.n_descsz + 3) & ~(size_t)3;
		if (name > len - sizeof(n) || desc > len - sizeof(n) - name)
			return;
		p += sizeof(n) + name;
		if (n.n_type == NT_PRSTATUS)
			read_prstatus(c, p, n.n_descsz);
		else if (n.n_type == NT_FILE)
			read_nt_file(c, p, n.n_descsz);
		p += desc;
		len -= sizeof(n) + name + desc;
	}
}

static struct err *core_open(struct core *c, const char *path)
{
	struct err *err = file_map_open(path, &c->map);
	const Elf64_Ehdr *eh;

	if (err)
		return err;
	eh = (const void *)c->map.data;
	if (c->map.len < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_type != ET_CORE ||
	    eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phoff > c->map.len ||
	    (c->map.len - eh->e_phoff) / sizeof(Elf64_Phdr) < eh->e_phnum)
		return err_new(ERR_ENV, "%s is not an x86-64 core dump", path);
	c->ph = (const void *)(c->map.data + eh->e_phoff);
	c->nph = eh->e_phnum;
	for (unsigned i = 0; i < c->nph; i++)
		if (c->ph[i].p_type == PT_NOTE && c->ph[i].p_offset <= c->map.len &&
		    c->ph[i].p_filesz <= c->map.len - c->ph[i].p_offset)
			read_notes(c, c->map.data + c->ph[i].p_offset, c->ph[i].p_filesz);
	return NULL;
}

static const uint8_t *find_area(const struct core *c, size_t *len)
{
	for (unsigned i = 0; i < c->nph; i++) {
		const uint8_t *p;
		uint64_t magic;

		if (c->ph[i].p_type != PT_LOAD)
			continue;
		p = core_bytes(c, c->ph[i].p_vaddr, len);
		if (!p || *len < WATCH_PAGE)
			continue;
		memcpy(&magic, p, sizeof(magic));
		if (magic == WATCH_MAGIC)
			return p;
	}
	return NULL;
}

static struct err *parse(struct core *c, const char *path, struct snapshot *ret)
{
	struct memory mem = { c, core_read };
	struct file_map file = { 0 };
	size_t len = 0;
	const uint8_t *area = find_area(c, &len);
	struct err *err = NULL;

	if (!area && c->area_path) {
		err = file_map_open(c->area_path, &file);
		area = file.data;
		len = file.len;
	}
	if (err)
		return err_wrap(err, "%s: its area was a file of its own", path);
	if (!area)
		return err_new(
			ERR_ENV,
			"%s holds no area of the watch library: the program ran without it, or "
			"shared memory was left out of the dump (coredump_filter)",
			path);
	err = snapshot_parse(area, len, &mem, ret);
	if (file.data)
		file_map_close(&file);
	return err_wrap(err, "%s", path);
}

struct err *snapshot_from_core(const char *path, struct snapshot *ret)
{
	struct core c = { 0 };
	struct err *err = core_open(&c, path);

	*ret = (struct snapshot){ 0 };
	if (!err)
		err = parse(&c, path, ret);
	if (!err) {
		snapshot_refine(ret, core_futex, &c);
		snapshot_name_program(ret);
	}
	if (c.map.data)
		file_map_close(&c.map);
	map_deinit(&c.futex);
	free(c.area_path);
	return err;
}
