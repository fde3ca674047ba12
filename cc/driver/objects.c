/* cc/driver/objects.c - from a linker map to bitcode.
 *
 * The first, ordinary link leaves a map file. GNU ld mentions every input there: `LOAD file` lines
 * in command-line order, and one line per input section that ends in the file's name,
 * `path/lib.a(member.o)` for archive members. gold writes the same lines without LOAD; lld's and
 * mold's look like `... file.o:(.text)`. We
 * collect names in order of first sight; that order is link order, which matters for constructors
 * and for which of two weak definitions wins.
 *
 * Bitcode lies in the section .llvm.lto. `ld -r` glues sections of that name together, so one
 * section may hold several bitcode files; they are told apart by walking the top-level blocks
 * (LLVM bitstream: abbreviation id, block id, word count). */
#include "cc/driver/objects.h"

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "cc/driver/command.h"
#include "unplait/sites.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the map ---- */

/* "lib.a(x.o)" -> path and member; anything else is a path. */
static void append_object(struct object_list *list, const char *name)
{
	size_t n = strlen(name);
	const char *paren = NULL;
	struct object *o;

	if (name[n - 1] == ')')
		for (const char *p = name; *p; p++)
			if (*p == '(')
				paren = p;
	o = vec_add(list);
	o->offset = -1;
	if (paren) {
		o->path = xstrndup(name, (size_t)(paren - name));
		o->member = xstrndup(paren + 1, strlen(paren + 1) - 1);
	} else {
		o->path = xstrdup(name);
	}
}

static void add_object(struct object_list *list, struct names *seen, const char *name)
{
	size_t before = seen->len;

	if (*name && name[0] != '<' && names_intern(seen, name) == before)
		append_object(list, name);
}

static bool is_called(const struct object *o, const char *name)
{
	size_t n = strlen(o->path);

	if (!o->member)
		return strcmp(o->path, name) == 0;
	return strncmp(o->path, name, n) == 0 && name[n] == '(' &&
	       strncmp(o->member, name + n + 1, strlen(o->member)) == 0 &&
	       strcmp(name + n + 1 + strlen(o->member), ")") == 0;
}

/* " .llvm.lto  0x0  0xSIZE  lib.a(x.o)": there is one such line for each object with bitcode. An
 * archive may have two members called x.o; then the second line means another object. */
static void note_bitcode_size(struct object_list *list, const char *line, const char *name)
{
	const char *p = line + strspn(line, " ");
	uint64_t size;

	if (strncmp(p, ".llvm.lto ", 10) != 0)
		return;
	p = strstr(p, " 0x");
	p = p ? strstr(p + 3, " 0x") : NULL;
	size = p ? strtoull(p + 1, NULL, 16) : 0;
	for (size_t i = 0; size && i < list->len; i++)
		if (is_called(&list->data[i], name) && !list->data[i].lto_size) {
			list->data[i].lto_size = size;
			return;
		}
	if (size) {
		append_object(list, name);
		vec_last(list)->lto_size = size;
	}
}

static const char *skip_hex(const char *p)
{
	while (*p == ' ')
		p++;
	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	p += 2;
	return p + strspn(p, "0123456789abcdef");
}

/* " .text   0xADDR   0xSIZE file" or, after a long section name, "   0xADDR 0xSIZE file" */
static const char *gnu_section_line(const char *line)
{
	const char *p = line;

	if (*p != ' ')
		return NULL;
	p += strspn(p, " ");
	if (*p != '0')
		p += strcspn(p, " ");
	p = skip_hex(p);
	if (p)
		p = skip_hex(p);
	return p && *p == ' ' && p[1] ? p + 1 : NULL;
}

static void lld_line(struct object_list *list, struct names *seen, char *line)
{
	char *p = line, *end = strstr(line, ":(");

	if (!end)
		return;
	for (char *next = p; *next == ' '; next += strspn(next, "0123456789abcdefx")) {
		next += strspn(next, " ");
		p = next; /* past the columns of numbers: four with lld, three with mold */
	}
	/* "lib.a(m.o):(.text)": the last ":(" counts */
	for (char *q; (q = strstr(end + 1, ":(")) != NULL;)
		end = q;
	if (p >= end)
		return;
	*end = '\0';
	add_object(list, seen, p);
}

struct err *objects_from_map(const char *map_path, struct object_list *ret)
{
	struct strbuf text = { 0 };
	struct names seen = { 0 };
	struct err *err = file_read(map_path, &text);
	bool gnu;

	if (err)
		return err_wrap(err, "reading the linker's map");
	gnu = strstr(strbuf_str(&text), "VMA ") == NULL; /* lld's and mold's headline */
	for (char *line = text.data, *next; line && *line; line = next) {
		const char *name;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		if (!gnu) {
			lld_line(ret, &seen, line);
			continue;
		}
		name = strncmp(line, "LOAD ", 5) == 0 ? line + 5 : gnu_section_line(line);
		if (name) {
			add_object(ret, &seen, name);
			note_bitcode_size(ret, line, name);
		}
	}
	strbuf_deinit(&text);
	names_deinit(&seen);
	return NULL;
}

/* ---- the bitcode ---- */

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

#define BITCODE_MAGIC 0xdec04342u

static void add_blob(struct object *o, const uint8_t *data, size_t len)
{
	struct blob b = { xmemdup(data, len), len };

	vec_push(&o->blobs, b);
}

static struct err *split_blobs(struct object *o, const uint8_t *data, size_t len)
{
	size_t pos = 0, start = 0;
	bool open = false;

	while (pos + 4 <= len) {
		uint32_t w = word_at(data + pos);

		if (w == BITCODE_MAGIC) {
			if (open)
				add_blob(o, data + start, pos - start);
			start = pos;
			open = true;
			pos += 4;
		} else if (w == 0) { /* padding between glued sections */
			pos += 4;
		} else if ((w & 3) == 1 && pos + 8 <= len && open) { /* ENTER_SUBBLOCK */
			size_t words = word_at(data + pos + 4);

			if (words > (len - pos - 8) / 4)
				return err_new(ERR_ENV, "%s: its bitcode is cut short", o->path);
			pos += 8 + words * 4;
		} else {
			return err_new(ERR_ENV, "%s: its bitcode is damaged", o->path);
		}
	}
	if (open)
		add_blob(o, data + start, pos - start);
	o->has_bitcode = open;
	return NULL;
}

/* The undefined symbols of an object. */
static void load_undefined(struct object *o, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = elf_strptr(elf, sh->sh_link, sym.st_name);

		if (sym.st_shndx == SHN_UNDEF && name && *name)
			vec_push(&o->undefined, xstrdup(name));
	}
}

static struct err *load_elf(struct object *o, Elf *elf)
{
	size_t names;
	GElf_Ehdr header;
	Elf_Scn *scn = NULL;
	struct err *err = NULL;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_type != ET_REL ||
	    elf_getshdrstrndx(elf, &names) < 0)
		return NULL; /* a shared library, a linker script ... */
	while (!err && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr sh;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (sh.sh_type == SHT_SYMTAB)
			load_undefined(o, elf, scn, &sh);
		data = name ? elf_rawdata(scn, NULL) : NULL;
		if (!data || !data->d_size)
			continue;
		if (strcmp(name, ".llvm.lto") == 0)
			err = split_blobs(o, data->d_buf, data->d_size);
		else if (strcmp(name, PLAIT_SECTION_SOURCE) == 0)
			strbuf_add(&o->source, data->d_buf, data->d_size);
	}
	return err;
}

/* The size of its bitcode, 0 for none. */
static uint64_t bitcode_size(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (name && strcmp(name, ".llvm.lto") == 0)
			return sh.sh_size;
	}
	return 0;
}

/* All objects of one archive at a time, so that it is opened once. A member is taken once, by the
 * first object of its name that the map does not contradict. */
static struct err *load_archive(struct object_list *list, size_t first, Elf *ar)
{
	const char *path = list->data[first].path;
	Elf_Cmd cmd = ELF_C_READ_MMAP;
	struct err *err = NULL;
	Elf *elf;

	while (!err && (elf = elf_begin(-1, cmd, ar)) != NULL) {
		Elf_Arhdr *h = elf_getarhdr(elf);

		for (size_t i = first; h && h->ar_name && !err && i < list->len; i++) {
			struct object *o = &list->data[i];

			if (!o->member || o->offset >= 0 || strcmp(o->path, path) != 0 ||
			    strcmp(o->member, h->ar_name) != 0 ||
			    (o->lto_size && o->lto_size != bitcode_size(elf)))
				continue;
			o->offset = elf_getbase(elf);
			err = load_elf(o, elf);
			break;
		}
		cmd = elf_next(elf);
		elf_end(elf);
	}
	return err;
}

/* A thin archive only names its members: they are files beside it. */
static char *thin_member_path(const struct object *o)
{
	const char *slash = strrchr(o->path, '/');

	if (o->member[0] == '/' || !slash)
		return xstrdup(o->member);
	return xasprintf("%.*s%s", (int)(slash + 1 - o->path), o->path, o->member);
}

static bool is_thin_archive(const char *path)
{
	char magic[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool thin = fd >= 0 && read(fd, magic, 8) == 8 && memcmp(magic, "!<thin>\n", 8) == 0;

	if (fd >= 0)
		close(fd);
	return thin;
}

static struct err *load_file(struct object *o, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	struct err *err = elf ? load_elf(o, elf) : NULL;

	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return err;
}

struct err *objects_load(struct object_list *list)
{
	struct names done = { 0 };
	struct err *err = NULL;

	elf_version(EV_CURRENT);
	for (size_t i = 0; !err && i < list->len; i++) {
		struct object *o = &list->data[i];
		size_t before = done.len;

		if (!o->member) {
			err = load_file(o, o->path);
		} else if (is_thin_archive(o->path)) {
			_cleanup_(xfreep) char *path = thin_member_path(o);

			err = load_file(o, path);
		} else if (names_intern(&done, o->path) == before) {
			int fd = open(o->path, O_RDONLY | O_CLOEXEC);
			Elf *ar = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;

			if (ar && elf_kind(ar) == ELF_K_AR)
				err = load_archive(list, i, ar);
			elf_end(ar);
			if (fd >= 0)
				close(fd);
		}
	}
	names_deinit(&done);
	return err;
}

void objects_deinit(struct object_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		struct object *o = &list->data[i];

		for (size_t j = 0; j < o->blobs.len; j++)
			free(o->blobs.data[j].data);
		vec_deinit(&o->blobs);
		for (size_t j = 0; j < o->undefined.len; j++)
			free(o->undefined.data[j]);
		vec_deinit(&o->undefined);
		strbuf_deinit(&o->source);
		free(o->path);
		free(o->member);
	}
	vec_deinit(list);
}

void objects_external_refs(const struct object_list *list, struct names *ret)
{
	for (size_t i = 0; i < list->len; i++)
		for (size_t j = 0; !list->data[i].has_bitcode && j < list->data[i].undefined.len;
		     j++)
			names_intern(ret, list->data[i].undefined.data[j]);
}

/* ---- archives in the final link ---- */

static bool is_taken(const struct object_list *list, const char *path, const char *member,
		     int64_t offset)
{
	for (size_t i = 0; i < list->len; i++) {
		const struct object *o = &list->data[i];

		if (o->has_bitcode && o->member && strcmp(o->path, path) == 0 &&
		    strcmp(o->member, member) == 0 && (o->offset < 0 || o->offset == offset))
			return true;
	}
	return false;
}

static struct err *damaged(const char *path)
{
	return err_new(ERR_ENV, "%s: not an archive we can read", path);
}

struct err *objects_filter_archive(const struct object_list *list, const char *path,
				   const char *out, bool *empty)
{
	struct command ar = { 0 };
	_cleanup_(xfreep) char *dir = xasprintf("%s.d", out);
	_cleanup_(xfreep) char *log = xasprintf("%s.log", out);
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
	Elf *archive = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL, *elf;
	bool thin = is_thin_archive(path);
	Elf_Cmd cmd = ELF_C_READ_MMAP;
	struct err *err = NULL;
	unsigned n = 0;

	*empty = true;
	if (!archive)
		err = damaged(path);
	else
		err = file_make_dirs(dir);
	command_push(&ar, "ar");
	command_push(&ar, "qcS");
	command_push(&ar, out);
	while (!err && (elf = elf_begin(-1, cmd, archive)) != NULL) {
		Elf_Arhdr *h = elf_getarhdr(elf);

		if (h && h->ar_name && h->ar_name[0] != '/' &&
		    !is_taken(list, path, h->ar_name, elf_getbase(elf))) {
			struct object o = { .path = (char *)path, .member = h->ar_name };
			size_t len = 0;
			char *raw = thin ? NULL : elf_rawfile(elf, &len);

			*empty = false;
			if (thin) {
				_cleanup_(xfreep) char *file = thin_member_path(&o);

				command_takef(&ar, "%s", file);
			} else {
				const char *slash = strrchr(h->ar_name, '/');

				/* a folder each: member names may repeat */
				command_takef(&ar, "%s/%u", dir, n++);
				err = file_make_dirs(*vec_last(&ar.words));
				command_takef(&ar, "%s/%s", *vec_last(&ar.words),
					      slash ? slash + 1 : h->ar_name);
				ar.words.data[ar.words.len - 2] = ar.words.data[ar.words.len - 1];
				ar.words.len--;
				if (!err && raw)
					err = file_write(*vec_last(&ar.words), raw, len);
			}
		}
		cmd = elf_next(elf);
		elf_end(elf);
	}
	if (!err && !*empty)
		err = command_run(&ar, log, &status);
	if (!err && !*empty && status == 0) {
		struct command index = { 0 };

		command_push(&index, "ranlib");
		command_push(&index, out);
		err = command_run(&index, log, &status);
		command_deinit(&index);
	}
	if (!err && status != 0)
		err = err_new(ERR_ENV, "cannot write the rest of %s: is `ar` installed?", path);
	elf_end(archive);
	if (fd >= 0)
		close(fd);
	command_deinit(&ar);
	return err;
}
