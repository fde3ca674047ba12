/* lift/opcodes.c - the few instructions for which VEX's answer is not the processor's.
 *
 * - Flags that the manual leaves undefined: VEX keeps them or clears them, processors do as they like. They
 *   become "some value".
 * - Segment registers stored: VEX's answer is not what a 64-bit process has in them. No compiler writes that.
 * - bt, bts, btr, btc on a register: VEX goes through the stack below the stack pointer, which the
 *   processor does not touch. We say what they do ourselves. */
#include "lift/vex.h"

enum { C = 1, P = 2, A = 4, Z = 8, S = 16, O = 32 };

struct opcode {
	bool wide, narrow; /* 64 or 16 bits */
	bool repeated;	   /* 0xf3 */
	uint8_t rex;
	bool two_bytes; /* behind 0x0f */
	uint8_t op, modrm;
};

static struct opcode decode(const uint8_t *b)
{
	struct opcode o = { 0 };

	for (;; b++) {
		if (*b == 0x66)
			o.narrow = true;
		else if (*b == 0xf3)
			o.repeated = true;
		else if (*b != 0xf2 && *b != 0x2e && *b != 0x36 && *b != 0x3e && *b != 0x26)
			break;
	}
	if ((*b & 0xf0) == 0x40)
		o.rex = *b++;
	o.wide = o.rex & 8;
	if (*b == 0x0f) {
		o.two_bytes = true;
		b++;
	}
	o.op = b[0];
	o.modrm = b[1];
	return o;
}

void undefined_flags(struct lifting *l, const uint8_t *bytes)
{
	struct opcode o = decode(bytes);
	unsigned mask = 0;

	if (!o.two_bytes && (o.op == 0xf6 || o.op == 0xf7) && (o.modrm >> 3 & 7) >= 6)
		mask = C | P | A | Z | S | O;		   /* div, idiv */
	if (o.two_bytes && (o.op == 0xbc || o.op == 0xbd)) /* bsf, bsr; tzcnt, lzcnt */
		mask = P | A | S | O | (o.repeated ? 0 : C);
	if (o.two_bytes && (o.op == 0xa3 || o.op == 0xab || o.op == 0xb3 || o.op == 0xbb ||
			    o.op == 0xba)) /* bt and its family */
		mask = P | A | S | O;
	for (unsigned i = 0; i < 6; i++)
		if (mask >> i & 1)
			emit_put(l, LIFT_CF + i, emit_opaque(l, 1));
}

bool reads_segment(const uint8_t *bytes)
{
	struct opcode o = decode(bytes);

	return !o.two_bytes && o.op == 0x8c;
}

/* A register as an instruction of this width sees it, and written back. */
static void put_register(struct lifting *l, unsigned reg, unsigned w, uint16_t v)
{
	if (w == 32)
		v = emit(l, LIFT_ZEXT, 64, v, 0);
	else if (w == 16)
		v = emit(l, LIFT_CONCAT, 64, emit_extract(l, emit_get(l, reg), 16, 48), v);
	emit_put(l, reg, v);
}

bool lift_bit_test(struct lifting *l, const uint8_t *bytes)
{
	struct opcode o = decode(bytes);
	unsigned w = o.wide ? 64 : o.narrow ? 16 : 32;
	unsigned target = (o.modrm & 7u) | (o.rex & 1u) << 3;
	unsigned index = (o.modrm >> 3 & 7u) | (o.rex & 4u) << 1;
	uint16_t v, n, one, bit;

	if (!o.two_bytes || o.modrm < 0xc0 ||
	    (o.op != 0xa3 && o.op != 0xab && o.op != 0xb3 && o.op != 0xbb))
		return false;
	v = emit_get(l, target);
	n = emit_get(l, index);
	if (w < 64) {
		v = emit_extract(l, v, 0, w);
		n = emit_extract(l, n, 0, w);
	}
	n = emit(l, LIFT_AND, w, n, emit_const(l, w, w - 1));
	bit = emit(l, LIFT_SHL, w, emit_const(l, w, 1), n);
	one = emit_extract(l, emit(l, LIFT_LSHR, w, v, n), 0, 1);
	if (o.op == 0xab) /* set */
		put_register(l, target, w, emit(l, LIFT_OR, w, v, bit));
	else if (o.op == 0xb3) /* reset */
		put_register(l, target, w,
			     emit(l, LIFT_AND, w, v,
				  emit(l, LIFT_XOR, w, bit, emit_const(l, w, ~0ull))));
	else if (o.op == 0xbb) /* complement */
		put_register(l, target, w, emit(l, LIFT_XOR, w, v, bit));
	emit_put(l, LIFT_CF, one);
	return true;
}
