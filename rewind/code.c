/* rewind/code.c - see code.h.
 *
 * A function is what an unwind entry covers; a linkage table (.plt) is one, too. Its range is decoded
 * from the first byte to the last, which is right for what compilers write: they put no data between
 * instructions. Blocks begin where a jump leads and behind each instruction that does not simply go
 * on. The rarely executed part of a function (foo.cold) has an entry of its own; jumps between the two
 * parts are found because each knows the other (`partners`).
 *
 * Jump tables: a function that jumps through a register may go wherever a table of offsets leads that
 * the function mentions. That is more than it can do, never less: a wrong predecessor is refuted
 * later by its values. */
#include "rewind/code.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "debug/modules.h"
#include "rewind/fixed.h"
#include "rewind/lifter.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PARTNERS = 64 };

struct module_text {
	struct text text;
	const char *problem; /* NULL = usable */
};

struct code {
	const struct dump *dump;
	struct code_tools *tools, own;
	char *problem;
	struct module_text *modules; /* in the order of dump->modules; opened when asked for */
	bool *opened;
	struct map functions; /* low -> struct function *, or NULL: cannot be lifted */
	VEC(struct function *) all;
	uint64_t lifted;
	struct names notes;
};

void code_tools_init(struct code_tools *t)
{
	*t = (struct code_tools){ .modules = modules_new() };
}

void code_tools_deinit(struct code_tools *t)
{
	lifter_free(t->lifter);
	modules_free(t->modules);
}

struct code *code_new(const struct dump *d, struct code_tools *tools)
{
	struct code *c = xcalloc(1, sizeof(*c));

	c->dump = d;
	if (!tools)
		code_tools_init(&c->own);
	c->tools = tools ? tools : &c->own;
	c->modules = xcalloc(d->modules.len + 1, sizeof(*c->modules));
	c->opened = xcalloc(d->modules.len + 1, sizeof(*c->opened));
	return c;
}

void code_free(struct code *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->dump->modules.len; i++)
		if (c->opened[i])
			text_close(&c->modules[i].text);
	for (size_t i = 0; i < c->all.len; i++) {
		vec_deinit(&c->all.data[i]->insns);
		vec_deinit(&c->all.data[i]->ops);
		vec_deinit(&c->all.data[i]->blocks);
		vec_deinit(&c->all.data[i]->indirect);
		vec_deinit(&c->all.data[i]->partners);
		free(c->all.data[i]->fixed);
		loops_deinit(&c->all.data[i]->loops);
		free(c->all.data[i]);
	}
	vec_deinit(&c->all);
	names_deinit(&c->notes);
	map_deinit(&c->functions);
	if (c->tools == &c->own)
		code_tools_deinit(&c->own);
	free(c->modules);
	free(c->opened);
	free(c->problem);
	free(c);
}

struct modules *code_modules(const struct code *c)
{
	return c->tools->modules;
}

const struct names *code_notes(const struct code *c)
{
	return &c->notes;
}

uint64_t code_lifted(const struct code *c)
{
	return c->lifted;
}

const char *code_problem(struct code *c)
{
	struct err *err;

	if (c->tools->lifter || c->problem)
		return c->problem;
	err = lifter_new(&c->tools->lifter);
	if (err) {
		c->problem = xstrdup(err_message(err));
		err_free(err);
	}
	return c->problem;
}

/* ---- files ---- */

static const char *open_text(const struct dump_module *m, struct text *ret)
{
	char id[BUILD_ID_CHARS];
	struct err *err = text_open(m->path, ret);

	if (err) {
		err_free(err);
		return "its file is missing or is no program";
	}
	err = binary_build_id(m->path, id);
	if (err) {
		err_free(err);
		id[0] = '\0';
	}
	if (*m->build_id && strcmp(id, m->build_id) != 0)
		return "its file is another build";
	return NULL;
}

static void note(struct code *c, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	names_intern(&c->notes, text);
}

/* What the dump has of the file must do instead. */
static void take_from_dump(struct code *c, const struct dump_module *m, struct module_text *ret)
{
	struct text t;

	if (!text_of_dump(c->dump, m, &t)) {
		text_close(&t);
		return;
	}
	text_close(&ret->text);
	ret->text = t;
	note(c, "%s: %s; its code is taken from the dump", m->path, ret->problem);
	ret->problem = NULL;
}

const struct text *code_text(struct code *c, const struct dump_module *m, const char **why)
{
	size_t i = (size_t)(m - c->dump->modules.data);

	if (!c->opened[i]) {
		c->opened[i] = true;
		c->modules[i].problem = open_text(m, &c->modules[i].text);
		if (c->modules[i].problem)
			take_from_dump(c, m, &c->modules[i]);
	}
	*why = c->modules[i].problem;
	return *why ? NULL : &c->modules[i].text;
}

const uint8_t *code_file_bytes(struct code *c, uint64_t address, size_t *len, uint32_t *flags)
{
	const struct dump_module *m = dump_module_at(c->dump, address);
	const struct text_segment *s;
	const struct text *t;
	const char *why;

	if (!m || !(t = code_text(c, m, &why)))
		return NULL;
	s = text_segment_at(t, address - m->bias);
	if (!s)
		return NULL;
	*flags = s->flags;
	return text_bytes(t, address - m->bias, len);
}

/* ---- functions ---- */

const struct lift_op *insn_ops(const struct function *f, const struct insn *i)
{
	return f->ops.data + i->first_op;
}

static const struct lift_op *last_op(const struct function *f, const struct insn *i)
{
	return insn_ops(f, i) + i->nops - 1;
}

const struct lift_op *block_end(const struct function *f, const struct block *b)
{
	return last_op(f, &f->insns.data[b->first + b->n - 1]);
}

const struct insn *function_insn(const struct function *f, uint64_t address)
{
	size_t at = vec_upper(&f->insns, address, address);

	return at && f->insns.data[at - 1].address == address ? &f->insns.data[at - 1] : NULL;
}

const struct block *function_block(const struct function *f, uint64_t address)
{
	size_t at = vec_upper(&f->blocks, start, address);

	return at && address < f->blocks.data[at - 1].end ? &f->blocks.data[at - 1] : NULL;
}

static bool goes_on(const struct function *f, const struct insn *i)
{
	const struct lift_op *ops = insn_ops(f, i);
	const struct lift_op *end = last_op(f, i);

	for (unsigned k = 0; k < i->nops; k++)
		if (ops[k].kind == LIFT_EXIT)
			return false;
	return end->kind == LIFT_NEXT && end->w == LIFT_JUMP && !end->a &&
	       end->imm == i->address + i->length;
}

/* What the unwind table says about an address. */
static bool rule_at(struct code *c, uint64_t address, struct frame_rule *ret)
{
	const struct dump_module *m = dump_module_at(c->dump, address);
	struct module *debug;
	struct err *err = modules_get(c->tools->modules, m->path, m->build_id, &debug);

	if (err) {
		err_free(err);
		return false;
	}
	return module_frame_rule(debug, address - m->bias, ret);
}

/* The rarely executed part of a function has its own range, and begins in the middle of the frame. It
 * begins with no push and is reached by jumps alone; nobody can tell from its code. Its unwind entry
 * can: calls lead to where the frame's address is the stack pointer + 8. */
static bool is_entry(struct code *c, uint64_t low)
{
	struct frame_rule rule;

	return rule_at(c, low, &rule) && !rule.from_bp && rule.cfa_off == 8;
}

/* An entry of a table may lead to the function's rarely executed part, which lies elsewhere. */
static bool is_in_part(struct code *c, uint64_t address)
{
	const struct dump_module *m = dump_module_at(c->dump, address);
	const struct text_range *r;
	const struct text *t;
	const char *why;

	return m && (t = code_text(c, m, &why)) && (r = text_function(t, address - m->bias)) &&
	       !is_entry(c, r->low + m->bias);
}

/* False: the table ends before this entry. */
static bool add_table_entry(struct code *c, struct function *f, uint64_t to)
{
	if (to < f->low || to >= f->high)
		return is_in_part(c, to);
	if (!function_insn(f, to))
		return false;
	vec_push(&f->indirect, to);
	return true;
}

/* Tables of 32-bit offsets (relative to the table) or of 64-bit addresses. */
static void read_table(struct code *c, struct function *f, uint64_t table)
{
	size_t len, before = f->indirect.len;
	uint32_t flags;
	const uint8_t *p = code_file_bytes(c, table, &len, &flags);

	if (!p || flags & PF_X)
		return;
	for (size_t at = 0; at + 4 <= len; at += 4) {
		uint64_t to;
		int32_t offset;

		memcpy(&offset, p + at, 4);
		to = table + (uint64_t)(int64_t)offset;
		if (!add_table_entry(c, f, to))
			break;
	}
	for (size_t at = 0; f->indirect.len == before && at + 8 <= len; at += 8) {
		uint64_t to;

		if (!dump_read(c->dump, table + at, &to, 8))
			memcpy(&to, p + at, 8);
		if (!add_table_entry(c, f, to))
			break;
	}
}

static void read_tables(struct code *c, struct function *f)
{
	bool indirect = false;

	for (size_t i = 0; i < f->insns.len && !indirect; i++) {
		const struct lift_op *end = last_op(f, &f->insns.data[i]);

		indirect = end->kind == LIFT_NEXT && end->w == LIFT_JUMP && end->a;
	}
	for (size_t i = 0; indirect && i < f->ops.len; i++)
		if (f->ops.data[i].kind == LIFT_CONST && f->ops.data[i].w == 64 &&
		    f->ops.data[i].imm > 4096)
			read_table(c, f, f->ops.data[i].imm);
}

static void note_target(struct function *f, struct map *leaders, uint64_t to)
{
	if (to >= f->low && to < f->high)
		map_put(leaders, to, 1);
	else if (f->partners.len < MOST_PARTNERS)
		vec_push(&f->partners, to);
}

static void find_leaders(struct function *f, struct map *leaders)
{
	map_put(leaders, f->low, 1);
	for (size_t i = 0; i < f->indirect.len; i++)
		map_put(leaders, f->indirect.data[i], 1);
	for (size_t i = 0; i < f->insns.len; i++) {
		const struct insn *in = &f->insns.data[i];
		const struct lift_op *ops = insn_ops(f, in), *end = last_op(f, in);

		if (goes_on(f, in))
			continue;
		map_put(leaders, in->address + in->length, 1);
		for (unsigned k = 0; k < in->nops; k++)
			if (ops[k].kind == LIFT_EXIT)
				note_target(f, leaders, ops[k].imm);
		if (end->kind == LIFT_NEXT && end->w == LIFT_JUMP && !end->a)
			note_target(f, leaders, end->imm);
	}
}

static void make_blocks(struct function *f)
{
	struct map leaders = { 0 };
	struct block b = { 0 };

	find_leaders(f, &leaders);
	for (uint32_t i = 0; i < f->insns.len; i++) {
		const struct insn *in = &f->insns.data[i];

		if (b.n && map_find(&leaders, in->address)) {
			vec_push(&f->blocks, b);
			b.n = 0;
		}
		if (!b.n)
			b = (struct block){ .start = in->address, .first = i };
		b.n++;
		b.end = in->address + in->length;
	}
	if (b.n)
		vec_push(&f->blocks, b);
	map_deinit(&leaders);
}

struct entries VEC_FIELDS(struct fixed_entry);

static void add_entry(struct code *c, const struct function *f, uint64_t address,
		      struct entries *ret)
{
	struct fixed_entry e = { .address = address, .stack = { FIXED_NO, 0 } };
	struct frame_rule rule;

	if (address < f->low || address >= f->high)
		return;
	if (rule_at(c, address, &rule) && !rule.from_bp)
		e.stack = (struct fixed){ FIXED_FRAME, -(uint64_t)rule.cfa_off };
	vec_push(ret, e);
}

/* Where the code between two addresses jumps to in the function. False: it may be anywhere. */
static bool find_jumps_back(struct code *c, const struct function *f, uint64_t low, uint64_t high,
			    struct entries *ret)
{
	struct function part = { .low = low, .high = high };
	uint32_t flags;
	size_t len;
	const uint8_t *p = code_file_bytes(c, low, &len, &flags);
	bool known = p && len >= high - low && !code_problem(c);
	struct err *err = known ? lifter_lift(c->tools->lifter, low, p, high - low, &part) : NULL;

	known &= !err;
	err_free(err);
	for (size_t i = 0; known && i < part.insns.len; i++) {
		const struct lift_op *ops = insn_ops(&part, &part.insns.data[i]);
		const struct lift_op *end = last_op(&part, &part.insns.data[i]);

		for (const struct lift_op *op = ops; op < end; op++)
			if (op->kind == LIFT_EXIT)
				add_entry(c, f, op->imm, ret);
		if (end->kind == LIFT_NEXT && end->w == LIFT_JUMP && !end->a)
			add_entry(c, f, end->imm, ret);
		known = end->kind != LIFT_REFUSE &&
			!(end->kind == LIFT_NEXT && end->w == LIFT_JUMP && end->a);
	}
	vec_deinit(&part.insns);
	vec_deinit(&part.ops);
	return known;
}

/* Parts of this function that lie elsewhere: where do jumps come back from them? False: it may be anywhere. */
static bool find_entries(struct code *c, const struct function *f, struct entries *ret)
{
	struct map seen = { 0 };
	bool known = f->partners.len < MOST_PARTNERS;

	for (size_t i = 0; known && i < f->partners.len; i++) {
		const struct dump_module *m = dump_module_at(c->dump, f->partners.data[i]);
		const struct text *t;
		const struct text_range *r;
		const char *why;

		known = m && (t = code_text(c, m, &why)) &&
			(r = text_function(t, f->partners.data[i] - m->bias));
		if (!known || map_find(&seen, r->low) || is_entry(c, r->low + m->bias))
			continue;
		map_put(&seen, r->low, 1);
		known = find_jumps_back(c, f, r->low + m->bias, r->high + m->bias, ret);
	}
	map_deinit(&seen);
	return known;
}

static void find_fixed(struct code *c, struct function *f)
{
	struct entries outside = { 0 };

	f->is_part = !is_entry(c, f->low);
	if (f->is_part || !find_entries(c, f, &outside)) {
		vec_clear(&outside);
		for (size_t i = 0; i < f->blocks.len; i++)
			add_entry(c, f, f->blocks.data[i].start, &outside);
	}
	f->fixed = fixed_find(f, !f->is_part, outside.data, (uint32_t)outside.len);
	if (f->incomplete)
		memset(f->fixed, 0, f->blocks.len * sizeof(*f->fixed));
	vec_deinit(&outside);
}

/* Behind an instruction that could not be decoded nobody knows where the next one begins: from there on
 * everything is refused. */
static void refuse_rest(struct function *f, const uint8_t *code)
{
	enum { EVEX = 0x62 }; /* how instructions of AVX-512 begin */
	size_t at = 0;

	while (at < f->insns.len && !(last_op(f, &f->insns.data[at])->kind == LIFT_REFUSE &&
				      f->insns.data[at].length == 1))
		at++;
	f->incomplete = at < f->insns.len;
	f->wide = f->incomplete && code[f->insns.data[at].address - f->low] == EVEX;
	for (size_t i = at; i < f->insns.len; i++) {
		f->insns.data[i].first_op = f->insns.data[at].first_op;
		f->insns.data[i].nops = 1;
		f->insns.data[i].ntemps = 0;
	}
}

/* What ran is what the dump has, where it has it: code may be patched while it runs (probes, hooks, the runtime of a
 * language). A copy that the caller frees; NULL when the file is what ran. */
static uint8_t *patched(struct code *c, uint64_t low, const uint8_t *file, size_t len)
{
	uint8_t *copy = NULL;
	size_t there, differ = 0;

	for (size_t at = 0; at < len; at += there) {
		const uint8_t *p = dump_bytes(c->dump, low + at, &there);

		there = p ? MIN(there, len - at) : MIN(4096 - (low + at) % 4096, len - at);
		if (!p || !memcmp(p, file + at, there))
			continue;
		if (!copy)
			copy = memcpy(xmalloc(len), file, len);
		memcpy(copy + at, p, there);
		for (size_t i = 0; i < there; i++)
			differ += p[i] != file[at + i];
	}
	if (differ)
		note(c,
		     "the code at 0x%" PRIx64 " was changed while the program ran (%zu bytes "
		     "differ from the file): it is taken as the dump has it",
		     low, differ);
	return copy;
}

static struct function *lift(struct code *c, uint64_t low, uint64_t high)
{
	struct function *f = xcalloc(1, sizeof(*f));
	uint32_t flags;
	size_t len;
	const uint8_t *p = code_file_bytes(c, low, &len, &flags);
	uint8_t *copy;
	struct err *err;

	f->low = low;
	f->high = high;
	vec_push(&c->all, f);
	if (!p || len < high - low || code_problem(c))
		return NULL;
	copy = patched(c, low, p, high - low);
	err = lifter_lift(c->tools->lifter, low, copy ? copy : p, high - low, f);
	if (err) {
		err_free(err);
		free(copy);
		return NULL;
	}
	c->lifted += f->insns.len;
	refuse_rest(f, copy ? copy : p);
	free(copy);
	read_tables(c, f);
	make_blocks(f);
	find_fixed(c, f);
	loops_find(f, &f->loops);
	return f;
}

const struct function *code_function(struct code *c, uint64_t address, const char **why)
{
	const struct dump_module *m = dump_module_at(c->dump, address);
	const struct text_range *r;
	const struct text *t;
	uint64_t *slot;

	*why = "no module lies there";
	if (!m || !(t = code_text(c, m, why)))
		return NULL;
	*why = "no unwind entry covers it";
	r = text_function(t, address - m->bias);
	if (!r)
		return NULL;
	*why = "its function could not be lifted";
	slot = map_find(&c->functions, r->low + m->bias);
	if (!slot) {
		struct function *f = lift(c, r->low + m->bias, r->high + m->bias);

		slot = map_put(&c->functions, r->low + m->bias, (uint64_t)(uintptr_t)f);
	}
	return (const struct function *)(uintptr_t)*slot;
}

/* ---- ways ---- */

static void ways_in(const struct function *f, uint64_t address, struct ways *ret)
{
	bool by_table = false;

	for (size_t i = 0; i < f->indirect.len; i++)
		by_table |= f->indirect.data[i] == address;
	for (uint32_t i = 0; i < f->blocks.len; i++) {
		const struct block *b = &f->blocks.data[i];
		const struct insn *last = &f->insns.data[b->first + b->n - 1];
		const struct lift_op *ops = insn_ops(f, last), *end = block_end(f, b);
		struct way w = { .function = f, .block = i, .kind = WAY_JUMP };
		int16_t exit = 0;

		for (unsigned k = 0; k < last->nops; k++) {
			if (ops[k].kind != LIFT_EXIT)
				continue;
			w.exit = exit++;
			if (ops[k].imm == address)
				vec_push(ret, w);
		}
		w.exit = -1;
		if (end->kind == LIFT_REFUSE && b->end == address)
			vec_push(ret, w);
		if (end->kind != LIFT_NEXT || (end->w != LIFT_JUMP && end->w != LIFT_SYSCALL))
			continue;
		if (end->a ? by_table : end->imm == address)
			vec_push(ret, w);
	}
}

bool code_jumps_to(struct code *c, const struct function *f, uint64_t address, struct ways *ret)
{
	const struct function *done[64];
	size_t ndone = 0;
	const char *why;
	bool complete = !f->incomplete;

	ways_in(f, address, ret);
	for (size_t i = 0; i < f->partners.len; i++) {
		const struct function *g = code_function(c, f->partners.data[i], &why);
		bool seen = !g || g == f;

		for (size_t k = 0; k < ndone; k++)
			seen |= done[k] == g;
		if (seen)
			continue;
		done[ndone++] = g;
		ways_in(g, address, ret);
		complete &= !g->incomplete;
	}
	return complete;
}

void code_returns(const struct function *f, struct ways *ret)
{
	for (uint32_t i = 0; i < f->blocks.len; i++) {
		const struct lift_op *end = block_end(f, &f->blocks.data[i]);

		if (end->kind == LIFT_NEXT && end->w == LIFT_RETURN)
			vec_push(ret, ((struct way){ .function = f,
						     .block = i,
						     .kind = WAY_RETURN,
						     .exit = -1 }));
	}
}

const struct insn *code_call_before(struct code *c, uint64_t address, const struct function **ret)
{
	const char *why;
	const struct function *f = code_function(c, address - 1, &why);
	const struct insn *i;
	size_t at;

	if (!f)
		return NULL;
	at = vec_upper(&f->insns, address, address - 1);
	if (!at)
		return NULL;
	i = &f->insns.data[at - 1];
	*ret = f;
	return i->address + i->length == address && last_op(f, i)->kind == LIFT_NEXT &&
			       last_op(f, i)->w == LIFT_CALL
		       ? i
		       : NULL;
}

/* A jump or call through a fixed place in memory: that place, else 0. Stubs of the linkage table do
 * it, and calls of -fno-plt. */
static uint64_t slot_of(const struct function *f, const struct insn *i)
{
	const struct lift_op *ops = insn_ops(f, i), *end = last_op(f, i);

	if (end->kind != LIFT_NEXT || !end->a)
		return 0;
	for (unsigned k = 0; k < i->nops; k++)
		if (ops[k].kind == LIFT_LOAD && ops[k].dst == end->a)
			for (unsigned n = 0; n < k; n++)
				if (ops[n].dst == ops[k].a && ops[n].kind == LIFT_CONST)
					return ops[n].imm;
	return 0;
}

uint64_t code_target(struct code *c, const struct function *f, const struct insn *i)
{
	const struct lift_op *end = last_op(f, i);
	uint64_t to, slot = slot_of(f, i);

	if (end->kind == LIFT_NEXT && !end->a)
		return end->imm;
	return slot && dump_read(c->dump, slot, &to, 8) ? to : 0;
}

/* The jump of the linkage stub at an address; NULL when there is no stub. Stubs of a table lie one
 * behind the other, so one need not begin a block. */
static const struct insn *stub_jump(struct code *c, uint64_t address, const struct function **f)
{
	const char *why;
	const struct insn *i, *end;

	*f = code_function(c, address, &why);
	i = *f ? function_insn(*f, address) : NULL;
	if (!i)
		return NULL;
	end = (*f)->insns.data + (*f)->insns.len;
	for (int n = 0; n < 2 && i + 1 < end && goes_on(*f, i); n++) /* endbr64 */
		i++;
	return slot_of(*f, i) && last_op(*f, i)->w == LIFT_JUMP ? i : NULL;
}

bool code_stub(struct code *c, uint64_t address, const struct function **f, uint32_t *first,
	       uint32_t *n)
{
	const struct insn *jump = stub_jump(c, address, f);

	if (!jump)
		return false;
	*first = (uint32_t)(function_insn(*f, address) - (*f)->insns.data);
	*n = (uint32_t)(jump - (*f)->insns.data) - *first + 1;
	return true;
}

const char *code_import(struct code *c, const struct function *f, const struct insn *i)
{
	const struct lift_op *end = last_op(f, i);
	const struct dump_module *m;
	const struct text *t;
	const char *why;

	if (end->kind == LIFT_NEXT && !end->a)
		i = stub_jump(c, end->imm, &f);
	if (!i || !slot_of(f, i))
		return NULL;
	m = dump_module_at(c->dump, slot_of(f, i));
	t = m ? code_text(c, m, &why) : NULL;
	return t ? text_import(t, slot_of(f, i) - m->bias) : NULL;
}

struct imported {
	const struct dump *dump;
	uint64_t bias, address;
};

static bool holds(uint64_t slot, void *arg)
{
	const struct imported *i = arg;
	uint64_t v;

	return dump_read(i->dump, slot + i->bias, &v, 8) && v == i->address;
}

const char *code_imported(struct code *c, uint64_t address)
{
	const char *why, *name = NULL;

	for (size_t i = 0; i < c->dump->modules.len && !name; i++) {
		const struct dump_module *m = &c->dump->modules.data[i];
		const struct text *t = code_text(c, m, &why);
		struct imported x = { .dump = c->dump, .bias = m->bias, .address = address };

		name = t ? text_import_where(t, holds, &x) : NULL;
	}
	return name;
}

uint64_t code_behind_stub(struct code *c, uint64_t address)
{
	const struct function *f;
	const struct insn *i = stub_jump(c, address, &f);
	uint64_t to = i ? code_target(c, f, i) : 0;

	return to ? to : address;
}
