/* lift/state.c - VEX's guest state is our registers.
 *
 * VEX names registers by their offset in VexGuestAMD64State and reads and writes parts of them (%al,
 * %ah, the low half of %xmm0). Parts become extracts and concatenations here, so that whoever runs the
 * operations knows whole registers only. What we do not follow (x87, rounding modes) reads as "some
 * value", and writing it has no effect. */
#include "lift/vex.h"

#include <stddef.h>

#define OFF(f) ((int)offsetof(VexGuestAMD64State, guest_##f))

unsigned type_parts(IRType type, unsigned *w)
{
	switch (type) {
	case Ity_I1:
		return *w = 1;
	case Ity_I8:
		return *w = 8, 1;
	case Ity_I16:
	case Ity_F16:
		return *w = 16, 1;
	case Ity_I32:
	case Ity_F32:
	case Ity_D32:
		return *w = 32, 1;
	case Ity_I128:
	case Ity_V128:
	case Ity_F128:
	case Ity_D128:
		return *w = 64, 2;
	case Ity_V256:
		return *w = 64, 4;
	default:
		return *w = 64, 1;
	}
}

/* Our register at an offset, and which byte of it; -1 when there is none. */
static int register_at(int offset, unsigned *byte)
{
	if (offset >= OFF(RAX) && offset < OFF(RAX) + 16 * 8) {
		*byte = (unsigned)(offset - OFF(RAX)) % 8;
		return LIFT_RAX + (offset - OFF(RAX)) / 8;
	}
	if (offset >= OFF(YMM0) && offset < OFF(YMM16)) {
		*byte = (unsigned)(offset - OFF(YMM0)) % 8;
		return LIFT_YMM + (offset - OFF(YMM0)) / 8;
	}
	*byte = 0;
	if (offset == OFF(FS_CONST))
		return LIFT_FS;
	if (offset == OFF(GS_CONST))
		return LIFT_GS;
	return -1;
}

struct value state_get(struct lifting *l, int offset, IRType type)
{
	unsigned w, n = type_parts(type, &w), byte;
	struct value v = { .n = (uint8_t)n, .w = (uint8_t)w };

	if (offset == OFF(DFLAG)) {
		v.part[0] = emit_ite(l, 64, emit_get(l, LIFT_DF), emit_const(l, 64, ~0ull),
				     emit_const(l, 64, 1));
		return v;
	}
	for (unsigned i = 0; i < n; i++) {
		int r = register_at(offset + (int)i * 8, &byte);

		if (r < 0 || byte * 8 + w > 64)
			v.part[i] = emit_opaque(l, w);
		else if (w == 64)
			v.part[i] = emit_get(l, (unsigned)r);
		else
			v.part[i] = emit_extract(l, emit_get(l, (unsigned)r), byte * 8, w);
	}
	return v;
}

static void put_part(struct lifting *l, unsigned r, unsigned low, unsigned w, uint16_t part)
{
	uint16_t old, whole = part;
	unsigned high = 64 - low - w;

	if (w < 64) {
		old = emit_get(l, r);
		if (low)
			whole = emit(l, LIFT_CONCAT, low + w, part, emit_extract(l, old, 0, low));
		if (high)
			whole = emit(l, LIFT_CONCAT, 64, emit_extract(l, old, low + w, high),
				     whole);
	}
	emit_put(l, r, whole);
}

void state_put(struct lifting *l, int offset, struct value v, IRExpr *source)
{
	unsigned byte;

	if (offset == OFF(CC_OP)) {
		l->cc_op = source;
		l->thunk = true;
		return;
	}
	if (offset == OFF(CC_DEP1) || offset == OFF(CC_DEP2) || offset == OFF(CC_NDEP)) {
		*(offset == OFF(CC_DEP1)   ? &l->dep1
		  : offset == OFF(CC_DEP2) ? &l->dep2
					   : &l->ndep) = v.part[0];
		return;
	}
	if (offset == OFF(DFLAG)) {
		emit_put(l, LIFT_DF, emit_extract(l, v.part[0], 63, 1));
		return;
	}
	for (unsigned i = 0; i < v.n; i++) {
		int r = register_at(offset + (int)i * 8, &byte);

		if (r >= 0 && byte * 8 + v.w <= 64)
			put_part(l, (unsigned)r, byte * 8, v.w, v.part[i]);
	}
}

void state_forget(struct lifting *l, int offset, int size)
{
	unsigned byte;

	for (int at = offset; at < offset + size; at += 8) {
		int r = register_at(at, &byte);

		if (r >= 0)
			emit_put(l, (unsigned)r, emit_opaque(l, 64));
	}
}
