/* debug/binary.c - read an ELF file: sections, build-id, symbols, and what `unplait cc` left in it
 * (site tables, bitcode). Sizes come from a file that may be damaged: each is checked before use. */
#include "debug/binary.h"

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
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define MAX_BITCODE (1ull << 31)

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

struct err *binary_open_file(const char *path, int *ret_fd)
{
	/* O_NONBLOCK: opening a pipe that nobody writes to would wait for ever */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	*ret_fd = fd;
	if (fd < 0)
		return err_errno(errno, "cannot read %s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return NULL;
	close(fd);
	*ret_fd = -1;
	return err_new(ERR_ENV, "cannot read %s: it is not a regular file", path);
}

static struct err *binary_open(const char *path, struct binary *ret)
{
	struct err *err;

	*ret = (struct binary){ .fd = -1 };
	err = binary_open_file(path, &ret->fd);
	if (err)
		return err;
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

void build_id_hex(const uint8_t *bytes, size_t len, char ret[BUILD_ID_CHARS])
{
	ret[0] = 0;
	for (size_t i = 0; i < MIN(len, (BUILD_ID_CHARS - 1) / 2u); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

/* The build-id is a note: look through the notes of all sections. */
struct err *binary_build_id(const char *path, char ret[BUILD_ID_CHARS])
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
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    memcmp((const char *)data->d_buf + name, "GNU", 4) != 0)
				continue;
			build_id_hex((const uint8_t *)data->d_buf + desc, note.n_descsz, ret);
			return NULL;
		}
	}
	return err;
}

/* The site table of a file of that build; false: it is of another by now. */
static bool sites_of(const char *path, const char *id, struct strbuf *ret)
{
	char now[BUILD_ID_CHARS];
	bool found = false;
	struct err *err = binary_build_id(path, now);

	if (!err && strcmp(now, id) == 0)
		err = binary_section(path, PLAIT_SECTION_SITES, ret, &found);
	found = found && !err;
	err_free(err);
	return found;
}

bool binary_same_sites(const char *a, const char *a_id, const char *b, const char *b_id)
{
	_cleanup_(strbuf_deinit) struct strbuf x = { 0 }, y = { 0 };

	return sites_of(a, a_id, &x) && sites_of(b, b_id, &y) && x.len == y.len &&
	       memcmp(strbuf_str(&x), strbuf_str(&y), x.len) == 0;
}

/* ---- bitcode ---- */

static struct err *damaged(const char *what, const char *why)
{
	return err_new(ERR_ENV, "%s is damaged (%s); rebuild with unplait cc", what, why);
}

/* A piece is a zstd frame that says how long its content is. `unplait cc` also puts a checksum of the
 * content at its end, which zstd compares: LLVM would abort on damaged bitcode. Returns the length of
 * the frame in *used. */
static struct err *unpack(const char *what, const char *data, size_t len, struct bitcode *ret,
			  size_t *used)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, len);
	size_t before = ret->bytes.len, n;

	*used = ZSTD_findFrameCompressedSize(data, len);
	/* the factor is far beyond what zstd makes of real bitcode */
	if (ZSTD_isError(*used) || !*used || size >= ZSTD_CONTENTSIZE_ERROR ||
	    size > MIN(MAX_BITCODE, 1000ull * *used) || before + size > MAX_BITCODE)
		return damaged(what, "no frame");
	strbuf_pad(&ret->bytes, 0, size);
	n = ZSTD_decompress(ret->bytes.data + before, size, data, *used);
	if (n != size)
		return damaged(what, ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short");
	vec_push(&ret->ends, ret->bytes.len);
	return NULL;
}

struct err *binary_bitcode(const char *path, const char *section, struct bitcode *ret)
{
	_cleanup_(xfreep) char *what = xasprintf("the %s section of %s", section, path);
	struct strbuf packed = { 0 };
	bool found;
	struct err *err = binary_section(path, section, &packed, &found);
	size_t used;

	if (!err && packed.len >= 4 && !memcmp(packed.data, "BC\xc0\xde", 4)) {
		strbuf_add(&ret->bytes, packed.data, packed.len); /* not packed at all */
		vec_push(&ret->ends, packed.len);
	} else if (!err && found && !packed.len) {
		err = damaged(what, "empty");
	} else {
		for (size_t at = 0; !err && at < packed.len; at += used)
			err = unpack(what, packed.data + at, packed.len - at, ret, &used);
	}
	strbuf_deinit(&packed);
	return err;
}

void bitcode_deinit(struct bitcode *b)
{
	strbuf_deinit(&b->bytes);
	vec_deinit(&b->ends);
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
