/* test/unit/lift-forms.c - see lift-forms.h. Legacy and VEX encodings; others count as one form. */
#include "lift-forms.h"

#include <stddef.h>

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

/* Prefixes and opcode as the processor reads them. */
struct encoding {
	unsigned at; /* of the byte behind the opcode */
	unsigned
		prefixes; /* 1: 66, 2: f2, 4: f3, 8: lock, 16: a segment, 32: 64 bits, 64: VEX, 128: 256 bits */
	unsigned map, op;
};

static unsigned prefix_bit(uint8_t b)
{
	switch (b) {
	case 0x66:
		return 1;
	case 0xf2:
		return 2;
	case 0xf3:
		return 4;
	case 0xf0:
		return 8;
	case 0x64:
	case 0x65:
		return 16;
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x26:
	case 0x67:
		return 256;
	default:
		return 0;
	}
}

static void read_vex(struct encoding *e, const uint8_t *b)
{
	static const unsigned implied[] = { 0, 1, 4, 2 };
	bool shorter = b[e->at] == 0xc5;
	uint8_t last = shorter ? b[e->at + 1] : b[e->at + 2];

	e->map = shorter ? MAP_0F : b[e->at + 1] & 31u;
	e->prefixes |= 64 | implied[last & 3] | (last & 4 ? 128u : 0);
	if (!shorter && last & 0x80)
		e->prefixes |= 32;
	e->at += shorter ? 2 : 3;
	e->op = b[e->at++];
}

static struct encoding read_encoding(const uint8_t *b, unsigned length)
{
	struct encoding e = { 0 };

	while (e.at + 1 < length && prefix_bit(b[e.at]))
		e.prefixes |= prefix_bit(b[e.at++]) & 255;
	if (e.at + 3 < length && (b[e.at] == 0xc5 || b[e.at] == 0xc4)) {
		read_vex(&e, b);
		return e;
	}
	if ((b[e.at] & 0xf0) == 0x40 && e.at + 1 < length)
		e.prefixes |= b[e.at++] & 8 ? 32u : 0;
	e.op = b[e.at++];
	if (e.op == 0x0f && e.at < length) {
		e.map = MAP_0F;
		e.op = b[e.at++];
		if ((e.op == 0x38 || e.op == 0x3a) && e.at < length) {
			e.map = e.op == 0x38 ? MAP_0F38 : MAP_0F3A;
			e.op = b[e.at++];
		}
	}
	return e;
}

static bool is_in(unsigned op, const uint8_t *ranges, size_t n)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		if (op >= ranges[i] && op <= ranges[i + 1])
			return true;
	return false;
}

static bool has_modrm(const struct encoding *e)
{
	static const uint8_t one[] = { 0x62, 0x63, 0x69, 0x69, 0x6b, 0x6b, 0x80, 0x8f, 0xc0, 0xc1,
				       0xc6, 0xc7, 0xd0, 0xd3, 0xd8, 0xdf, 0xf6, 0xf7, 0xfe, 0xff };
	static const uint8_t none[] = { 0x05, 0x0b, 0x30, 0x37, 0x77, 0x77, 0x80,
					0x8f, 0xa0, 0xa2, 0xa8, 0xaa, 0xc8, 0xcf };

	if (e->map == MAP_ONE)
		return (e->op < 0x40 && (e->op & 7) < 4) || is_in(e->op, one, sizeof(one));
	return e->map != MAP_0F || !is_in(e->op, none, sizeof(none));
}

/* The opcode goes on in three bits of modrm. */
static bool is_group(const struct encoding *e)
{
	static const uint8_t one[] = { 0x80, 0x83, 0x8f, 0x8f, 0xc0, 0xc1, 0xc6, 0xc7,
				       0xd0, 0xd3, 0xd8, 0xdf, 0xf6, 0xf7, 0xfe, 0xff };
	static const uint8_t two[] = { 0x00, 0x01, 0x18, 0x18, 0x1e, 0x1f, 0x71,
				       0x73, 0xae, 0xae, 0xba, 0xba, 0xc7, 0xc7 };

	if (e->map == MAP_ONE)
		return is_in(e->op, one, sizeof(one));
	if (e->map == MAP_0F)
		return is_in(e->op, two, sizeof(two));
	return e->map == MAP_0F38 && e->op == 0xf3; /* blsr and its family */
}

/* The opcode's last three bits name a register. */
static bool names_register(const struct encoding *e)
{
	static const uint8_t one[] = { 0x50, 0x5f, 0x90, 0x97, 0xb0, 0xbf };

	return e->map == MAP_ONE ? is_in(e->op, one, sizeof(one))
				 : e->map == MAP_0F && e->op >= 0xc8 && e->op <= 0xcf;
}

struct form form_of(const uint8_t *bytes, unsigned length)
{
	struct encoding e = read_encoding(bytes, length);
	struct form f = { 0 };
	uint8_t modrm;

	f.key = e.prefixes | (uint64_t)e.map << 8 |
		(uint64_t)(names_register(&e) ? e.op & ~7u : e.op) << 16;
	if (!has_modrm(&e) || e.at >= length)
		return f;
	modrm = bytes[e.at];
	f.modrm = e.at;
	f.relative = (modrm & 0xc7) == 5;
	f.key |= (modrm >= 0xc0 ? 1ull : 2ull) << 32;
	if (is_group(&e))
		f.key |= (uint64_t)(modrm >> 3 & 7) << 40;
	return f;
}
