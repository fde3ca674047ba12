/* debug/locals.c - see locals.h.
 *
 * A variable has a location: a small program for a stack machine, which may be another one at each instruction. We run
 * it on the frame's registers and memory. What our machine does not know (a value that only the caller has, a variable
 * in several pieces, one that was optimised out) makes the variable unknown. */
#include "debug/locals.h"

#include "base/strbuf.h"
#include "debug/types.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_SCOPE = 32, STACK = 16, MOST_ELEMENTS = 8, DEEPEST_VALUE = 3, LONGEST_TEXT = 48 };

/* ---- locations ---- */

struct machine {
	const struct scope *s;
	Dwarf_Die *function; /* whose frame base it is */
	Dwarf_Addr pc;	     /* as the debug information counts */
	uint64_t stack[STACK];
	unsigned n;
	bool in_register, is_value; /* what is on top is the value, not its address */
};

static bool run(struct machine *m, const Dwarf_Op *ops, size_t n, Dwarf_Attribute *attr);

static bool push(struct machine *m, uint64_t v)
{
	if (m->n == STACK)
		return false;
	m->stack[m->n++] = v;
	return true;
}

static bool push_register(struct machine *m, unsigned number, int64_t offset)
{
	uint64_t v;

	return m->s->reg(m->s->arg, number, &v) && push(m, v + (uint64_t)offset);
}

static bool push_cfa(struct machine *m)
{
	struct frame_rule rule;

	return module_frame_rule(m->s->module, m->s->offset, &rule) &&
	       push_register(m, rule.from_bp ? 6 : 7, rule.cfa_off);
}

static bool push_frame_base(struct machine *m, int64_t offset)
{
	struct machine base = { .s = m->s, .function = m->function, .pc = m->pc };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr_integrate(m->function, DW_AT_frame_base, &attr) &&
	       dwarf_getlocation_addr(&attr, m->pc, &ops, &n, 1) == 1 && n <= 2 &&
	       ops[0].atom != DW_OP_fbreg && run(&base, ops, n, &attr) && base.n == 1 &&
	       push(m, base.stack[0] + (uint64_t)offset);
}

static bool load(struct machine *m, unsigned bytes)
{
	uint64_t v = 0;

	return m->n && bytes <= 8 && m->s->read(m->s->arg, m->stack[--m->n], &v, bytes) &&
	       push(m, v);
}

static bool push_address(struct machine *m, const Dwarf_Op *op, Dwarf_Attribute *attr)
{
	Dwarf_Attribute address;
	Dwarf_Addr at = op->number;

	if (op->atom != DW_OP_addr &&
	    (dwarf_getlocation_attr(attr, op, &address) != 0 || dwarf_formaddr(&address, &at) != 0))
		return false;
	return push(m, at + m->s->bias);
}

static bool combine(struct machine *m, unsigned atom)
{
	uint64_t a, b, r;

	if (m->n < 2)
		return false;
	b = m->stack[--m->n];
	a = m->stack[--m->n];
	switch (atom) {
	case DW_OP_plus:
		r = a + b;
		break;
	case DW_OP_minus:
		r = a - b;
		break;
	case DW_OP_mul:
		r = a * b;
		break;
	case DW_OP_and:
		r = a & b;
		break;
	case DW_OP_or:
		r = a | b;
		break;
	case DW_OP_xor:
		r = a ^ b;
		break;
	case DW_OP_shl:
		r = b < 64 ? a << b : 0;
		break;
	case DW_OP_shr:
		r = b < 64 ? a >> b : 0;
		break;
	case DW_OP_shra:
		r = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		break;
	default:
		return false;
	}
	return push(m, r);
}

static bool perform(struct machine *m, const Dwarf_Op *op, Dwarf_Attribute *attr)
{
	unsigned a = op->atom;

	if (a >= DW_OP_lit0 && a <= DW_OP_lit31)
		return push(m, a - DW_OP_lit0);
	if (a >= DW_OP_reg0 && a <= DW_OP_reg31) {
		m->in_register = true;
		return push_register(m, a - DW_OP_reg0, 0);
	}
	if (a >= DW_OP_breg0 && a <= DW_OP_breg31)
		return push_register(m, a - DW_OP_breg0, (int64_t)op->number);
	if (a >= DW_OP_const1u && a <= DW_OP_consts)
		return push(m, op->number);
	switch (a) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return push_address(m, op, attr);
	case DW_OP_fbreg:
		return push_frame_base(m, (int64_t)op->number);
	case DW_OP_call_frame_cfa:
		return push_cfa(m);
	case DW_OP_deref:
		return load(m, 8);
	case DW_OP_deref_size:
		return load(m, (unsigned)op->number);
	case DW_OP_plus_uconst:
		return m->n && push(m, m->stack[--m->n] + op->number);
	case DW_OP_dup:
		return m->n && push(m, m->stack[m->n - 1]);
	case DW_OP_neg:
		return m->n && push(m, -m->stack[--m->n]);
	case DW_OP_not:
		return m->n && push(m, ~m->stack[--m->n]);
	case DW_OP_nop:
		return true;
	case DW_OP_stack_value:
		m->is_value = true;
		return true;
	default:
		return combine(m, a);
	}
}

static bool run(struct machine *m, const Dwarf_Op *ops, size_t n, Dwarf_Attribute *attr)
{
	for (size_t i = 0; i < n; i++)
		if (m->in_register || m->is_value || !perform(m, &ops[i], attr))
			return false;
	return m->n > 0;
}

/* Without optimisation a variable has one place on the stack for all of its function, also while the first instructions
 * are still making the frame. They end where the line table has its second row. */
static bool is_in_prologue(Dwarf_Die *function, Dwarf_Addr pc)
{
	Dwarf_Addr low, at;
	Dwarf_Die unit;
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_lowpc(function, &low) != 0 || pc < low ||
	    !dwarf_diecu(function, &unit, NULL, NULL) || dwarf_getsrclines(&unit, &lines, &n) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &at) == 0 && at > low)
			return pc < at;
	return false;
}

/* gcc names several values of a variable at one instruction, one for each statement that it belongs to. Nobody knows which
 * one the user means. */
static bool is_ambiguous(Dwarf_Attribute *attr, Dwarf_Addr pc)
{
	Dwarf_Addr base, start, end;
	Dwarf_Op *ops;
	ptrdiff_t at = 0;
	size_t n;

	if (dwarf_whatform(attr) == DW_FORM_exprloc)
		return false;
	while ((at = dwarf_getlocations(attr, at, &base, &start, &end, &ops, &n)) > 0)
		if (start == pc && end == pc)
			return true;
	return false;
}

/* Where a variable is. False: not known at this instruction. */
static bool locate(const struct scope *s, Dwarf_Die *function, Dwarf_Addr pc, Dwarf_Die *die,
		   bool *is_place, uint64_t *value)
{
	struct machine m = { .s = s, .function = function, .pc = pc };
	Dwarf_Attribute attr;
	Dwarf_Word constant;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_attr_integrate(die, DW_AT_const_value, &attr) &&
	    dwarf_formudata(&attr, &constant) == 0) {
		*is_place = false;
		*value = constant;
		return true;
	}
	if (!dwarf_attr_integrate(die, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 || is_ambiguous(&attr, pc) ||
	    !run(&m, ops, n, &attr))
		return false;
	*is_place = !m.in_register && !m.is_value;
	*value = m.stack[m.n - 1];
	return !*is_place || ops[0].atom != DW_OP_fbreg ||
	       dwarf_whatform(&attr) != DW_FORM_exprloc || !is_in_prologue(function, pc);
}

/* ---- scopes ---- */

struct chain {
	Dwarf_Die scopes[DEEPEST_SCOPE]; /* [0] is the function */
	size_t n, inner;		 /* inner: the innermost function, which may be inlined */
	Dwarf_Addr pc;
};

static bool chain_of(const struct scope *s, struct chain *c)
{
	Dwarf_Addr bias;

	c->n = module_scopes(s->module, s->offset, c->scopes, DEEPEST_SCOPE, &bias);
	c->pc = s->offset + s->module->bias - bias;
	c->inner = 0;
	for (size_t i = 1; i < c->n; i++)
		if (dwarf_tag(&c->scopes[i]) == DW_TAG_inlined_subroutine)
			c->inner = i;
	return c->n > 0;
}

static bool is_variable(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && dwarf_diename(die);
}

static bool type_of_variable(Dwarf_Die *die, struct type *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type))
		return false;
	*ret = type_of_die(&type);
	return true;
}

enum scope_found scope_find(const struct scope *s, const char *name, struct type *type,
			    bool *is_place, uint64_t *value)
{
	struct chain c;

	if (!chain_of(s, &c))
		return SCOPE_NONE;
	for (size_t i = c.n; i-- > 0;) {
		Dwarf_Die die;

		if (dwarf_child(&c.scopes[i], &die) != 0)
			continue;
		do
			if (is_variable(&die) && strcmp(dwarf_diename(&die), name) == 0 &&
			    type_of_variable(&die, type))
				return locate(s, &c.scopes[0], c.pc, &die, is_place, value)
					       ? SCOPE_FOUND
					       : SCOPE_UNKNOWN;
		while (dwarf_siblingof(&die, &die) == 0);
	}
	return SCOPE_NONE;
}

/* ---- values ---- */

/* What is being written: bytes at an address, or a value in a register. */
struct bytes {
	const struct scope *s;
	bool is_place;
	uint64_t at;
};

static bool fetch(const struct bytes *b, uint64_t offset, uint64_t size, uint64_t *ret)
{
	*ret = 0;
	if (size == 0 || size > 8)
		return false;
	if (b->is_place)
		return b->s->read(b->s->arg, b->at + offset, ret, size);
	if (offset + size > 8)
		return false;
	*ret = b->at >> 8 * offset & (size == 8 ? UINT64_MAX : (1ull << 8 * size) - 1);
	return true;
}

static void add_quoted(struct strbuf *out, const char *text, size_t n)
{
	strbuf_addc(out, '"');
	for (size_t i = 0; i < n && text[i]; i++)
		if (text[i] >= ' ' && text[i] < 127 && text[i] != '"' && text[i] != '\\')
			strbuf_addc(out, text[i]);
		else
			strbuf_addf(out, "\\%03o", (unsigned char)text[i]);
	strbuf_addc(out, '"');
}

/* The text that a pointer to characters leads to; what cannot be read is left out. */
static void add_pointed_text(const struct scope *s, const struct type *t, uint64_t v,
			     struct strbuf *out)
{
	char text[LONGEST_TEXT + 1] = "";
	struct type to;
	size_t n = 0;

	if (!v || !type_target(t, &to) || to.kind != TYPE_NUMBER || to.size != 1)
		return;
	while (n < LONGEST_TEXT && s->read(s->arg, v + n, &text[n], 1) && text[n])
		n++;
	if (n) {
		strbuf_addc(out, ' ');
		add_quoted(out, text, n);
	}
}

static bool add_value(const struct bytes *b, uint64_t offset, const struct type *t, int depth,
		      struct strbuf *out);

static bool add_array(const struct bytes *b, uint64_t offset, const struct type *t, int depth,
		      struct strbuf *out)
{
	char text[LONGEST_TEXT];
	struct type to;
	bool known = true;
	uint64_t n;

	if (!type_target(t, &to) || !to.size || !t->size) {
		strbuf_adds(out, "?");
		return false;
	}
	n = t->size / to.size;
	if (to.kind == TYPE_NUMBER && to.size == 1 && b->is_place &&
	    b->s->read(b->s->arg, b->at + offset, text, MIN(n, (uint64_t)LONGEST_TEXT))) {
		add_quoted(out, text, MIN(n, (uint64_t)LONGEST_TEXT));
		return true;
	}
	strbuf_addc(out, '{');
	for (uint64_t i = 0; i < MIN(n, (uint64_t)MOST_ELEMENTS); i++) {
		strbuf_adds(out, i ? ", " : "");
		known &= add_value(b, offset + i * to.size, &to, depth + 1, out);
	}
	strbuf_adds(out, n > MOST_ELEMENTS ? ", ...}" : "}");
	return known;
}

static bool add_structure(const struct bytes *b, uint64_t offset, const struct type *t, int depth,
			  struct strbuf *out)
{
	Dwarf_Die whole = t->die, die;
	bool known = true, first = true;

	strbuf_addc(out, '{');
	if (dwarf_child(&whole, &die) == 0)
		do {
			Dwarf_Attribute attr;
			Dwarf_Word at = 0;
			struct type member;

			if (dwarf_tag(&die) != DW_TAG_member || !dwarf_diename(&die) ||
			    dwarf_hasattr(&die, DW_AT_external) || !type_of_variable(&die, &member))
				continue;
			strbuf_addf(out, "%s%s = ", first ? "" : ", ", dwarf_diename(&die));
			first = false;
			if (dwarf_attr(&die, DW_AT_data_member_location, &attr))
				dwarf_formudata(&attr, &at);
			if (dwarf_hasattr(&die, DW_AT_bit_size)) {
				strbuf_adds(out, "?");
				known = false;
			} else {
				known &= add_value(b, offset + at, &member, depth + 1, out);
			}
		} while (dwarf_siblingof(&die, &die) == 0);
	strbuf_addc(out, '}');
	return known;
}

/* False: some of it is not known. */
static bool add_value(const struct bytes *b, uint64_t offset, const struct type *t, int depth,
		      struct strbuf *out)
{
	uint64_t v;

	if (t->kind == TYPE_ARRAY || t->kind == TYPE_STRUCTURE) {
		if (depth >= DEEPEST_VALUE) {
			strbuf_adds(out, "{...}");
			return true;
		}
		return t->kind == TYPE_ARRAY ? add_array(b, offset, t, depth, out)
					     : add_structure(b, offset, t, depth, out);
	}
	if (!fetch(b, offset, t->size, &v)) {
		strbuf_adds(out, "?");
		return false;
	}
	if (t->kind == TYPE_NUMBER && t->is_unsigned)
		strbuf_addf(out, "%" PRIu64, v);
	else if (t->kind == TYPE_NUMBER)
		strbuf_addf(out, "%" PRId64,
			    (int64_t)(v << (64 - 8 * t->size)) >> (64 - 8 * t->size));
	else
		strbuf_addf(out, "0x%" PRIx64, v);
	if (t->kind == TYPE_POINTER && !t->of_array)
		add_pointed_text(b->s, t, v, out);
	return true;
}

bool scope_add_value(const struct scope *s, const struct type *t, bool is_place, uint64_t value,
		     struct strbuf *out)
{
	struct bytes b = { s, is_place, value };

	return add_value(&b, 0, t, 0, out);
}

static bool is_listed(const struct locals *l, const char *name)
{
	for (size_t i = 0; i < l->len; i++)
		if (strcmp(l->data[i].name, name) == 0)
			return true;
	return false;
}

void scope_locals(const struct scope *s, struct locals *ret)
{
	struct chain c;

	if (!chain_of(s, &c))
		return;
	for (size_t i = c.n; i-- > c.inner;) {
		Dwarf_Die die;

		if (dwarf_child(&c.scopes[i], &die) != 0)
			continue;
		do {
			struct strbuf text = { 0 };
			struct type type;
			struct local l = { 0 };
			uint64_t value;
			bool is_place;

			if (!is_variable(&die) || is_listed(ret, dwarf_diename(&die)) ||
			    !type_of_variable(&die, &type))
				continue;
			if (locate(s, &c.scopes[0], c.pc, &die, &is_place, &value))
				l.known = scope_add_value(s, &type, is_place, value, &text);
			else
				strbuf_adds(&text, "?");
			l.name = xstrdup(dwarf_diename(&die));
			l.text = strbuf_detach(&text);
			vec_push(ret, l);
		} while (dwarf_siblingof(&die, &die) == 0);
	}
}

/* Does this variable lie around the address? */
static bool lies_around(const struct scope *s, struct chain *c, Dwarf_Die *die, uint64_t address,
			uint64_t *base, uint64_t *size)
{
	struct type type;
	bool is_place;

	if (!is_variable(die) || !type_of_variable(die, &type) || !type.size ||
	    !locate(s, &c->scopes[0], c->pc, die, &is_place, base) || !is_place)
		return false;
	*size = type.size;
	return address - *base < type.size;
}

bool scope_local_at(const struct scope *s, uint64_t address, uint64_t *base, uint64_t *size,
		    struct strbuf *name)
{
	struct chain c;

	if (!chain_of(s, &c))
		return false;
	for (size_t i = c.n; i-- > 0;) {
		Dwarf_Attribute attr;
		Dwarf_Die die, type;

		if (dwarf_child(&c.scopes[i], &die) != 0)
			continue;
		do {
			if (!lies_around(s, &c, &die, address, base, size))
				continue;
			strbuf_adds(name, dwarf_diename(&die));
			if (dwarf_attr_integrate(&die, DW_AT_type, &attr) &&
			    dwarf_formref_die(&attr, &type))
				type_add_path(&type, address - *base, name);
			return true;
		} while (dwarf_siblingof(&die, &die) == 0);
	}
	return false;
}

void locals_deinit(struct locals *l)
{
	for (size_t i = 0; i < l->len; i++) {
		free(l->data[i].name);
		free(l->data[i].text);
	}
	vec_deinit(l);
}
