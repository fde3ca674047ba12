/* debug/dump.c - see dump.h.
 *
 * An ELF core has PT_LOAD segments (memory) and one PT_NOTE segment: NT_PRSTATUS for each thread
 * (the one that got the signal first), NT_SIGINFO, NT_PRPSINFO, NT_AUXV, NT_FILE. The kernel dumps the first page of
 * every mapped ELF file, whose program headers say where the module was loaded and what its
 * build-id is. */
#include "debug/dump.h"

#include "debug/undumped.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "debug/minidump.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

const uint8_t *dump_file_bytes(const struct dump *d, uint64_t at, uint64_t n)
{
	return at <= d->map.len && n <= d->map.len - at ? d->map.data + at : NULL;
}

/* ---- notes ---- */

/* 0 for what no kernel writes. */
static double seconds_of(const struct timeval *t)
{
	return t->tv_sec >= 0 && t->tv_sec < 1 << 30 && t->tv_usec >= 0 && t->tv_usec < 1000000
		       ? (double)t->tv_sec + (double)t->tv_usec / 1e6
		       : 0;
}

static void read_thread(struct dump *d, const uint8_t *p, size_t len)
{
	struct elf_prstatus status;
	struct dump_thread *t;

	if (len < sizeof(status)) {
		names_intern(&d->gaps, "the registers of a thread are cut off");
		return;
	}
	memcpy(&status, p, sizeof(status));
	/* of the first thread of a process it is the time of all */
	d->seconds = MAX(d->seconds, seconds_of(&status.pr_utime) + seconds_of(&status.pr_stime));
	t = vec_add(&d->threads);
	t->tid = (uint32_t)status.pr_pid;
	static_assert(sizeof(t->registers) == sizeof(status.pr_reg), "one layout, two names");
	memcpy(&t->registers, status.pr_reg, sizeof(t->registers));
	if (d->threads.len == 1)
		d->signal = status.pr_cursig;
}

static void read_program(struct dump *d, const uint8_t *p, size_t len)
{
	struct elf_prpsinfo info;

	if (len < sizeof(info))
		return;
	memcpy(&info, p, sizeof(info));
	memcpy(d->program, info.pr_fname, sizeof(info.pr_fname));
}

static void read_signal(struct dump *d, const uint8_t *p, size_t len)
{
	siginfo_t info;

	if (len < sizeof(info) || d->code || d->fault)
		return;
	memcpy(&info, p, sizeof(info));
	d->code = info.si_code;
	if (info.si_code > 0 && (info.si_signo == SIGSEGV || info.si_signo == SIGBUS ||
				 info.si_signo == SIGFPE || info.si_signo == SIGILL))
		d->fault = (uint64_t)(uintptr_t)info.si_addr;
}

void dump_take_auxv(struct dump *d, const uint8_t *p, size_t len)
{
	for (size_t at = 0; at + 16 <= len; at += 16) {
		uint64_t pair[2];

		memcpy(pair, p + at, sizeof(pair));
		if (pair[0] == AT_NULL)
			return;
		vec_push(&d->auxv, pair[0]);
		vec_push(&d->auxv, pair[1]);
	}
}

/* count, page size, count * (start, end, offset in pages), count strings */
static void read_files(struct dump *d, const uint8_t *p, size_t len)
{
	const char *name, *end = (const char *)p + len;
	uint64_t head[2];

	if (len < sizeof(head))
		return;
	memcpy(head, p, sizeof(head));
	if (head[0] > (len - sizeof(head)) / 24) {
		names_intern(&d->gaps, "the list of mapped files is cut off");
		return;
	}
	name = (const char *)p + sizeof(head) + 24 * head[0];
	for (uint64_t i = 0; i < head[0] && name < end; i++) {
		size_t n = strnlen(name, (size_t)(end - name));
		uint64_t range[3];

		if (name + n == end)
			break; /* a name without its end */
		memcpy(range, p + sizeof(head) + 24 * i, sizeof(range));
		vec_push(&d->files, (struct dump_file){ .start = range[0],
							.end = range[1],
							.offset = range[2] * head[1],
							.path = name });
		name += n + 1;
	}
}

/* Calls `take` for each note. Names and contents are padded to 4 bytes. */
static void each_note(struct dump *d, const uint8_t *p, size_t len,
		      void (*take)(struct dump *d, const Elf64_Nhdr *note, const uint8_t *name,
				   const uint8_t *content, void *arg),
		      void *arg)
{
	while (len >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, content;

		memcpy(&note, p, sizeof(note));
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		content = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > len - sizeof(note) || content > len - sizeof(note) - name)
			return;
		take(d, &note, p + sizeof(note), p + sizeof(note) + name, arg);
		p += sizeof(note) + name + content;
		len -= sizeof(note) + name + content;
	}
}

static void take_core_note(struct dump *d, const Elf64_Nhdr *note, const uint8_t *name,
			   const uint8_t *content, void *arg)
{
	(void)name;
	(void)arg;
	if (note->n_type == NT_PRSTATUS)
		read_thread(d, content, note->n_descsz);
	else if (note->n_type == NT_X86_XSTATE && d->threads.len) {
		vec_last(&d->threads)->extended = content;
		vec_last(&d->threads)->extended_len = note->n_descsz;
	} else if (note->n_type == NT_PRPSINFO)
		read_program(d, content, note->n_descsz);
	else if (note->n_type == NT_SIGINFO)
		read_signal(d, content, note->n_descsz);
	else if (note->n_type == NT_AUXV)
		dump_take_auxv(d, content, note->n_descsz);
	else if (note->n_type == NT_FILE)
		read_files(d, content, note->n_descsz);
}

/* ---- modules ---- */

static void take_build_id(struct dump *d, const Elf64_Nhdr *note, const uint8_t *name,
			  const uint8_t *content, void *arg)
{
	struct dump_module *m = arg;

	(void)d;
	if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4))
		build_id_hex(content, note->n_descsz, m->build_id);
}

/* The notes' headers may come before the first PT_LOAD, which tells the bias: hence two rounds. */
bool dump_elf_at(struct dump *d, uint64_t start, struct dump_module *ret)
{
	bool placed = false;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (!dump_read(d, start, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (unsigned i = 0; i < 2u * eh.e_phnum; i++) {
		uint64_t at = start + eh.e_phoff + i % eh.e_phnum * sizeof(ph);
		const uint8_t *notes;
		size_t len;

		if (!dump_read(d, at, &ph, sizeof(ph)))
			return false;
		if (ph.p_type == PT_LOAD && !placed) {
			ret->bias = start - ph.p_vaddr + ph.p_offset;
			placed = true;
		} else if (ph.p_type == PT_NOTE && placed &&
			   (notes = dump_bytes(d, ret->bias + ph.p_vaddr, &len)) &&
			   len >= ph.p_memsz) {
			each_note(d, notes, ph.p_memsz, take_build_id, ret);
		}
	}
	return placed;
}

uint64_t dump_bias_of(uint64_t low)
{
	enum { FIXED_BELOW_GB = 4 };

	return low >> 30 < FIXED_BELOW_GB ? 0 : low;
}

/* Which of the mapped files have their code in memory. */
static void find_code(struct dump *d)
{
	for (size_t i = 0; i < d->files.len; i++)
		for (size_t k = 0; k < d->segments.len; k++)
			if (d->segments.data[k].address == d->files.data[i].start)
				d->files.data[i].code |= d->segments.data[k].flags & PF_X;
}

/* A module whose headers are not dumped (coredump_filter, a cut dump), known by its code. Its file begins at the
 * address 0, as that of nearly every library and program that can be moved does, or it cannot be moved. */
static bool place_by_code(struct dump *d, struct dump_module *m)
{
	bool runs = false;

	for (size_t i = 0; i < d->files.len && !runs; i++)
		runs = d->files.data[i].code && strcmp(d->files.data[i].path, m->path) == 0;
	if (!runs)
		return false;
	m->bias = dump_bias_of(m->low);
	names_intern(&d->gaps,
		     "ELF headers were not dumped: whether the program's files are those that "
		     "ran is not known");
	return true;
}

static bool place_module(struct dump *d, struct dump_module *m)
{
	size_t len;

	return dump_bytes(d, m->low, &len) ? dump_elf_at(d, m->low, m) : place_by_code(d, m);
}

static void add_modules(struct dump *d)
{
	find_code(d);
	for (size_t i = 0; i < d->files.len; i++) {
		const struct dump_file *f = &d->files.data[i];
		struct dump_module m = { .low = f->start, .high = f->end, .path = f->path };

		if (f->offset != 0 || !place_module(d, &m))
			continue;
		for (size_t k = i + 1; k < d->files.len; k++)
			if (strcmp(d->files.data[k].path, f->path) == 0 &&
			    d->files.data[k].start >= m.high && d->files.data[k].offset != 0)
				m.high = d->files.data[k].end;
		vec_push(&d->modules, m);
	}
}

/* ---- the whole ---- */

static void add_segment(struct dump *d, const Elf64_Phdr *ph)
{
	struct dump_segment s = { .address = ph->p_vaddr,
				  .size = ph->p_memsz,
				  .there = MIN(ph->p_filesz, ph->p_memsz),
				  .at = ph->p_offset,
				  .flags = ph->p_flags };

	if (s.address + s.size < s.address)
		return;
	if (!dump_file_bytes(d, s.at, s.there)) {
		names_intern(&d->gaps, "the file is cut off: part of the memory is missing");
		s.there = s.at < d->map.len ? d->map.len - s.at : 0;
	}
	vec_push(&d->segments, s);
}

/* With 65535 segments and more the number is in the first section header. */
static uint64_t count_headers(const struct dump *d, const Elf64_Ehdr *eh)
{
	Elf64_Shdr sh;
	const uint8_t *p = dump_file_bytes(d, eh->e_shoff, sizeof(sh));

	if (eh->e_phnum != PN_XNUM || !p)
		return eh->e_phnum;
	memcpy(&sh, p, sizeof(sh));
	return sh.sh_info;
}

/* ---- compressed files ---- */

/* How files of these first bytes are unpacked to standard output. systemd-coredump writes .zst, and
 * wrote .lz4 and .xz. */
static const struct packing {
	const char *magic;
	size_t len;
	const char *program;
} packings[] = {
	{ "\x28\xb5\x2f\xfd", 4, "zstd" },
	{ "\x04\x22\x4d\x18", 4, "lz4" },
	{ "\xfd"
	  "7zXZ",
	  5, "xz" },
	{ "\x1f\x8b", 2, "gzip" },
};

/* The unpacked dump instead of the packed one. Its file is removed at once: the mapping keeps it. */
static struct err *unpack(const char *path, const char *program, struct file_map *map)
{
	char *argv[] = { (char *)program, "-dc", NULL };
	char *folder = NULL, *to;
	struct process p = { 0 };
	struct err *err = file_temp_dir(&folder);

	if (err)
		return err;
	to = xasprintf("%s/core", folder);
	err = process_run(
		&(struct process_options){
			.argv = argv, .in = path, .out = to, .err = "/dev/null" },
		&p);
	if (!err && p.exit_code != 0)
		err = err_new(ERR_ENV, "%s cannot be unpacked by %s: it is damaged", path, program);
	if (!err) {
		file_map_close(map);
		*map = (struct file_map){ 0 };
		err = file_map_open(to, map);
	}
	file_remove_tree(folder);
	free(folder);
	free(to);
	return err;
}

static struct err *unpack_if_packed(const char *path, struct file_map *map)
{
	for (size_t i = 0; i < ARRAY_SIZE(packings); i++)
		if (map->len > packings[i].len &&
		    !memcmp(map->data, packings[i].magic, packings[i].len))
			return unpack(path, packings[i].program, map);
	return NULL;
}

/* What it is instead, for the message. */
static const char *other_file(const struct file_map *map)
{
	const Elf64_Ehdr *eh = (const void *)map->data;

	if (map->len < EI_NIDENT || memcmp(map->data, ELFMAG, SELFMAG) != 0)
		return "not a core dump";
	if (eh->e_ident[EI_CLASS] != ELFCLASS64)
		return "a core dump of a 32-bit program; only x86-64 is read";
	if (map->len < sizeof(*eh) || eh->e_type != ET_CORE)
		return "an ELF file, but not a core dump";
	return eh->e_machine != EM_X86_64 ? "a core dump of another machine; only x86-64 is read"
					  : "a core dump whose headers are cut off";
}

/* coredump_filter may leave out what a program wrote, and with it the stacks. */
static void miss_stack(struct dump *d)
{
	uint64_t sp = d->threads.len ? d->threads.data[0].registers.rsp : 0;

	for (size_t i = 0; i < d->segments.len; i++)
		if (sp >= d->segments.data[i].address &&
		    sp - d->segments.data[i].address < d->segments.data[i].size &&
		    !d->segments.data[i].there)
			names_intern(&d->gaps, "the stack was not dumped (coredump_filter)");
}

static struct err *read_core(const char *path, struct dump *ret)
{
	const uint8_t *headers = NULL;
	Elf64_Ehdr eh;
	uint64_t n = 0;

	if (ret->map.len >= sizeof(eh)) {
		memcpy(&eh, ret->map.data, sizeof(eh));
		if (!memcmp(eh.e_ident, ELFMAG, SELFMAG) && eh.e_ident[EI_CLASS] == ELFCLASS64 &&
		    eh.e_type == ET_CORE && eh.e_machine == EM_X86_64 &&
		    eh.e_phentsize == sizeof(Elf64_Phdr)) {
			n = count_headers(ret, &eh);
			headers = dump_file_bytes(ret, eh.e_phoff, n * sizeof(Elf64_Phdr));
		}
	}
	if (!headers)
		return err_new(ERR_ENV, "%s is %s", path, other_file(&ret->map));
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *notes;
		Elf64_Phdr ph;

		memcpy(&ph, headers + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD)
			add_segment(ret, &ph);
		else if (ph.p_type == PT_NOTE &&
			 (notes = dump_file_bytes(ret, ph.p_offset, ph.p_filesz)))
			each_note(ret, notes, ph.p_filesz, take_core_note, NULL);
	}
	add_modules(ret);
	dump_add_undumped(ret);
	miss_stack(ret);
	return NULL;
}

struct err *dump_open(const char *path, struct dump *ret)
{
	struct err *err;

	*ret = (struct dump){ 0 };
	err = file_map_open(path, &ret->map);
	if (!err)
		err = unpack_if_packed(path, &ret->map);
	if (err)
		return err;
	return minidump_is(ret) ? minidump_read(path, ret) : read_core(path, ret);
}

void dump_close(struct dump *d)
{
	if (d->map.data)
		file_map_close(&d->map);
	vec_deinit(&d->segments);
	vec_deinit(&d->threads);
	vec_deinit(&d->files);
	vec_deinit(&d->modules);
	vec_deinit(&d->auxv);
	names_deinit(&d->gaps);
	arena_deinit(&d->strings);
	*d = (struct dump){ 0 };
}

/* The segment that has the byte at this address. */
static const struct dump_segment *segment_at(const struct dump *d, uint64_t address)
{
	for (size_t i = 0; i < d->segments.len; i++) {
		const struct dump_segment *s = &d->segments.data[i];

		if (address >= s->address && address - s->address < s->there)
			return s;
	}
	return NULL;
}

const uint8_t *dump_bytes(const struct dump *d, uint64_t address, size_t *len)
{
	const struct dump_segment *s = segment_at(d, address);

	if (!s)
		return NULL;
	*len = s->there - (address - s->address);
	return d->map.data + s->at + (address - s->address);
}

bool dump_read(const struct dump *d, uint64_t address, void *buf, size_t len)
{
	size_t there;
	const uint8_t *p = dump_bytes(d, address, &there);

	if (!p || there < len)
		return false;
	memcpy(buf, p, len);
	return true;
}

const struct dump_module *dump_module_at(const struct dump *d, uint64_t address)
{
	for (size_t i = 0; i < d->modules.len; i++)
		if (address >= d->modules.data[i].low && address < d->modules.data[i].high)
			return &d->modules.data[i];
	return NULL;
}

bool dump_identifies(const struct dump *d, uint64_t address)
{
	const struct dump_module *m = dump_module_at(d, address);

	return m && *m->build_id;
}

const struct dump_module *dump_program(const struct dump *d)
{
	uint64_t entry = dump_auxv(d, AT_ENTRY);

	if (!entry && d->mini && d->modules.len)
		return &d->modules.data[0]; /* writers of minidumps agreed on this */
	return dump_module_at(d, entry);
}

const char *dump_text(const struct dump *d, uint64_t address, size_t most)
{
	size_t there = 0;
	const uint8_t *p = dump_bytes(d, address, &there);

	return p && memchr(p, 0, MIN(there, most)) ? (const char *)p : NULL;
}

uint64_t dump_auxv(const struct dump *d, uint64_t type)
{
	for (size_t i = 0; i + 1 < d->auxv.len; i += 2)
		if (d->auxv.data[i] == type)
			return d->auxv.data[i + 1];
	return 0;
}

/* ---- how it was started ----
 *
 * The kernel leaves argc, the arguments, NULL, the environment, NULL and the auxiliary vector at the
 * beginning of the stack, and the strings behind them. We look for the vector, whose contents the
 * dump repeats, below a string that the vector itself points to. */

enum { WORDS_MOST = 1 << 16, WORD_BYTES = 1 << 17, HEAD_BYTES = 1 << 21, AUXV_WORDS = 8 };

/* Where the vector lies; 0 when it cannot be found. */
static uint64_t find_auxv(const struct dump *d)
{
	uint64_t text = dump_auxv(d, AT_EXECFN);
	const struct dump_segment *g = text ? segment_at(d, text) : NULL;
	uint64_t low, words[AUXV_WORDS];

	if (!g || d->auxv.len < AUXV_WORDS)
		return 0;
	low = MAX(g->address, text > HEAD_BYTES ? text - HEAD_BYTES : 0);
	for (uint64_t at = text & ~7ull; at >= low + sizeof(words); at -= 8) {
		if (at - g->address > g->there || g->there - (at - g->address) < sizeof(words))
			continue;
		memcpy(words, d->map.data + g->at + (at - g->address), sizeof(words));
		if (!memcmp(words, d->auxv.data, sizeof(words)))
			return at;
	}
	return 0;
}

/* The list of pointers that ends with the NULL at `end`; its first element, 0 = none. counted:
 * before it stands the number of its elements. */
static uint64_t list_start(const struct dump *d, uint64_t end, bool counted)
{
	for (uint64_t n = 0; n < WORDS_MOST; n++) {
		uint64_t word, at = end - 8 * (n + 1);

		if (!dump_read(d, at, &word, sizeof(word)))
			return 0;
		if (counted ? word == n : word == 0)
			return at + 8;
	}
	return 0;
}

static void split_list(const struct dump_list *list, struct dump_words *ret)
{
	for (size_t at = 0; at < list->len; at += strlen(list->text + at) + 1)
		vec_push(ret, list->text + at);
}

void dump_words(const struct dump *d, bool environment, struct dump_words *ret)
{
	uint64_t end, word, at;

	if (d->words[environment].text) {
		split_list(&d->words[environment], ret);
		return;
	}
	end = find_auxv(d);
	if (!end)
		return;
	end -= 8;
	at = list_start(d, end, false);
	if (at && !environment)
		at = list_start(d, at - 8, true);
	for (; at && dump_read(d, at, &word, sizeof(word)) && word; at += 8) {
		const char *text = dump_text(d, word, WORD_BYTES);

		if (!text)
			return;
		vec_push(ret, text);
	}
}
