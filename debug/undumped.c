/* debug/undumped.c - see undumped.h. */
#include "debug/undumped.h"

#include "debug/dump.h"

#include <elf.h>
#include <string.h>

static bool has_segment(const struct dump *d, const struct dump_file *f)
{
	for (size_t i = 0; i < d->segments.len; i++) {
		const struct dump_segment *s = &d->segments.data[i];

		if (s->address < f->end &&
		    (f->start <= s->address || f->start - s->address < s->size))
			return true;
	}
	return false;
}

/* What the program's own headers, which are dumped, say about this part of its file. */
static uint32_t flags_of(const struct dump *d, const struct dump_file *f)
{
	const struct dump_module *m = dump_module_at(d, f->start);
	Elf64_Ehdr eh;

	if (!m || !dump_read(d, m->low, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_phentsize != sizeof(Elf64_Phdr))
		return PF_R;
	for (unsigned i = 0; i < eh.e_phnum; i++) {
		Elf64_Phdr ph;
		uint64_t first;

		if (!dump_read(d, m->low + eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			break;
		first = ph.p_offset & ~(uint64_t)4095;
		if (ph.p_type == PT_LOAD && f->offset >= first &&
		    f->offset - first < ph.p_filesz + (ph.p_offset - first))
			return ph.p_flags;
	}
	return PF_R;
}

void dump_add_undumped(struct dump *d)
{
	size_t n = d->segments.len;

	for (size_t i = 0; i < d->files.len && n; i++) {
		const struct dump_file *f = &d->files.data[i];
		struct dump_segment s = { .address = f->start, .size = f->end - f->start };

		if (f->end <= f->start || has_segment(d, f))
			continue;
		s.flags = flags_of(d, f);
		vec_push(&d->segments, s);
	}
}
