/* preload/unwind.c - one step up the stack, from the tables every x86-64 binary carries.
 *
 * Distributions compile without frame pointers, so the return address of a frame has to be found
 * through .eh_frame. Interpreting that takes a microsecond; but for one return address the answer
 * never changes, and almost always reads "the frame starts N bytes above sp (or bp)". We compute it
 * once per return address of the process and keep it in a table of 64-bit words:
 *
 *	pc >> 12 (35 bits) | base (2) | offset / 8 (13) | bp_save / 8 (9)
 *
 * The low bits of pc are in the index, so a word says everything: readers and writers need no lock,
 * and a collision only means computing again. Code without tables (a JIT's) is tried as if it had
 * frame pointers. The caller checks every address against the limits of the stack, so a wrong
 * rule can make a stack wrong but can never make us touch memory that is not there. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define RULES 4096 /* a power of two */
static uint64_t rules[RULES];
#define FUNCTIONS 1024 /* likewise */
static uint64_t functions[FUNCTIONS];

static int (*find_object)(void *, struct dl_find_object *);

void unwind_init(void)
{
	find_object =
		(int (*)(void *, struct dl_find_object *))dlsym(RTLD_DEFAULT, "_dl_find_object");
}

void unwind_forget(void)
{
	for (unsigned i = 0; i < RULES; i++)
		__atomic_store_n(&rules[i], 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		__atomic_store_n(&functions[i], 0, __ATOMIC_RELAXED);
}

/* ---- where the tables are ---- */

struct find {
	uint64_t pc;
	const uint8_t *hdr;
};

static int find_phdr(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct find *f = arg;
	const uint8_t *hdr = NULL;
	bool here = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && f->pc >= start && f->pc < start + ph->p_memsz)
			here = true;
		if (ph->p_type == PT_GNU_EH_FRAME)
			hdr = (const uint8_t *)start;
	}
	if (here)
		f->hdr = hdr;
	return here;
}

static const uint8_t *find_tables(uint64_t pc)
{
	struct dl_find_object found;
	struct find f = { .pc = pc };

	/* glibc 2.35 and later answer without a lock */
	if (find_object)
		return find_object((void *)pc, &found) == 0 ? found.dlfo_eh_frame : NULL;
	dl_iterate_phdr(find_phdr, &f);
	return f.hdr;
}

/* ---- reading ---- */

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t read_fixed(struct reader *r, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->p) < size) {
		r->bad = true;
		return 0;
	}
	memcpy(&v, r->p, size);
	r->p += size;
	return v;
}

static uint64_t read_leb(struct reader *r, bool is_signed)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)read_fixed(r, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (!r->bad && byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		v |= -(1ull << shift);
	return v;
}

/* The encodings found in practice: a value of 2, 4 or 8 bytes, absolute or relative to its place.
 */
static uint64_t read_encoded(struct reader *r, uint8_t encoding)
{
	uint64_t place = (uint64_t)r->p, v;

	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		v = read_fixed(r, 8);
		break;
	case 0x02:
		v = read_fixed(r, 2);
		break;
	case 0x03:
		v = read_fixed(r, 4);
		break;
	case 0x0a:
		v = (uint64_t)(int64_t)(int16_t)read_fixed(r, 2);
		break;
	case 0x0b:
		v = (uint64_t)(int64_t)(int32_t)read_fixed(r, 4);
		break;
	default:
		r->bad = true;
		return 0;
	}
	if ((encoding & 0x70) == 0x10)
		v += place;
	else if (encoding & 0x70)
		r->bad = true;
	return v;
}

/* ---- the call frame program ---- */

enum { REG_BP = 6, REG_SP = 7, REG_RETURN = 16 };

struct state {
	uint64_t cfa_reg, cfa_off;
	int64_t bp_at; /* cfa + bp_at; 0 = unchanged */
	bool odd;      /* expressions: not for us */
	bool last;     /* no return address: the outermost frame */
};

struct program {
	struct state now, initial, saved[8];
	unsigned nsaved;
	uint64_t loc, pc; /* stop when loc passes pc */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
};

static void set_saved(struct program *g, uint64_t reg, int64_t at)
{
	if (reg == REG_BP)
		g->now.bp_at = at;
}

static void skip_block(struct reader *r)
{
	uint64_t len = read_leb(r, false);

	if (len > (uint64_t)(r->end - r->p))
		r->bad = true;
	else
		r->p += len;
}

static void run_op(struct program *g, struct reader *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x01: /* set_loc */
		g->loc = read_encoded(r, g->encoding);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
		g->loc += read_fixed(r, 1) * g->code_align;
		break;
	case 0x03:
		g->loc += read_fixed(r, 2) * g->code_align;
		break;
	case 0x04:
		g->loc += read_fixed(r, 4) * g->code_align;
		break;
	case 0x05: /* offset_extended */
		reg = read_leb(r, false);
		set_saved(g, reg, (int64_t)read_leb(r, false) * g->data_align);
		break;
	case 0x06: /* restore_extended */
		reg = read_leb(r, false);
		set_saved(g, reg, g->initial.bp_at);
		break;
	case 0x07: /* undefined, same_value */
	case 0x08:
		reg = read_leb(r, false);
		set_saved(g, reg, 0);
		g->now.last |= op == 0x07 && reg == REG_RETURN;
		break;
	case 0x09: /* register */
		reg = read_leb(r, false);
		read_leb(r, false);
		g->now.odd |= reg == REG_BP;
		break;
	case 0x0a: /* remember_state */
		if (g->nsaved == 8)
			r->bad = true;
		else
			g->saved[g->nsaved++] = g->now;
		break;
	case 0x0b: /* restore_state */
		if (g->nsaved == 0)
			r->bad = true;
		else
			g->now = g->saved[--g->nsaved];
		break;
	case 0x0c: /* def_cfa */
		g->now.cfa_reg = read_leb(r, false);
		g->now.cfa_off = read_leb(r, false);
		g->now.odd = false;
		break;
	case 0x0d: /* def_cfa_register */
		g->now.cfa_reg = read_leb(r, false);
		break;
	case 0x0e: /* def_cfa_offset */
		g->now.cfa_off = read_leb(r, false);
		break;
	case 0x0f: /* def_cfa_expression */
		skip_block(r);
		g->now.odd = true;
		break;
	case 0x10: /* expression, val_expression */
	case 0x16:
		reg = read_leb(r, false);
		skip_block(r);
		g->now.odd |= reg == REG_BP;
		break;
	case 0x11: /* offset_extended_sf */
		reg = read_leb(r, false);
		set_saved(g, reg, (int64_t)read_leb(r, true) * g->data_align);
		break;
	case 0x12: /* def_cfa_sf */
		g->now.cfa_reg = read_leb(r, false);
		g->now.cfa_off = read_leb(r, true) * (uint64_t)g->data_align;
		break;
	case 0x13: /* def_cfa_offset_sf */
		g->now.cfa_off = read_leb(r, true) * (uint64_t)g->data_align;
		break;
	case 0x2e: /* GNU_args_size */
		read_leb(r, false);
		break;
	default:
		r->bad = true;
	}
}

static void run(struct program *g, struct reader *r)
{
	while (!r->bad && r->p < r->end && g->loc <= g->pc) {
		uint8_t op = (uint8_t)read_fixed(r, 1), low = op & 0x3f;

		switch (op & 0xc0) {
		case 0x40: /* advance_loc */
			g->loc += low * g->code_align;
			break;
		case 0x80: /* offset */
			set_saved(g, low, (int64_t)read_leb(r, false) * g->data_align);
			break;
		case 0xc0: /* restore */
			set_saved(g, low, g->initial.bp_at);
			break;
		default:
			run_op(g, r, op);
		}
	}
}

/* A CIE or FDE: its length, then everything else. */
static struct reader open_entry(const uint8_t *p)
{
	uint32_t len;

	memcpy(&len, p, 4);
	if (len == 0 || len >= 0xfffffff0)
		return (struct reader){ .bad = true };
	return (struct reader){ .p = p + 4, .end = p + 4 + len };
}

/* Run the CIE that the FDE in *fde names; false when it is of a kind we do not know. */
static bool run_cie(struct program *g, struct reader *fde, bool *augmented)
{
	const uint8_t *place = fde->p;
	uint32_t back = (uint32_t)read_fixed(fde, 4);
	struct reader cie = open_entry(place - back);
	const char *aug;

	*augmented = false;
	if (fde->bad || cie.bad || back == 0 || read_fixed(&cie, 4) != 0)
		return false;
	if (read_fixed(&cie, 1) != 1)
		return false;
	aug = (const char *)cie.p;
	while (read_fixed(&cie, 1) && !cie.bad)
		;
	g->code_align = read_leb(&cie, false);
	g->data_align = (int64_t)read_leb(&cie, true);
	read_fixed(&cie, 1); /* the return address column */
	if (*aug == 'z') {
		*augmented = true;
		read_leb(&cie, false);
		for (aug++; *aug && !cie.bad; aug++) {
			if (*aug == 'R')
				g->encoding = (uint8_t)read_fixed(&cie, 1);
			else if (*aug == 'L')
				read_fixed(&cie, 1);
			else if (*aug == 'P')
				read_encoded(&cie, (uint8_t)read_fixed(&cie, 1) & 0x0f);
			else
				return false; /* 'S', a signal frame, among others */
		}
	} else if (*aug) {
		return false;
	}
	g->loc = 0;
	run(g, &cie);
	g->initial = g->now;
	return !cie.bad;
}

static const uint8_t *search_table(const uint8_t *hdr, uint64_t pc)
{
	struct reader r = { .p = hdr + 4, .end = hdr + 16 };
	const int32_t *table;
	uint64_t count, lo = 0, hi;

	/* version 1, and a sorted table of 32-bit offsets from hdr, as every linker writes it */
	if (hdr[0] != 1 || hdr[3] != 0x3b || hdr[2] != 0x03)
		return NULL;
	read_encoded(&r, hdr[1]);
	count = read_fixed(&r, 4);
	if (r.bad || count == 0)
		return NULL;
	table = (const int32_t *)r.p;
	hi = count;
	while (hi - lo > 1) {
		uint64_t mid = (lo + hi) / 2;

		if ((uint64_t)hdr + (uint64_t)(int64_t)table[2 * mid] <= pc)
			lo = mid;
		else
			hi = mid;
	}
	return hdr + table[2 * lo + 1];
}

/* The FDE of pc is opened, and its CIE run; false when there is none. */
static bool find_entry(uint64_t pc, struct program *g, struct reader *fde, uint64_t *ret,
		       bool *augmented)
{
	const uint8_t *hdr = find_tables(pc), *entry = hdr ? search_table(hdr, pc) : NULL;
	uint64_t start, len;

	if (!entry)
		return false;
	*fde = open_entry(entry);
	if (fde->bad || !run_cie(g, fde, augmented))
		return false;
	start = read_encoded(fde, g->encoding);
	len = read_encoded(fde, g->encoding & 0x0f);
	*ret = start;
	return !fde->bad && pc >= start && pc - start < len;
}

static bool compute(uint64_t pc, struct state *ret)
{
	struct program g = { .pc = pc };
	struct reader fde;
	bool augmented;

	if (!find_entry(pc, &g, &fde, &g.loc, &augmented))
		return false;
	if (augmented)
		skip_block(&fde);
	run(&g, &fde);
	*ret = g.now;
	return !fde.bad && !g.now.odd;
}

static uint64_t find_function(uint64_t pc)
{
	struct program g = { .pc = pc };
	struct reader fde;
	uint64_t start;
	bool augmented;

	return find_entry(pc, &g, &fde, &start, &augmented) ? start : 0;
}

/* Kept as the distance from pc, with the high bits of pc: 0 is none. */
uint64_t unwind_function(uint64_t pc)
{
	uint64_t *word = &functions[(pc ^ pc >> 10) % FUNCTIONS], w, start, tag = pc >> 10;

	w = __atomic_load_n(word, __ATOMIC_RELAXED);
	if (likely(w >> 24 == tag && w & 0xffffff))
		return pc - (w & 0xffffff);
	start = find_function(pc - 1); /* the call, not what follows it */
	if (start && pc - start < 1 << 24)
		__atomic_store_n(word, tag << 24 | (pc - start), __ATOMIC_RELAXED);
	return start;
}

static struct unwind_rule find_rule(uint64_t pc)
{
	struct unwind_rule frame_pointer = { UNWIND_BP, 16, 16 };
	struct unwind_rule rule = { UNWIND_STOP, 0, 0 };
	struct state s = { 0 };

	module_note(pc);
	if (!compute(pc - 1, &s)) /* the call, not what follows it */
		return frame_pointer;
	if (s.last)
		rule.offset = UNWIND_LAST;
	if (s.last || (s.cfa_reg != REG_SP && s.cfa_reg != REG_BP))
		return rule;
	if (s.cfa_off % 8 || s.cfa_off / 8 >= 1 << 13 || s.bp_at > 0 || s.bp_at % 8 ||
	    -s.bp_at / 8 >= 1 << 9)
		return rule;
	rule.base = s.cfa_reg == REG_SP ? UNWIND_SP : UNWIND_BP;
	rule.offset = (uint32_t)s.cfa_off;
	rule.bp_save = (uint32_t)-s.bp_at;
	return rule;
}

struct unwind_rule unwind_rule_of(uint64_t pc)
{
	uint64_t *word = &rules[(pc ^ pc >> 12) % RULES], w, tag = pc >> 12;
	struct unwind_rule rule;

	w = __atomic_load_n(word, __ATOMIC_RELAXED);
	if (likely(w >> 24 == tag && w & 0xc00000))
		return (struct unwind_rule){ (w >> 22 & 3) - 1, (uint32_t)(w >> 9 & 0x1fff) * 8,
					     (uint32_t)(w & 0x1ff) * 8 };
	rule = find_rule(pc);
	w = tag << 24 | (uint64_t)(rule.base + 1) << 22 | (uint64_t)(rule.offset / 8) << 9 |
	    rule.bp_save / 8;
	__atomic_store_n(word, w, __ATOMIC_RELAXED);
	return rule;
}
