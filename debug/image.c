/* debug/image.c - see text.h: the code of a module whose file is gone, as far as the dump has its pages.
 *
 * The kernel dumps pages of files when coredump_filter asks for it (bit 2), and the first page of every program always.
 * Only what the program cannot write is the file's own content; of the rest the dynamic section is taken, which names
 * imports. The loader adds the module's address to pointers in it, so that is taken away again. */
#include "debug/text.h"

#include "base/mem.h"
#include "debug/dump.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 256 << 20 };

/* How many of the bytes from an address on are in the dump, without a gap. */
static uint64_t dumped(const struct dump *d, uint64_t address, uint64_t size)
{
	uint64_t n = 0;
	size_t len;

	while (n < size && dump_bytes(d, address + n, &len))
		n += MIN(len, size - n);
	return n;
}

/* A part of the module's memory, copied behind what the text has so far. */
static void take_part(struct text *t, const struct dump *d, const struct dump_module *m,
		      const Elf64_Phdr *ph)
{
	uint64_t there = dumped(d, m->bias + ph->p_vaddr, ph->p_memsz);
	struct text_segment s = { .address = ph->p_vaddr,
				  .size = ph->p_memsz,
				  .at = t->map.len,
				  .there = there,
				  .flags = ph->p_flags };

	/* headers may lie: the parts of a module are no larger than the module */
	if (s.address + s.size < s.address || there > m->high - m->low ||
	    t->map.len + there > MIN(2 * (m->high - m->low), (uint64_t)MOST_BYTES))
		return;
	t->own = xrealloc(t->own, t->map.len + there + 1);
	for (uint64_t n = 0; n < there;) {
		size_t len;
		const uint8_t *p = dump_bytes(d, m->bias + ph->p_vaddr + n, &len);

		len = MIN(len, there - n);
		memcpy(t->own + t->map.len + n, p, len);
		n += len;
	}
	t->map.len += there;
	t->map.data = t->own;
	vec_push(&t->segments, s);
}

static bool is_pointer(int64_t tag)
{
	return tag == DT_STRTAB || tag == DT_SYMTAB || tag == DT_RELA || tag == DT_JMPREL;
}

static void take_dynamic(struct text *t, const struct dump *d, const struct dump_module *m,
			 const Elf64_Phdr *ph)
{
	struct text_segment *s;

	take_part(t, d, m, ph);
	s = t->segments.len ? vec_last(&t->segments) : NULL;
	if (!s || s->address != ph->p_vaddr)
		return;
	t->dynamic = ph->p_vaddr;
	for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= s->there; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn e;

		memcpy(&e, t->own + s->at + at, sizeof(e));
		if (is_pointer(e.d_tag) && e.d_un.d_val >= m->low && e.d_un.d_val < m->high)
			e.d_un.d_val -= m->bias;
		memcpy(t->own + s->at + at, &e, sizeof(e));
	}
}

/* Calls `take` for each program header of a type. */
static void each_header(struct text *t, const struct dump *d, const struct dump_module *m,
			uint32_t type,
			void (*take)(struct text *t, const struct dump *d,
				     const struct dump_module *m, const Elf64_Phdr *ph))
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (!dump_read(d, m->low, &eh, sizeof(eh)) || memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_phentsize != sizeof(ph))
		return;
	t->entry = eh.e_entry;
	for (unsigned i = 0; i < eh.e_phnum; i++)
		if (dump_read(d, m->low + eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)) &&
		    ph.p_type == type)
			take(t, d, m, &ph);
}

static void take_load(struct text *t, const struct dump *d, const struct dump_module *m,
		      const Elf64_Phdr *ph)
{
	if (!(ph->p_flags & PF_W))
		take_part(t, d, m, ph);
	else
		vec_push(&t->segments, ((struct text_segment){ .address = ph->p_vaddr,
							       .size = ph->p_memsz,
							       .flags = ph->p_flags }));
}

static void take_functions(struct text *t, const struct dump *d, const struct dump_module *m,
			   const Elf64_Phdr *ph)
{
	(void)d;
	(void)m;
	text_read_functions(t, ph->p_vaddr);
}

bool text_of_dump(const struct dump *d, const struct dump_module *m, struct text *ret)
{
	*ret = (struct text){ 0 };
	each_header(ret, d, m, PT_DYNAMIC,
		    take_dynamic); /* first: it lies in what can be written */
	each_header(ret, d, m, PT_LOAD, take_load);
	each_header(ret, d, m, PT_GNU_EH_FRAME, take_functions);
	return ret->functions.len > 0;
}
