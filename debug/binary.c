/* debug/binary.c - what unplait cc left in a binary: site tables, bitcode; and its build-id. */
#include "debug/names.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

struct binary {
	int fd;
	Elf *elf;
};

static void binary_close(struct binary *b)
{
	if (b->elf)
		elf_end(b->elf);
	if (b->fd >= 0)
		close(b->fd);
}

static struct err *binary_open(const char *path, struct binary *ret)
{
	*ret = (struct binary){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (ret->fd < 0)
		return err_errno(errno, "%s", path);
	elf_version(EV_CURRENT);
	ret->elf = elf_begin(ret->fd, ELF_C_READ_MMAP, NULL);
	if (!ret->elf || elf_kind(ret->elf) != ELF_K_ELF)
		return err_new(ERR_ENV, "%s is not a program or library", path);
	return NULL;
}

static Elf_Scn *find_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr h;
		const char *n;

		if (gelf_getshdr(scn, &h) && (n = elf_strptr(elf, strings, h.sh_name)) &&
		    strcmp(n, name) == 0)
			return scn;
	}
	return NULL;
}

struct err *binary_section(const char *path, const char *name, struct strbuf *ret, bool *found)
{
	_cleanup_(binary_close) struct binary b;
	struct err *err = binary_open(path, &b);
	Elf_Scn *scn;
	Elf_Data *data;

	*found = false;
	if (err)
		return err;
	scn = find_section(b.elf, name);
	data = scn ? elf_rawdata(scn, NULL) : NULL;
	if (data && data->d_buf) {
		*found = true;
		strbuf_add(ret, data->d_buf, data->d_size);
	}
	return NULL;
}

char *binary_symbol_at(const char *path, uint64_t address)
{
	_cleanup_(binary_close) struct binary b;
	struct err *err = binary_open(path, &b);
	Elf_Scn *scn = err ? NULL : find_section(b.elf, ".symtab");
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr h;
	GElf_Sym sym;

	err_free(err);
	if (!data || !gelf_getshdr(scn, &h))
		return NULL;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(b.elf, h.sh_link, sym.st_name);

		if ((GELF_ST_TYPE(sym.st_info) != STT_OBJECT &&
		     GELF_ST_TYPE(sym.st_info) != STT_FUNC) ||
		    !name || address < sym.st_value || address >= sym.st_value + sym.st_size)
			continue;
		return address == sym.st_value
			       ? xstrdup(name)
			       : xasprintf("%s+%llu", name,
					   (unsigned long long)(address - sym.st_value));
	}
	return NULL;
}

/* All notes of a PT_NOTE segment or of all of them: the build-id is one. */
struct err *binary_build_id(const char *path, char ret[41])
{
	_cleanup_(binary_close) struct binary b;
	struct err *err = binary_open(path, &b);
	Elf_Scn *scn = NULL;

	ret[0] = 0;
	while (!err && (scn = elf_nextscn(b.elf, scn))) {
		GElf_Shdr h;
		GElf_Nhdr note;
		size_t at = 0, name, desc;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_NOTE ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		while ((at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
			const uint8_t *id = (const uint8_t *)data->d_buf + desc;

			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    memcmp((const char *)data->d_buf + name, "GNU", 4) != 0)
				continue;
			for (size_t i = 0; i < MIN(note.n_descsz, 20); i++)
				snprintf(ret + 2 * i, 3, "%02x", id[i]);
			return NULL;
		}
	}
	return err;
}

struct err *binary_bitcode(const char *path, struct strbuf *ret)
{
	struct strbuf packed = { 0 };
	unsigned long long size;
	bool found;
	struct err *err = binary_section(path, PLAIT_SECTION_BITCODE, &packed, &found);

	if (!err && !found)
		err = err_new(ERR_ENV, "%s carries no bitcode: build it with `unplait cc`", path);
	if (!err) {
		size = ZSTD_getFrameContentSize(packed.data, packed.len);
		if (size >= ZSTD_CONTENTSIZE_ERROR || size > (1ull << 32)) {
			err = err_new(ERR_ENV, "%s: its bitcode is damaged", path);
		} else {
			strbuf_clear(ret);
			strbuf_pad(ret, 0, size);
			if (ZSTD_decompress(ret->data, size, packed.data, packed.len) != size)
				err = err_new(ERR_ENV, "%s: its bitcode is damaged", path);
		}
	}
	strbuf_deinit(&packed);
	return err;
}

/* ---- the site table ---- */

static struct err *check_table(const struct sites *s)
{
	const struct plait_sites_header *h = &s->header;
	uint64_t need = sizeof(*h) + (uint64_t)h->nsites * sizeof(struct plait_site) +
			(uint64_t)h->nelements * sizeof(struct plait_element) + h->nstrings_bytes;

	if (memcmp(h->magic, PLAIT_SITES_MAGIC, 8) != 0 || need > s->len || !h->nstrings_bytes ||
	    s->data[need - 1] != 0)
		return err_new(ERR_ENV, "%s: its table of sites is damaged", s->path);
	if (h->version != PLAIT_SITES_VERSION)
		return err_new(ERR_ENV,
			       "%s: its table of sites has version %u, this unplait reads %u; "
			       "rebuild the program",
			       s->path, h->version, PLAIT_SITES_VERSION);
	return NULL;
}

struct err *sites_open(const char *path, struct sites **ret)
{
	struct strbuf raw = { 0 };
	bool found;
	struct err *err = binary_section(path, PLAIT_SECTION_SITES, &raw, &found);
	struct sites *s;

	if (!err && !found)
		err = err_new(ERR_ENV, "%s was not built with `unplait cc`", path);
	if (!err && raw.len < sizeof(struct plait_sites_header))
		err = err_new(ERR_ENV, "%s: its table of sites is damaged", path);
	if (err) {
		strbuf_deinit(&raw);
		return err;
	}
	s = xcalloc(1, sizeof(*s));
	s->path = xstrdup(path);
	s->len = raw.len;
	s->data = strbuf_detach(&raw);
	memcpy(&s->header, s->data, sizeof(s->header));
	err = check_table(s);
	if (!err)
		err = binary_build_id(path, s->build_id);
	if (err) {
		sites_close(s);
		return err;
	}
	s->sites = (const void *)(s->data + sizeof(s->header));
	s->elements = (const void *)(s->sites + s->header.nsites);
	*ret = s;
	return NULL;
}

void sites_close(struct sites *s)
{
	if (!s)
		return;
	free(s->data);
	free(s->path);
	free(s);
}

const char *sites_string(const struct sites *s, uint32_t offset)
{
	const char *strings = (const char *)(s->elements + s->header.nelements);

	return offset < s->header.nstrings_bytes ? strings + offset : "";
}
