/* run/corefile.c - see corefile.h.
 *
 * The file: ELF header, program headers, one segment of notes, then the memory. Memory that nobody
 * wrote and that a file has is left out, but for the first page, which identifies the module. So is, as
 * in the kernel's dumps, what the program wants left out: AddressSanitizer's shadow has terabytes. Pages of
 * zeroes take no room on the disk. */
#include "run/corefile.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <unistd.h>

enum { PAGE = 4096, PATH_BYTES = 4096 };

struct mapping {
	uint64_t start, end, offset;
	uint32_t flags;
	char *path; /* "" = none */
	bool shared;
	bool unasked; /* nobody wants it */
};
struct mappings VEC_FIELDS(struct mapping);

/* flags: its line in smaps. MADV_DONTDUMP; or shared memory that nobody reserved: with it our runtime, when it is in
 * the process, has tables of gigabytes. */
static bool is_unasked(const struct mapping *m, const char *flags)
{
	return strstr(flags, " dd") || (m->shared && strstr(flags, " nr"));
}

static struct err *read_maps(pid_t pid, struct mappings *ret)
{
	char name[64], line[PATH_BYTES + 128];
	bool skipped = false; /* the mapping that the flags belong to */
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/smaps", pid);
	f = fopen(name, "re");
	if (!f)
		return err_errno(errno, "%s", name);
	while (fgets(line, sizeof(line), f)) {
		struct mapping m = { 0 };
		char rights[5] = "", path[PATH_BYTES + 1] = "";

		if (!strncmp(line, "VmFlags:", 8) && !skipped && ret->len)
			vec_last(ret)->unasked = is_unasked(vec_last(ret), line);
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4096[^\n]", &m.start, &m.end, rights,
			   &m.offset, path) < 4)
			continue;
		skipped = !strcmp(path, "[vsyscall]") || !strncmp(path, "[vvar", 5);
		if (skipped)
			continue;
		m.flags = (rights[0] == 'r' ? PF_R : 0) | (rights[1] == 'w' ? PF_W : 0) |
			  (rights[2] == 'x' ? PF_X : 0);
		m.shared = rights[3] == 's';
		m.path = xstrdup(path);
		vec_push(ret, m);
	}
	fclose(f);
	return NULL;
}

/* How many bytes of it are worth keeping. */
static uint64_t kept(const struct mapping *m)
{
	uint64_t size = m->end - m->start;

	if (!(m->flags & PF_R) || m->unasked)
		return 0;
	if ((m->flags & PF_W) || m->path[0] != '/')
		return size;
	return m->offset == 0 ? MIN(size, PAGE) : 0;
}

static void add_note(struct strbuf *out, uint32_t type, const void *data, size_t len)
{
	static const char zeroes[4];
	Elf64_Nhdr head = { .n_namesz = 5, .n_descsz = (uint32_t)len, .n_type = type };

	strbuf_add(out, &head, sizeof(head));
	strbuf_add(out, "CORE\0\0\0", 8);
	strbuf_add(out, data, len);
	strbuf_add(out, zeroes, (4 - len % 4) % 4);
}

static void add_threads(struct strbuf *out, const pid_t *tids, size_t n, int signal)
{
	for (size_t i = 0; i < n; i++) {
		struct elf_prstatus status = { .pr_pid = tids[i],
					       .pr_cursig = (short)(i ? 0 : signal) };
		struct user_regs_struct registers;
		siginfo_t info;

		if (ptrace(PTRACE_GETREGS, tids[i], NULL, &registers) != 0)
			continue;
		memcpy(status.pr_reg, &registers, sizeof(registers));
		add_note(out, NT_PRSTATUS, &status, sizeof(status));
		if (i == 0 && signal && ptrace(PTRACE_GETSIGINFO, tids[0], NULL, &info) == 0)
			add_note(out, NT_SIGINFO, &info, sizeof(info));
	}
}

static void add_auxv(struct strbuf *out, pid_t pid)
{
	char name[64];
	struct strbuf text = { 0 };
	struct err *err;

	snprintf(name, sizeof(name), "/proc/%d/auxv", pid);
	err = file_read(name, &text);
	if (!err)
		add_note(out, NT_AUXV, strbuf_str(&text), text.len);
	err_free(err);
	strbuf_deinit(&text);
}

static void add_files(struct strbuf *out, const struct mappings *maps)
{
	struct strbuf numbers = { 0 }, names = { 0 }, note = { 0 };
	uint64_t head[2] = { 0, PAGE };

	for (size_t i = 0; i < maps->len; i++) {
		const struct mapping *m = &maps->data[i];
		uint64_t row[3] = { m->start, m->end, m->offset / PAGE };

		if (m->path[0] != '/')
			continue;
		head[0]++;
		strbuf_add(&numbers, row, sizeof(row));
		strbuf_add(&names, m->path, strlen(m->path) + 1);
	}
	strbuf_add(&note, head, sizeof(head));
	strbuf_add(&note, strbuf_str(&numbers), numbers.len);
	strbuf_add(&note, strbuf_str(&names), names.len);
	add_note(out, NT_FILE, strbuf_str(&note), note.len);
	strbuf_deinit(&numbers);
	strbuf_deinit(&names);
	strbuf_deinit(&note);
}

/* Pages that cannot be read are zeroes: the segment must keep its length. */
static void copy_memory(int mem, const struct mapping *m, FILE *to)
{
	static const uint8_t zeroes[PAGE];
	uint8_t page[PAGE];

	for (uint64_t at = 0; at < kept(m); at += PAGE) {
		if (pread(mem, page, PAGE, (off_t)(m->start + at)) == PAGE &&
		    memcmp(page, zeroes, PAGE))
			fwrite(page, 1, PAGE, to);
		else
			fseeko(to, PAGE, SEEK_CUR);
	}
}

static void write_headers(const struct mappings *maps, size_t notes, FILE *to)
{
	uint64_t at = sizeof(Elf64_Ehdr) + (maps->len + 1) * sizeof(Elf64_Phdr);
	Elf64_Ehdr eh = { .e_type = ET_CORE,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(eh),
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = (uint16_t)(maps->len + 1) };
	Elf64_Phdr ph = { .p_type = PT_NOTE, .p_offset = at, .p_filesz = notes };

	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	fwrite(&eh, sizeof(eh), 1, to);
	fwrite(&ph, sizeof(ph), 1, to);
	at += notes;
	for (size_t i = 0; i < maps->len; i++) {
		const struct mapping *m = &maps->data[i];

		ph = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = m->flags,
				   .p_offset = at,
				   .p_vaddr = m->start,
				   .p_filesz = kept(m),
				   .p_memsz = m->end - m->start };
		at += ph.p_filesz;
		fwrite(&ph, sizeof(ph), 1, to);
	}
}

struct err *corefile_write(pid_t pid, const pid_t *tids, size_t n, int signal, const char *path)
{
	struct mappings maps = { 0 };
	struct strbuf notes = { 0 };
	struct file_out out = { 0 };
	struct err *err = read_maps(pid, &maps);
	char name[64];
	int mem;

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	mem = open(name, O_RDONLY | O_CLOEXEC);
	if (!err && mem < 0)
		err = err_errno(errno, "%s", name);
	add_threads(&notes, tids, n, signal);
	if (!err && !notes.len)
		err = err_new(ERR_ENV, "process %d was gone before its threads were dumped", pid);
	if (!err)
		err = file_out_open(path, &out);
	if (!err) {
		add_auxv(&notes, pid);
		add_files(&notes, &maps);
		write_headers(&maps, notes.len, out.stream);
		fwrite(strbuf_str(&notes), 1, notes.len, out.stream);
		for (size_t i = 0; i < maps.len; i++)
			copy_memory(mem, &maps.data[i], out.stream);
		fputc(0,
		      out.stream); /* behind pages of zeroes, or the file would end before them */
		err = file_out_commit(&out);
	}
	file_out_deinit(&out);
	if (mem >= 0)
		close(mem);
	for (size_t i = 0; i < maps.len; i++)
		free(maps.data[i].path);
	vec_deinit(&maps);
	strbuf_deinit(&notes);
	return err;
}
