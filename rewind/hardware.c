/* rewind/hardware.c - see hardware.h.
 *
 * Text: pages of a file that are mapped without permission to write must equal the file. The kernel dumps
 * them only when asked (coredump_filter), or when somebody wrote to them: a debugger's breakpoint, a
 * probe, a patch. A flipped bit changes one bit; patches change more. So one differing bit in a
 * module is certain, and anything else is named and counts for nothing. Pages that the loader
 * relocates (RELRO) are writable in the file and left out.
 *
 * The instruction again: the dump's state is revived and the failing instruction takes one step. If it
 * does not fail, the processor did something else the first time. The state must be complete for
 * that: one thread, all memory dumped or from files, and a fault that the address alone explains. */
#include "rewind/hardware.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/flipped.h"
#include "rewind/code.h"
#include "run/revive.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *hardware_name(enum hardware_strength s)
{
	static const char *const names[] = { "none", "weak", "strong", "certain" };

	return names[s];
}

/* ---- text ---- */

struct difference {
	uint64_t first, bytes, bits;
};

/* Is there the very file that ran? Nobody may know its build, and its text may be the dump's own. */
static bool has_file(const struct dump *d, struct code *c, uint64_t address)
{
	const struct dump_module *m = dump_module_at(d, address);
	const char *why;
	const struct text *t = dump_identifies(d, address) ? code_text(c, m, &why) : NULL;

	return t && !t->own;
}

/* One segment of the dump against the file behind it. */
static void compare_segment(const struct dump *d, struct code *c, const struct dump_segment *s,
			    struct hardware *ret, struct difference *diff)
{
	uint64_t at = 0;

	while (at < s->there) {
		uint32_t flags = 0;
		size_t len = 0;
		const uint8_t *file = code_file_bytes(c, s->address + at, &len, &flags);
		const uint8_t *dumped = d->map.data + s->at + at;

		if (!file || flags & PF_W || !has_file(d, c, s->address + at)) {
			at += 4096 - (s->address + at) % 4096;
			continue;
		}
		len = MIN(len, s->there - at);
		ret->compared += len;
		for (size_t i = memcmp(file, dumped, len) ? 0 : len; i < len; i++) {
			if (file[i] == dumped[i])
				continue;
			if (!diff->bytes++)
				diff->first = s->address + at + i;
			diff->bits += (uint64_t)__builtin_popcount(file[i] ^ dumped[i]);
		}
		at += len;
	}
}

static void check_text(const struct dump *d, struct code *c, struct hardware *ret)
{
	struct difference diff = { 0 };

	for (size_t i = 0; i < d->segments.len; i++)
		if (!(d->segments.data[i].flags & PF_W))
			compare_segment(d, c, &d->segments.data[i], ret, &diff);
	ret->differing = diff.bytes;
	if (!diff.bytes)
		return;
	if (diff.bits == 1) {
		ret->strength = HARDWARE_CERTAIN;
		ret->address = diff.first;
		snprintf(ret->what, sizeof(ret->what),
			 "one bit at 0x%" PRIx64 " differs from the file, in memory that the "
			 "program cannot write",
			 diff.first);
		return;
	}
	snprintf(ret->against, sizeof(ret->against),
		 "%" PRIu64 " read-only bytes differ from their files, %" PRIu64
		 " bits: patched while it ran",
		 diff.bytes, diff.bits);
}

/* ---- the instruction again ---- */

static bool is_mapped(const struct dump *d, uint64_t address)
{
	for (size_t i = 0; i < d->segments.len; i++)
		if (address >= d->segments.data[i].address &&
		    address - d->segments.data[i].address < d->segments.data[i].size)
			return true;
	return false;
}

static bool is_fault(const struct dump *d)
{
	return (d->signal == SIGSEGV || d->signal == SIGBUS) && d->code > 0 && d->code != 128;
}

static struct err *check_instruction(const struct dump *d, struct hardware *ret)
{
	uint64_t pc = d->threads.data[0].registers.rip;
	struct revived *r;
	struct err *err;
	int signal = 0;

	if (!is_fault(d) || d->threads.len != 1 || d->gaps.len || !is_mapped(d, pc) ||
	    (d->fault && is_mapped(d, d->fault)) || (d->fault >= 0x10000 && d->fault < 0x400000))
		return NULL; /* the state is not complete enough, or revive.c's own page may lie there */
	err = revive(d, 0, &r);
	if (err)
		return err;
	if (revived_step(r, &signal) == REVIVED_STEPPED) {
		ret->strength = HARDWARE_CERTAIN;
		ret->address = pc;
		snprintf(ret->what, sizeof(ret->what),
			 "the instruction at 0x%" PRIx64
			 " failed, but does not fail when it is run again on the dump's own state",
			 pc);
	}
	revived_free(r);
	return NULL;
}

/* ---- one bit of an address ---- */

/* What explains a bad address without a broken machine. */
static const char *detractor(const struct dump *d, uint64_t address)
{
	uint64_t sp = d->threads.data[0].registers.rsp, low = address & 0xffffffff;

	if (address < 65536 || address > ~(uint64_t)65536)
		return "it is a small number: a null pointer and an offset";
	if (address > sp - (1u << 20) && address < sp + 4096)
		return "it is just below the stack";
	for (uint64_t at = address & ~4095ull, i = 0; i < 16; i++)
		if (is_mapped(d, at - 4096 * i) || is_mapped(d, at + 4096 * i))
			return "it is just outside a mapping";
	if (low == address || low == address >> 32 ||
	    (address & 0xff) * 0x0101010101010101ull == address)
		return "it does not look like a pointer";
	return NULL;
}

static void check_address(const struct dump *d, struct hardware *ret)
{
	const char *against;
	unsigned found = 0, bit = 0;

	if (!is_fault(d) || !d->fault || is_mapped(d, d->fault))
		return;
	against = detractor(d, d->fault);
	if (against && !*ret->against)
		snprintf(ret->against, sizeof(ret->against), "%s", against);
	if (against)
		return;
	for (unsigned i = 12; i < 47; i++)
		if (is_mapped(d, d->fault ^ 1ull << i)) {
			found++;
			bit = i;
		}
	if (found != 1)
		return;
	ret->strength = HARDWARE_WEAK;
	ret->address = d->fault;
	snprintf(ret->what, sizeof(ret->what),
		 "the bad address 0x%" PRIx64 " is one bit (%u) away from mapped memory", d->fault,
		 bit);
}

struct err *hardware_check(const struct dump *d, struct code *c, bool may_run, struct hardware *ret)
{
	struct err *err = NULL;

	*ret = (struct hardware){ 0 };
	check_text(d, c, ret);
	if (!ret->strength && may_run)
		err = check_instruction(d, ret);
	if (!ret->strength && !err && is_fault(d))
		flipped_check(d, c, ret);
	if (!ret->strength && !err)
		check_address(d, ret);
	return err;
}
