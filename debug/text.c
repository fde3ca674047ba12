/* debug/text.c - see text.h.
 *
 * .eh_frame_hdr has a sorted table of (first address, unwind entry); the entry says how long the
 * function is. Both compilers and linkers of the platform write it in one encoding: 32-bit, relative
 * to the table, and 32-bit, relative to the field itself. Others are not read. */
#include "debug/text.h"

#include "base/err.h"
#include "base/mem.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static void add_segment(struct text *t, const Elf64_Phdr *ph)
{
	struct text_segment s = { .address = ph->p_vaddr,
				  .size = ph->p_memsz,
				  .at = ph->p_offset,
				  .there = MIN(ph->p_filesz, ph->p_memsz),
				  .flags = ph->p_flags };

	if (s.address + s.size < s.address || s.at > t->map.len)
		return;
	s.there = MIN(s.there, t->map.len - s.at);
	vec_push(&t->segments, s);
}

static bool read_at(const struct text *t, uint64_t address, void *buf, size_t n)
{
	size_t len;
	const uint8_t *p = text_bytes(t, address, &len);

	if (!p || len < n)
		return false;
	memcpy(buf, p, n);
	return true;
}

/* An entry of .eh_frame: length, offset of the common part, start (relative to itself), length of
 * the function. */
static bool function_of_entry(const struct text *t, uint64_t entry, struct text_range *ret)
{
	struct {
		uint32_t length, common;
		int32_t start;
		uint32_t size;
	} fde;

	if (!read_at(t, entry, &fde, sizeof(fde)) || fde.length == 0 || fde.length == UINT32_MAX ||
	    fde.common == 0)
		return false;
	ret->low = entry + 8 + (uint64_t)(int64_t)fde.start;
	ret->high = ret->low + fde.size;
	return fde.size != 0 && ret->high > ret->low;
}

static int by_low(const void *a, const void *b)
{
	const struct text_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

void text_read_functions(struct text *t, uint64_t header)
{
	enum { UDATA4 = 0x03, PCREL_SDATA4 = 0x1b, DATAREL_SDATA4 = 0x3b };
	uint8_t encodings[4];
	uint32_t count;

	if (!read_at(t, header, encodings, 4) || !read_at(t, header + 8, &count, 4) ||
	    encodings[0] != 1 || encodings[1] != PCREL_SDATA4 || encodings[2] != UDATA4 ||
	    encodings[3] != DATAREL_SDATA4)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct text_range r;
		int32_t pair[2];

		if (!read_at(t, header + 12 + 8ull * i, pair, sizeof(pair)))
			break;
		if (function_of_entry(t, header + (uint64_t)(int64_t)pair[1], &r) &&
		    r.low == header + (uint64_t)(int64_t)pair[0])
			vec_push(&t->functions, r);
	}
	vec_sort(&t->functions, by_low);
}

struct err *text_open(const char *path, struct text *ret)
{
	struct err *err;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	uint64_t header = 0;

	*ret = (struct text){ 0 };
	err = file_map_open(path, &ret->map);
	if (err)
		return err;
	if (ret->map.len < sizeof(eh))
		return err_new(ERR_ENV, "%s is not an x86-64 program", path);
	memcpy(&eh, ret->map.data, sizeof(eh));
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_machine != EM_X86_64 || eh.e_phentsize != sizeof(ph) ||
	    eh.e_phoff > ret->map.len ||
	    (uint64_t)eh.e_phnum * sizeof(ph) > ret->map.len - eh.e_phoff)
		return err_new(ERR_ENV, "%s is not an x86-64 program", path);
	ret->entry = eh.e_entry;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		memcpy(&ph, ret->map.data + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD)
			add_segment(ret, &ph);
		else if (ph.p_type == PT_GNU_EH_FRAME)
			header = ph.p_vaddr;
		else if (ph.p_type == PT_DYNAMIC)
			ret->dynamic = ph.p_vaddr;
	}
	if (header)
		text_read_functions(ret, header);
	return NULL;
}

void text_close(struct text *t)
{
	if (t->own)
		free(t->own);
	else if (t->map.data)
		file_map_close(&t->map);
	vec_deinit(&t->segments);
	vec_deinit(&t->functions);
	*t = (struct text){ 0 };
}

const struct text_segment *text_segment_at(const struct text *t, uint64_t address)
{
	for (size_t i = 0; i < t->segments.len; i++)
		if (address >= t->segments.data[i].address &&
		    address - t->segments.data[i].address < t->segments.data[i].size)
			return &t->segments.data[i];
	return NULL;
}

const uint8_t *text_bytes(const struct text *t, uint64_t address, size_t *len)
{
	const struct text_segment *s = text_segment_at(t, address);

	if (!s || address - s->address >= s->there)
		return NULL;
	*len = s->there - (address - s->address);
	return t->map.data + s->at + (address - s->address);
}

const struct text_range *text_function(const struct text *t, uint64_t address)
{
	size_t at = vec_upper(&t->functions, low, address);

	if (at == 0 || address >= t->functions.data[at - 1].high)
		return NULL;
	return &t->functions.data[at - 1];
}

/* ---- imports ---- */

static uint64_t dynamic_value(const struct text *t, int64_t tag)
{
	Elf64_Dyn d;

	for (uint64_t at = t->dynamic; read_at(t, at, &d, sizeof(d)) && d.d_tag != DT_NULL;
	     at += sizeof(d))
		if (d.d_tag == tag)
			return d.d_un.d_val;
	return 0;
}

static const char *symbol_name(const struct text *t, uint64_t index)
{
	uint64_t names = dynamic_value(t, DT_STRTAB), symbols = dynamic_value(t, DT_SYMTAB);
	const uint8_t *p;
	Elf64_Sym s;
	size_t len;

	if (!read_at(t, symbols + index * sizeof(s), &s, sizeof(s)))
		return NULL;
	p = text_bytes(t, names + s.st_name, &len);
	return p && memchr(p, '\0', len) ? (const char *)p : NULL;
}

const char *text_import_where(const struct text *t, bool (*is_it)(uint64_t slot, void *arg),
			      void *arg)
{
	static const int64_t tables[][2] = { { DT_JMPREL, DT_PLTRELSZ }, { DT_RELA, DT_RELASZ } };

	for (unsigned i = 0; i < ARRAY_SIZE(tables); i++) {
		uint64_t at = dynamic_value(t, tables[i][0]);
		uint64_t end = at + dynamic_value(t, tables[i][1]);
		Elf64_Rela r;

		for (; at && at < end && read_at(t, at, &r, sizeof(r)); at += sizeof(r))
			if (ELF64_R_SYM(r.r_info) && is_it(r.r_offset, arg))
				return symbol_name(t, ELF64_R_SYM(r.r_info));
	}
	return NULL;
}

static bool is_slot(uint64_t slot, void *arg)
{
	return slot == *(const uint64_t *)arg;
}

const char *text_import(const struct text *t, uint64_t slot)
{
	return text_import_where(t, is_slot, &slot);
}

static int by_slot(const void *a, const void *b)
{
	const struct text_relocation *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

void text_relocations(const struct text *t, struct text_relocations *ret)
{
	uint64_t at = dynamic_value(t, DT_RELA), end = at + dynamic_value(t, DT_RELASZ);
	Elf64_Rela r;

	for (; at && at < end && read_at(t, at, &r, sizeof(r)); at += sizeof(r))
		vec_push(ret, ((struct text_relocation){ .slot = r.r_offset,
							 .addend = (uint64_t)r.r_addend,
							 .relative = ELF64_R_TYPE(r.r_info) ==
								     R_X86_64_RELATIVE }));
	vec_sort(ret, by_slot);
}

size_t text_constructors(const struct text *t)
{
	return (dynamic_value(t, DT_INIT_ARRAYSZ) + dynamic_value(t, DT_PREINIT_ARRAYSZ)) /
	       sizeof(uint64_t);
}
