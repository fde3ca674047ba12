/* debug/unbound.c - see unbound.h. Sizes come from files that may be damaged: libelf checks them, and the slots' bytes
 * are looked for in the segments. */
#include "debug/unbound.h"

#include "base/err.h"
#include "base/map.h"
#include "debug/binary.h"
#include "debug/dump.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

struct slots {
	Elf *elf;
	const struct dump *dump;
	uint64_t bias;
	struct names unbound, other; /* other: bound, or the address is used in another way, too */
	unsigned bound;
};

/* What the file has at an address of its own. */
static bool read_file(const struct slots *s, uint64_t address, uint64_t *ret)
{
	size_t n, len;
	const char *bytes = elf_rawfile(s->elf, &len);
	GElf_Phdr p;

	if (!bytes || elf_getphdrnum(s->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t at;

		if (!gelf_getphdr(s->elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		at = p.p_offset + (address - p.p_vaddr);
		if (at > len || len - at < sizeof(*ret))
			return false;
		memcpy(ret, bytes + at, sizeof(*ret));
		return true;
	}
	return false;
}

static void look_at(struct slots *s, const GElf_Rela *r, const char *name)
{
	uint64_t first, now;

	if (GELF_R_TYPE(r->r_info) != R_X86_64_JUMP_SLOT) {
		names_intern(&s->other, name);
		return;
	}
	if (!read_file(s, r->r_offset, &first) ||
	    !dump_read(s->dump, s->bias + r->r_offset, &now, sizeof(now)))
		return;
	if (now == first + s->bias) {
		names_intern(&s->unbound, name);
	} else {
		s->bound++;
		names_intern(&s->other, name);
	}
}

static void look_at_section(struct slots *s, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Scn *symbols = elf_getscn(s->elf, h->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Data *names = symbols ? elf_getdata(symbols, NULL) : NULL;
	GElf_Shdr sh;
	GElf_Rela r;
	GElf_Sym sym;

	if (!data || !names || !gelf_getshdr(symbols, &sh))
		return;
	for (int i = 0; gelf_getrela(data, i, &r); i++) {
		const char *name = gelf_getsym(names, (int)GELF_R_SYM(r.r_info), &sym)
					   ? elf_strptr(s->elf, sh.sh_link, sym.st_name)
					   : NULL;

		if (name && *name)
			look_at(s, &r, name);
	}
}

/* Are all slots bound before the program runs? */
static bool binds_now(const struct slots *s)
{
	struct dump_words words = { 0 };
	Elf_Scn *scn = NULL;
	bool now = false;
	GElf_Shdr h;
	GElf_Dyn d;

	while ((scn = elf_nextscn(s->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &d); i++)
			now |= d.d_tag == DT_BIND_NOW ||
			       (d.d_tag == DT_FLAGS && d.d_un.d_val & DF_BIND_NOW) ||
			       (d.d_tag == DT_FLAGS_1 && d.d_un.d_val & DF_1_NOW);
	}
	dump_words(s->dump, true, &words);
	for (size_t i = 0; i < words.len; i++)
		now |= !strncmp(words.data[i], "LD_BIND_NOW=", 12);
	vec_deinit(&words);
	return now;
}

static void look_at_all(struct slots *s, struct names *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(s->elf, scn)))
		if (gelf_getshdr(scn, &h) && h.sh_type == SHT_RELA)
			look_at_section(s, scn, &h);
	/* at least one was called: so the slots are what we take them for */
	for (size_t i = 0; i < s->unbound.len && s->bound; i++)
		if (names_find(&s->other, s->unbound.text[i]) == NAMES_NONE)
			names_intern(ret, s->unbound.text[i]);
}

struct err *unbound_functions(const char *path, const struct dump *d, struct names *ret)
{
	const struct dump_module *program = dump_program(d);
	struct slots s = { .dump = d };
	struct err *err;
	int fd;

	if (!program)
		return NULL;
	err = binary_open_file(path, &fd);
	if (err)
		return err;
	s.bias = program->bias;
	elf_version(EV_CURRENT);
	s.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (s.elf && elf_kind(s.elf) == ELF_K_ELF && !binds_now(&s))
		look_at_all(&s, ret);
	elf_end(s.elf);
	close(fd);
	names_deinit(&s.unbound);
	names_deinit(&s.other);
	return NULL;
}
