/* rewind/mates.c - see mates.h.
 *
 * A description begins with its own address and has it again in its third word (the ABI of thread-local
 * storage on x86-64 wants the first, glibc has both). Where it keeps the start routine depends on the
 * version of glibc; but the routine's argument lies behind it in all of them, so we look for the
 * first word that is the first address of a function. */
#include "rewind/mates.h"

#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/code.h"

#include <elf.h>
#include <string.h>

enum { ALIGNED = 64, FROM = 0x400, TO = 0xa00, MOST_MATES = 64, LARGEST_STACK = 64 << 20 };

bool mates_is_libc(const struct dump_module *m)
{
	return strstr(m->path, "/libc.so") || strstr(m->path, "/libc-");
}

/* Does a function begin at this address that a thread can begin with? None of libc's runs the program's code; a description
 * holds others of them: what cleans up when the first thread ends. */
static bool is_entry(const struct dump *d, struct code *c, uint64_t address)
{
	const struct dump_module *m = dump_module_at(d, address);
	const struct text_range *range;
	const struct text *t;
	const char *why;

	if (!m || mates_is_libc(m) || !(t = code_text(c, m, &why)))
		return false;
	range = text_function(t, address - m->bias);
	return range && range->low == address - m->bias;
}

static bool read_routine(const struct dump *d, struct code *c, struct mate *m)
{
	for (uint64_t at = m->self + FROM; at < m->self + TO; at += 8) {
		if (!dump_read(d, at, &m->entry, 8) || !dump_read(d, at + 8, &m->argument, 8))
			return false;
		if (m->entry && is_entry(d, c, m->entry))
			return true;
	}
	return false;
}

static void look_at(const struct dump *d, struct code *c, const struct dump_segment *s,
		    uint64_t address, struct mates *ret)
{
	struct mate m = { .self = address,
			  .stack_low = s->address,
			  .stack_high = address,
			  .thread = MATE_ENDED };

	if (ret->len == MOST_MATES || !read_routine(d, c, &m))
		return;
	for (size_t i = 0; i < d->threads.len; i++)
		if (d->threads.data[i].registers.fs_base == address)
			m.thread = i;
	vec_push(ret, m);
}

void mates_find(const struct dump *d, struct code *c, struct mates *ret)
{
	for (size_t i = 0; i < d->segments.len; i++) {
		const struct dump_segment *s = &d->segments.data[i];
		const uint8_t *bytes = d->map.data + s->at;

		if (!(s->flags & PF_W) || s->size > LARGEST_STACK)
			continue; /* a large heap: reading all of it takes too long */
		for (uint64_t at = -s->address & (ALIGNED - 1); at + 24 <= s->there;
		     at += ALIGNED) {
			uint64_t words[3];

			memcpy(words, bytes + at, sizeof(words));
			if (words[0] == s->address + at && words[2] == s->address + at)
				look_at(d, c, s, s->address + at, ret);
		}
	}
}
