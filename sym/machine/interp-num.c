/* sym/machine/interp-num.c - arithmetic that has no single machine instruction: intrinsics, floating point,
 * long double, 128-bit integers. All concrete. */
#include "sym/machine/machine.h"

#include <math.h>
#include <string.h>

static uint64_t saturate(__int128 v, unsigned w)
{
	__int128 top = ((__int128)1 << (w - 1)) - 1, bottom = -top - 1;

	v = v > top ? top : v < bottom ? bottom : v;
	return (uint64_t)v & mask_of(w);
}

/* llvm.is.fpclass: does the value belong to one of the classes in the mask? */
static bool fp_class(uint64_t v, unsigned w, uint64_t mask)
{
	unsigned frac = w == 32 ? 23 : 52;
	uint64_t exp_mask = mask_of(w == 32 ? 8 : 11), exp = v >> frac & exp_mask,
		 m = v & mask_of(frac);
	bool neg = v >> (w - 1) & 1;
	uint64_t bit;

	if (exp == exp_mask && m)
		bit = m >> (frac - 1) ? 2 : 1; /* quiet, signalling */
	else if (exp == exp_mask)
		bit = neg ? 4 : 512;
	else if (!exp && !m)
		bit = neg ? 32 : 64;
	else if (!exp)
		bit = neg ? 16 : 128;
	else
		bit = neg ? 8 : 256;
	return mask & bit;
}

uint64_t intrin_value(const struct op *o, uint64_t a, uint64_t b, uint64_t c)
{
	unsigned w = o->w;
	uint64_t m = mask_of(w), v = 0;
	int64_t sa = sext_of(a, w), sb = sext_of(b, w);

	switch (o->aux) {
	case IN_CTPOP:
		return (uint64_t)__builtin_popcountll(a);
	case IN_CTLZ:
		return a ? (uint64_t)__builtin_clzll(a) - (64 - w) : w;
	case IN_CTTZ:
		return a ? (uint64_t)__builtin_ctzll(a) : w;
	case IN_BSWAP:
		return __builtin_bswap64(a) >> (64 - w);
	case IN_BITREVERSE:
		return __builtin_bitreverse64(a) >> (64 - w);
	case IN_ABS:
		return (sa < 0 ? 0 - a : a) & m;
	case IN_SMIN:
		return sa < sb ? a : b;
	case IN_SMAX:
		return sa > sb ? a : b;
	case IN_UMIN:
		return a < b ? a : b;
	case IN_UMAX:
		return a > b ? a : b;
	case IN_UADDSAT:
		return (unsigned __int128)a + b > m ? m : a + b;
	case IN_USUBSAT:
		return a < b ? 0 : a - b;
	case IN_SADDSAT:
		return saturate((__int128)sa + sb, w);
	case IN_SSUBSAT:
		return saturate((__int128)sa - sb, w);
	case IN_FSHL:
		c %= w;
		return (c ? a << c | b >> (w - c) : a) & m;
	case IN_FSHR:
		c %= w;
		return (c ? a << (w - c) | b >> c : b) & m;
	case IN_ISFPCLASS:
		return fp_class(a, w, b);
	default:
		BUG("intrinsic %d", o->aux);
	}
	return v;
}

bool overflow_value(const struct op *o, uint64_t a, uint64_t b, uint64_t *ret)
{
	unsigned w = o->w;
	__int128 sa = sext_of(a, w), sb = sext_of(b, w), s = 0;
	unsigned __int128 u = 0;

	switch (o->aux) {
	case IN_SADDO:
		s = sa + sb;
		break;
	case IN_SSUBO:
		s = sa - sb;
		break;
	case IN_SMULO:
		s = sa * sb;
		break;
	case IN_UADDO:
		u = (unsigned __int128)a + b;
		break;
	case IN_USUBO:
		u = (unsigned __int128)a - b;
		break;
	default:
		u = (unsigned __int128)a * b;
	}
	if (o->aux == IN_UADDO || o->aux == IN_USUBO || o->aux == IN_UMULO) {
		*ret = (uint64_t)u & mask_of(w);
		return u != *ret;
	}
	*ret = (uint64_t)s & mask_of(w);
	return s != sext_of(*ret, w);
}

static double f64(uint64_t v)
{
	double d;

	memcpy(&d, &v, 8);
	return d;
}
static float f32(uint64_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}
static uint64_t u64(double d)
{
	uint64_t v;

	memcpy(&v, &d, 8);
	return v;
}
static uint64_t u32(float f)
{
	uint64_t v = 0;

	memcpy(&v, &f, 4);
	return v;
}

uint64_t fp_value(const struct op *o, uint64_t a, uint64_t b)
{
	bool f = o->w == 32;

	switch (o->code) {
	case OP_FADD:
		return f ? u32(f32(a) + f32(b)) : u64(f64(a) + f64(b));
	case OP_FSUB:
		return f ? u32(f32(a) - f32(b)) : u64(f64(a) - f64(b));
	case OP_FMUL:
		return f ? u32(f32(a) * f32(b)) : u64(f64(a) * f64(b));
	case OP_FDIV:
		return f ? u32(f32(a) / f32(b)) : u64(f64(a) / f64(b));
	case OP_FREM:
		return f ? u32(fmodf(f32(a), f32(b))) : u64(fmod(f64(a), f64(b)));
	case OP_FNEG:
		return a ^ 1ull << (o->w - 1);
	case OP_FCMP:
		return expr_fold_fp(EX_FCMP, 1, o->w, a, b, o->aux);
	case OP_FPTOSI:
		return expr_fold_fp(EX_FTOS, o->aux, o->w, a, 0, 0);
	case OP_FPTOUI:
		return expr_fold_fp(EX_FTOU, o->aux, o->w, a, 0, 0);
	case OP_SITOFP:
		return expr_fold_fp(EX_STOF, o->aux, o->w, a, 0, 0);
	case OP_UITOFP:
		return expr_fold_fp(EX_UTOF, o->aux, o->w, a, 0, 0);
	default:
		return f ? u64(f32(a)) : u32((float)f64(a));
	}
}

uint64_t fmath_value(const struct op *o, uint64_t a, uint64_t b, uint64_t c)
{
	int64_t iy = (int64_t)(int32_t)b;

	if (o->w == 32) {
		float x = f32(a), y = f32(b), z = f32(c);

		switch (o->aux) {
#define FMATH(id, call64, call32)                                                                  \
	case FM_##id:                                                                              \
		return u32(call32);
#include "sym/ir/fmath.def"
#undef FMATH
		}
	} else {
		double x = f64(a), y = f64(b), z = f64(c);

		switch (o->aux) {
#define FMATH(id, call64, call32)                                                                  \
	case FM_##id:                                                                              \
		return u64(call64);
#include "sym/ir/fmath.def"
#undef FMATH
		}
	}
	BUG("mathematical function %d", o->aux);
}

static long double get_ld(const struct frame *f, int32_t r)
{
	long double v = 0;

	memcpy(&v, &f->r[r], 8);
	memcpy((char *)&v + 8, &f->r[r + 1], 2);
	return v;
}

static void put_ld(struct frame *f, int32_t r, long double v)
{
	f->r[r + 1] = 0;
	memcpy(&f->r[r], &v, 8);
	memcpy(&f->r[r + 1], (char *)&v + 8, 2);
}

void long_double_op(struct frame *f, const struct op *o)
{
	long double a = 0, b = 0;
	uint64_t v = f->r[o->a];
	bool un;

	if (o->code == OP_LDCONV) {
		if (o->aux == LD_TO_F32 || o->aux == LD_TO_F64 || o->aux == LD_TO_SI ||
		    o->aux == LD_TO_UI || o->aux >= LD_NEG)
			a = get_ld(f, o->a);
		switch (o->aux) {
		case LD_FROM_F32:
			put_ld(f, o->d, f32(v));
			return;
		case LD_FROM_F64:
			put_ld(f, o->d, f64(v));
			return;
		case LD_FROM_SI:
			put_ld(f, o->d, sext_of(v, o->w));
			return;
		case LD_FROM_UI:
			put_ld(f, o->d, v);
			return;
		case LD_TO_F32:
			f->r[o->d] = u32((float)a);
			return;
		case LD_TO_F64:
			f->r[o->d] = u64((double)a);
			return;
		case LD_TO_SI:
			f->r[o->d] = (uint64_t)(int64_t)a & mask_of(o->w);
			return;
		case LD_TO_UI:
			f->r[o->d] = (uint64_t)a & mask_of(o->w);
			return;
		case LD_NEG:
			put_ld(f, o->d, -a);
			return;
		default:
			put_ld(f, o->d, fabsl(a));
			return;
		}
	}
	a = get_ld(f, o->a);
	b = get_ld(f, o->b);
	if (o->code == OP_LDCMP) {
		un = isnan(a) || isnan(b);
		f->r[o->d] = un ? (o->aux & 8) != 0
				: ((o->aux & 1) && a == b) || ((o->aux & 2) && a > b) ||
					     ((o->aux & 4) && a < b);
		return;
	}
	switch (o->aux) {
	case 0:
		a += b;
		break;
	case 1:
		a -= b;
		break;
	case 2:
		a *= b;
		break;
	case 3:
		a /= b;
		break;
	default:
		a = fmodl(a, b);
	}
	put_ld(f, o->d, a);
}

typedef unsigned __int128 u128;

static u128 get_wide(const struct frame *f, int32_t r)
{
	return (u128)f->r[r + 1] << 64 | f->r[r];
}

static __int128 wide_sext(u128 v, unsigned w)
{
	return (__int128)(v << (128 - w)) >> (128 - w);
}

static void wide_compare(struct frame *f, const struct op *o, u128 a, u128 b)
{
	__int128 sa = wide_sext(a, o->w), sb = wide_sext(b, o->w);
	bool v;

	switch (o->aux) { /* LLVMIntPredicate */
	case 32:
		v = a == b;
		break;
	case 33:
		v = a != b;
		break;
	case 34:
		v = a > b;
		break;
	case 35:
		v = a >= b;
		break;
	case 36:
		v = a < b;
		break;
	case 37:
		v = a <= b;
		break;
	case 38:
		v = sa > sb;
		break;
	case 39:
		v = sa >= sb;
		break;
	case 40:
		v = sa < sb;
		break;
	default:
		v = sa <= sb;
	}
	f->r[o->d] = v;
}

void wide_op(struct frame *f, const struct op *o, bool *div0)
{
	u128 a = get_wide(f, o->a), b = get_wide(f, o->b), v = 0;
	__int128 sa = wide_sext(a, o->w), sb = wide_sext(b, o->w);

	if (o->code == OP_WCMP) {
		wide_compare(f, o, a, b);
		return;
	}
	switch (o->aux) { /* LLVMOpcode */
	case 8:
		v = a + b;
		break;
	case 10:
		v = a - b;
		break;
	case 12:
		v = a * b;
		break;
	case 14:
	case 15:
	case 17:
	case 18: /* udiv sdiv urem srem */
		if (!b) {
			*div0 = true;
			return;
		}
		if (o->aux == 14)
			v = a / b;
		else if (o->aux == 17)
			v = a % b;
		else if (sb == -1)
			v = o->aux == 15 ? 0 - a : 0;
		else
			v = (u128)(o->aux == 15 ? sa / sb : sa % sb);
		break;
	case 20:
		v = b >= o->w ? 0 : a << (unsigned)b;
		break;
	case 21:
		v = b >= o->w ? 0 : a >> (unsigned)b;
		break;
	case 22:
		v = (u128)(sa >> (b >= o->w ? o->w - 1u : (unsigned)b));
		break;
	case 23:
		v = a & b;
		break;
	case 24:
		v = a | b;
		break;
	case 25:
		v = a ^ b;
		break;
	default:
		BUG("wide operation %d", o->aux);
	}
	if (o->w < 128)
		v &= ((u128)1 << o->w) - 1;
	f->r[o->d] = (uint64_t)v;
	f->r[o->d + 1] = (uint64_t)(v >> 64);
}
