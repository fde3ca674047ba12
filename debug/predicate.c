/* debug/predicate.c - from a C expression over global variables to code for sched/predicate.c.
 *
 * Recursive descent, one function per kind of operand, one loop for all binary operators (by
 * precedence). The code for an operand that has an address leaves that address on the stack; fetch()
 * makes the value of it, as late as possible: `.`, `[]` and `&` want the address. Types follow C:
 * what is smaller than int becomes int, the larger and then the unsigned type wins. A comparison is an
 * int, a pointer is an unsigned number of 8 bytes that leads somewhere.
 *
 * The first thing that is not understood ends it: everything below returns at once when c->err is set. */
#include "debug/predicate.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/locals.h"
#include "debug/types.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 48, NAME = 128 };

static const struct type int_type = { .kind = TYPE_NUMBER, .size = 4 };

/* What the code so far has left on the stack. */
struct operand {
	struct type type;
	bool is_place; /* its address, not its value */
};

struct compiler {
	const char *text, *at;
	const char *what; /* "predicate" */
	struct module *module;
	const struct scope *frames; /* NULL: global variables only */
	size_t nframes;
	struct predicate_meaning *meaning;
	struct plait_predicate *out;
	struct err *err;
	int depth;
};

static struct operand conditional(struct compiler *c);
static struct operand unary(struct compiler *c);

/* ---- errors, tokens, code ---- */

static void fail(struct compiler *c, const char *what, const char *name)
{
	if (!c->err)
		c->err = err_new(ERR_USAGE, "the %s `%s': %s%s%s", c->what, c->text, name,
				 *name ? " " : "", what);
}

static bool take(struct compiler *c, const char *token)
{
	size_t n = strlen(token);

	c->at += strspn(c->at, " \t\n");
	if (c->err || strncmp(c->at, token, n) != 0)
		return false;
	c->at += n;
	return true;
}

static void expect(struct compiler *c, const char *token)
{
	if (!c->err && !take(c, token))
		fail(c, "is missing", token);
}

static bool is_part(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

/* The last part of `a::b::c`; "" when there is no name. */
static void take_name(struct compiler *c, char ret[NAME])
{
	size_t n = 0;

	c->at += strspn(c->at, " \t\n");
	while (!isdigit((unsigned char)*c->at) && is_part(*c->at)) {
		for (n = 0; is_part(c->at[n]); n++)
			;
		snprintf(ret, NAME, "%.*s", (int)MIN(n, NAME - 1), c->at);
		c->at += n;
		if (strncmp(c->at, "::", 2) != 0)
			return;
		c->at += 2;
	}
	if (!n)
		ret[0] = 0;
}

static uint32_t emit(struct compiler *c, uint32_t op, uint32_t type, int64_t value)
{
	uint32_t n = c->out->n;

	if (n == PLAIT_PREDICATE_STEPS) {
		fail(c, "it is too long", "");
		return 0;
	}
	c->out->step[n] = (struct plait_predicate_step){ .op = op, .type = type, .value = value };
	c->out->n++;
	return n;
}

static uint32_t code_of(const struct type *t)
{
	return (uint32_t)t->size | (t->is_unsigned ? PLAIT_PREDICATE_UNSIGNED : 0);
}

static void number(struct compiler *c, int64_t value)
{
	emit(c, PLAIT_PREDICATE_NUMBER, 0, value);
}

/* ---- operands ---- */

/* The value of what has an address: arrays are pointers to their first element. */
static struct operand fetch(struct compiler *c, struct operand o)
{
	struct type inside;

	if (c->err || !o.is_place)
		return o;
	if (o.type.kind == TYPE_STRUCTURE && type_inside(&o.type, &inside))
		o.type = inside;
	if (o.type.kind == TYPE_ARRAY) {
		o.type.kind = TYPE_POINTER;
		o.type.size = 8;
		o.type.is_unsigned = true;
	} else if ((o.type.kind == TYPE_NUMBER || o.type.kind == TYPE_POINTER) && o.type.size &&
		   o.type.size <= 8) {
		emit(c, PLAIT_PREDICATE_LOAD, code_of(&o.type), 0);
	} else {
		fail(c, "something in it is neither an integer nor a pointer", "");
	}
	o.is_place = false;
	return o;
}

static struct operand value(struct compiler *c, struct operand o)
{
	o = fetch(c, o);
	if (o.type.kind == TYPE_NUMBER && o.type.size < 4)
		o.type = int_type;
	return o;
}

/* A variable as the innermost frame sees it: its own, then a global one of its module; then as its callers do. False: nobody
 * has it. */
static bool variable_in_frames(struct compiler *c, const char *name, struct operand *o)
{
	uint64_t value = 0;
	size_t i, n = 0;

	for (i = 0; i < c->nframes && !n; i++) {
		enum scope_found found =
			scope_find(&c->frames[i], name, &o->type, &o->is_place, &value);

		if (found == SCOPE_UNKNOWN)
			snprintf(c->meaning->unknown, sizeof(c->meaning->unknown), "%s", name);
		if (found != SCOPE_NONE) {
			n = 1;
			c->meaning->frame = MIN(c->meaning->frame, i);
			break;
		}
		o->is_place = true;
		n = module_variable(c->frames[i].module, name, &value, &o->type);
		value += c->frames[i].bias;
	}
	if (n > 1)
		fail(c, "is the name of several variables", name);
	number(c, (int64_t)value);
	if (!o->is_place) /* a register may hold something else above it */
		emit(c, PLAIT_PREDICATE_CONVERT, code_of(&o->type), 0);
	return n > 0;
}

static struct operand variable(struct compiler *c)
{
	struct operand o = { .type = int_type, .is_place = true };
	uint64_t offset = 0;
	char name[NAME];
	size_t n;

	take_name(c, name);
	if (!strcmp(name, "true") || !strcmp(name, "false") || !strcmp(name, "NULL")) {
		number(c, name[0] == 't');
		o.is_place = false;
		return o;
	}
	if (c->frames && *name) {
		if (!variable_in_frames(c, name, &o))
			fail(c, "is no variable that the debug information knows there", name);
		return o;
	}
	n = *name ? module_variable(c->module, name, &offset, &o.type) : 0;
	if (!*name)
		fail(c, *c->at ? "cannot be understood" : "something is missing at its end", c->at);
	else if (!n)
		fail(c,
		     "is no global variable of one piece that the debug information knows "
		     "(build with -g, perhaps with -O0)",
		     name);
	else if (n > 1)
		fail(c, "is the name of several variables", name);
	emit(c, PLAIT_PREDICATE_PLACE, 0, (int64_t)offset);
	return o;
}

static struct operand integer(struct compiler *c)
{
	struct operand o = { .type = int_type };
	char *end;
	uint64_t n = strtoull(c->at, &end, 0);
	bool hex = c->at[0] == '0', u = false, l = false;

	for (; *end && strchr("uUlL", *end); end++) {
		u |= tolower((unsigned char)*end) == 'u';
		l |= tolower((unsigned char)*end) == 'l';
	}
	if (is_part(*end) || *end == '.')
		fail(c, "is not an integer", c->at);
	c->at = end;
	o.type.size = l || n > UINT32_MAX || (n > INT32_MAX && !u && !hex) ? 8 : 4;
	o.type.is_unsigned = u || n > INT64_MAX || (hex && o.type.size == 4 && n > INT32_MAX);
	number(c, (int64_t)n);
	return o;
}

static struct operand character(struct compiler *c)
{
	static const char escapes[] = "n\nt\tr\r0\0\\\\''";
	char ch = *c->at ? *c->at++ : 0;

	if (ch == '\\' && *c->at) {
		ch = *c->at++;
		for (size_t i = 0; i + 1 < sizeof(escapes); i += 2)
			if (escapes[i] == ch) {
				ch = escapes[i + 1];
				break;
			}
	}
	expect(c, "'");
	number(c, ch);
	return (struct operand){ .type = int_type };
}

static struct operand primary(struct compiler *c)
{
	struct operand o;

	if (take(c, "(")) {
		o = conditional(c);
		expect(c, ")");
		return o;
	}
	if (take(c, "'"))
		return character(c);
	return isdigit((unsigned char)*c->at) ? integer(c) : variable(c);
}

/* What a pointer on the stack leads to. */
static struct operand target(struct compiler *c, struct operand o)
{
	struct operand ret = { .type = int_type, .is_place = true };

	if (!c->err && (o.type.kind != TYPE_POINTER || !type_target(&o.type, &ret.type)))
		fail(c, "something in it is used as a pointer and is none", "");
	return ret;
}

static struct operand member(struct compiler *c, struct operand o)
{
	struct operand ret = { .type = int_type, .is_place = true };
	uint64_t at = 0;
	bool is_bits = false;
	char name[NAME];

	take_name(c, name);
	if (c->err)
		return ret;
	if (!o.is_place || !type_member(&o.type, name, &ret.type, &at, &is_bits))
		fail(c, "is no member there", name);
	else if (is_bits)
		fail(c, "is a bit-field, which a predicate cannot read", name);
	number(c, (int64_t)at);
	emit(c, PLAIT_PREDICATE_ADD, 0, 0);
	return ret;
}

static struct operand element(struct compiler *c, struct operand o)
{
	struct operand ret = target(c, fetch(c, o));
	struct operand index = value(c, conditional(c));

	expect(c, "]");
	if (!c->err && (!ret.type.size || index.type.kind != TYPE_NUMBER))
		fail(c, "an index in it has no meaning", "");
	number(c, (int64_t)ret.type.size);
	emit(c, PLAIT_PREDICATE_MULTIPLY, 0, 0);
	emit(c, PLAIT_PREDICATE_ADD, 0, 0);
	return ret;
}

static struct operand postfix(struct compiler *c)
{
	struct operand o = primary(c);

	while (!c->err) {
		if (take(c, "->"))
			o = member(c, target(c, fetch(c, o)));
		else if (take(c, "."))
			o = member(c, o);
		else if (take(c, "["))
			o = element(c, o);
		else if (take(c, "("))
			fail(c, "it calls a function, which a predicate cannot do", "");
		else
			break;
	}
	return o;
}

/* "&x", but not the "&" of "&&". */
static struct operand address(struct compiler *c)
{
	struct operand o = unary(c);

	if (!c->err && !o.is_place)
		fail(c, "something in it has no address", "");
	o.is_place = false;
	o.type = (struct type){ .kind = TYPE_POINTER, .size = 8, .is_unsigned = true };
	return o;
}

static struct operand with_number(struct compiler *c, uint32_t op, int64_t n)
{
	struct operand o = value(c, unary(c));

	if (!c->err && o.type.kind != TYPE_NUMBER && op != PLAIT_PREDICATE_EQUAL)
		fail(c, "it reckons with a pointer", "");
	number(c, n);
	emit(c, op, code_of(&o.type), 0);
	if (op == PLAIT_PREDICATE_EQUAL)
		o.type = int_type;
	else
		emit(c, PLAIT_PREDICATE_CONVERT, code_of(&o.type), 0);
	return o;
}

static struct operand unary(struct compiler *c)
{
	struct operand o = { .type = int_type };

	if (c->err || ++c->depth > DEEPEST) {
		fail(c, "it is too deep", "");
		return o;
	}
	if (take(c, "!"))
		o = with_number(c, PLAIT_PREDICATE_EQUAL, 0);
	else if (take(c, "~"))
		o = with_number(c, PLAIT_PREDICATE_XOR, -1);
	else if (take(c, "-"))
		o = with_number(c, PLAIT_PREDICATE_MULTIPLY, -1);
	else if (take(c, "+"))
		o = value(c, unary(c));
	else if (take(c, "*"))
		o = target(c, fetch(c, unary(c)));
	else if (take(c, "&"))
		o = address(c);
	else
		o = postfix(c);
	c->depth--;
	return o;
}

/* ---- operators ---- */

enum { LOGICAL_OR = 1000, LOGICAL_AND };

/* Longer ones first where one begins another. swap: the operands change places. */
static const struct operator
{
	const char *token;
	int precedence;
	uint32_t op;
	bool swap;
}
operators[] = {
	{ "||", 1, LOGICAL_OR, false },
	{ "&&", 2, LOGICAL_AND, false },
	{ "==", 6, PLAIT_PREDICATE_EQUAL, false },
	{ "!=", 6, PLAIT_PREDICATE_UNEQUAL, false },
	{ "<<", 8, PLAIT_PREDICATE_LEFT, false },
	{ ">>", 8, PLAIT_PREDICATE_RIGHT, false },
	{ "<=", 7, PLAIT_PREDICATE_LESS_EQUAL, false },
	{ ">=", 7, PLAIT_PREDICATE_LESS, true }, /* not less */
	{ "<", 7, PLAIT_PREDICATE_LESS, false },
	{ ">", 7, PLAIT_PREDICATE_LESS_EQUAL, true }, /* not less or equal */
	{ "|", 3, PLAIT_PREDICATE_OR, false },
	{ "^", 4, PLAIT_PREDICATE_XOR, false },
	{ "&", 5, PLAIT_PREDICATE_AND, false },
	{ "+", 9, PLAIT_PREDICATE_ADD, false },
	{ "-", 9, PLAIT_PREDICATE_SUBTRACT, false },
	{ "*", 10, PLAIT_PREDICATE_MULTIPLY, false },
	{ "/", 10, PLAIT_PREDICATE_DIVIDE, false },
	{ "%", 10, PLAIT_PREDICATE_REMAINDER, false },
};

static const struct operator* take_operator(struct compiler *c, int lowest)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		const struct operator* o = & operators[i];
		const char *before = c->at;

		if (!take(c, o->token))
			continue;
		if (o->precedence >= lowest)
			return o;
		c->at = before;
		return NULL;
	}
	return NULL;
}

static struct type common_type(const struct type *a, const struct type *b)
{
	struct type t = a->size > b->size ? *a : *b;

	t.is_unsigned =
		(a->is_unsigned && a->size == t.size) || (b->is_unsigned && b->size == t.size);
	return t;
}

static bool is_comparison(uint32_t op)
{
	return op >= PLAIT_PREDICATE_LESS && op <= PLAIT_PREDICATE_UNEQUAL;
}

/* Both operands are on the stack; the first was converted only if it had to be. */
static struct operand combine(struct compiler *c, const struct operator* op, struct type left,
			      struct type right)
{
	bool shift = op->op == PLAIT_PREDICATE_LEFT || op->op == PLAIT_PREDICATE_RIGHT;
	struct operand o = { .type = shift ? left : common_type(&left, &right) };

	if (!c->err && !is_comparison(op->op) &&
	    (left.kind != TYPE_NUMBER || right.kind != TYPE_NUMBER))
		fail(c, "it reckons with a pointer; p[n] is an element", "");
	emit(c, op->op, code_of(&o.type), 0);
	if (!is_comparison(op->op)) {
		emit(c, PLAIT_PREDICATE_CONVERT, code_of(&o.type), 0);
		return o;
	}
	if (op->swap) {
		number(c, 0);
		emit(c, PLAIT_PREDICATE_EQUAL, 0, 0);
	}
	return (struct operand){ .type = int_type };
}

static struct operand binary(struct compiler *c, int lowest);

/* The right side runs only if the left one has not decided. */
static struct operand logical(struct compiler *c, const struct operator* op)
{
	uint32_t unless, over;

	unless = emit(c, PLAIT_PREDICATE_UNLESS, 0, 0);
	if (op->op == LOGICAL_OR) {
		number(c, 1);
		over = emit(c, PLAIT_PREDICATE_JUMP, 0, 0);
		c->out->step[unless].value = c->out->n;
	}
	value(c, binary(c, op->precedence + 1));
	number(c, 0);
	emit(c, PLAIT_PREDICATE_UNEQUAL, 0, 0);
	if (op->op == LOGICAL_AND) {
		over = emit(c, PLAIT_PREDICATE_JUMP, 0, 0);
		c->out->step[unless].value = c->out->n;
		number(c, 0);
	}
	c->out->step[over].value = c->out->n;
	return (struct operand){ .type = int_type };
}

static struct operand binary(struct compiler *c, int lowest)
{
	struct operand left = unary(c), right;
	const struct operator* op;

	while (!c->err && (op = take_operator(c, lowest))) {
		uint32_t convert;

		left = value(c, left);
		if (op->op >= LOGICAL_OR) {
			left = logical(c, op);
			continue;
		}
		/* -1 < 1u: the left one changes when the right one is known */
		convert = emit(c, PLAIT_PREDICATE_CONVERT, code_of(&left.type), 0);
		right = value(c, binary(c, op->precedence + 1));
		if (op->op != PLAIT_PREDICATE_LEFT && op->op != PLAIT_PREDICATE_RIGHT) {
			struct type t = common_type(&left.type, &right.type);

			c->out->step[convert].type = code_of(&t);
			emit(c, PLAIT_PREDICATE_CONVERT, code_of(&t), 0);
		}
		left = combine(c, op, left.type, right.type);
	}
	return left;
}

static struct operand conditional(struct compiler *c)
{
	struct operand o, other;
	uint32_t unless, over;

	if (++c->depth > DEEPEST)
		fail(c, "it is too deep", "");
	o = binary(c, 1);
	if (!c->err && take(c, "?")) {
		value(c, o);
		unless = emit(c, PLAIT_PREDICATE_UNLESS, 0, 0);
		o = value(c, conditional(c));
		expect(c, ":");
		over = emit(c, PLAIT_PREDICATE_JUMP, 0, 0);
		c->out->step[unless].value = c->out->n;
		other = value(c, conditional(c));
		c->out->step[over].value = c->out->n;
		o.type = common_type(&o.type, &other.type);
		emit(c, PLAIT_PREDICATE_CONVERT, code_of(&o.type), 0);
	}
	c->depth--;
	return o;
}

struct err *predicate_compile(const char *text, const char *program, struct plait_predicate *ret)
{
	struct compiler c = { .text = text, .at = text, .what = "predicate", .out = ret };
	struct modules *modules = modules_new();

	memset(ret, 0, sizeof(*ret));
	if (strlen(text) >= sizeof(ret->text))
		fail(&c, "it is too long", "");
	else
		c.err = modules_get(modules, program, NULL, &c.module);
	if (!c.err)
		value(&c, conditional(&c));
	if (!c.err && c.at[strspn(c.at, " \t\n")])
		fail(&c, "cannot be understood", c.at);
	snprintf(ret->text, sizeof(ret->text), "%s", text);
	modules_free(modules);
	if (c.err)
		ret->n = 0;
	return c.err;
}

struct err *predicate_compile_in(const char *text, const struct scope *frames, size_t nframes,
				 struct plait_predicate *ret, struct predicate_meaning *meaning)
{
	struct compiler c = { .text = text,
			      .at = text,
			      .what = "expression",
			      .out = ret,
			      .frames = frames,
			      .nframes = nframes,
			      .meaning = meaning };
	struct operand o = { 0 };

	memset(ret, 0, sizeof(*ret));
	*meaning = (struct predicate_meaning){ .frame = nframes };
	if (strlen(text) >= sizeof(ret->text))
		fail(&c, "it is too long", "");
	else
		o = conditional(&c);
	if (!c.err && c.at[strspn(c.at, " \t\n")])
		fail(&c, "cannot be understood", c.at);
	meaning->is_place = o.is_place;
	meaning->is_number = o.type.kind == TYPE_NUMBER || o.type.kind == TYPE_POINTER;
	meaning->size = o.type.size;
	meaning->is_unsigned = o.type.is_unsigned;
	return c.err;
}
