/* rewind/initial.c - see initial.h. */
#include "rewind/initial.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/code.h"

#include <elf.h>
#include <string.h>

/* What the compiler's own start files have: frame_dummy() and its like. */
enum { OWN_CONSTRUCTORS = 1 };

/* The relocation that covers an address, of 8 bytes; NULL: none. */
static const struct text_relocation *relocation_at(const struct text_relocations *all, uint64_t at)
{
	for (size_t i = 0; i < all->len; i++)
		if (at - all->data[i].slot < 8)
			return &all->data[i];
	return NULL;
}

void initial_deinit(struct initial *x)
{
	vec_deinit(&x->relocations);
}

bool initial_byte(struct initial *x, uint64_t address, uint8_t *ret)
{
	const struct dump_module *m = dump_module_at(x->dump, address);
	const struct text_relocation *r;
	const struct text_segment *s;
	const struct text *t;
	const char *why;
	const uint8_t *p;
	uint64_t at;
	size_t len;

	if (!m || !(t = code_text(x->code, m, &why)) || text_constructors(t) > OWN_CONSTRUCTORS)
		return false;
	at = address - m->bias;
	s = text_segment_at(t, at);
	if (!s || !(s->flags & PF_W))
		return false;
	if (x->module != m) {
		vec_clear(&x->relocations);
		text_relocations(t, &x->relocations);
		x->module = m;
	}
	r = relocation_at(&x->relocations, at);
	p = at - s->address < s->there ? text_bytes(t, at, &len) : NULL;
	if (r && !r->relative)
		return false;
	*ret = r ? (uint8_t)((m->bias + r->addend) >> 8 * (at - r->slot)) : p ? *p : 0;
	return true;
}
