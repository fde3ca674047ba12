/* Where null pointers may come to (sym/ir/nulls.c), against runs of small random programs. */
#include "base/map.h"
#include "sym/ir/nulls.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = 16, REGISTERS = 6, CONSTANTS = 3, BYTES = 16, LOCALS = 2 };

static uint64_t rng;
static uint32_t any(uint32_t n)
{
	rng = hash_u64(rng + 1);
	return (uint32_t)(rng % n);
}

/* One function: LOCALS local variables, then moves, choices, loads and stores at offsets 0 and 8, blocks that are
 * cleared or copied. Constants are 0, 1 and the address of a global that is zero at first. */
static struct ir *random_program(void)
{
	static const uint16_t codes[] = { OP_MOV,     OP_SELECT,  OP_LOAD64, OP_LOAD64,
					  OP_STORE64, OP_STORE64, OP_MEMSET, OP_MEMCPY };
	struct ir *ir = calloc(1, sizeof(*ir));
	struct function *f = calloc(1, sizeof(*f));

	*f = (struct function){
		.name = "f", .lowered = true, .nops = OPS, .nconst = CONSTANTS, .nregs = REGISTERS
	};
	f->consts = calloc(CONSTANTS, sizeof(*f->consts));
	f->consts[1] = 1;
	f->consts[2] = object_address(1);
	f->ops = calloc(OPS, sizeof(*f->ops));
	f->src = calloc(OPS, sizeof(*f->src));
	for (uint32_t pc = 0; pc < OPS; pc++) {
		int32_t low = -CONSTANTS, all = CONSTANTS + REGISTERS;

		f->ops[pc] = (struct op){ .code = pc < LOCALS ? OP_ALLOCA
							      : codes[any(ARRAY_SIZE(codes))],
					  .d = pc < LOCALS ? (int32_t)pc : (int32_t)any(REGISTERS),
					  .a = low + (int32_t)any((uint32_t)all),
					  .b = low + (int32_t)any((uint32_t)all),
					  .imm = any(2) * 8 };
		if (f->ops[pc].code == OP_SELECT)
			f->ops[pc].imm = (uint64_t)(int64_t)(low + (int32_t)any((uint32_t)all));
		if (f->ops[pc].code == OP_MEMSET)
			f->ops[pc].a = low + (int32_t)any(2);
	}
	vec_push(&ir->functions, f);
	vec_push(&ir->globals, ((struct global){ .name = "g", .size = BYTES }));
	return ir;
}

static void free_program(struct ir *ir)
{
	struct function *f = ir->functions.data[0];

	free(f->consts);
	free(f->ops);
	free(f->src);
	free(f);
	vec_deinit(&ir->functions);
	vec_deinit(&ir->globals);
	free(ir);
}

/* A run: memory is the global and the local variables; what nobody wrote there is no null. */
struct state {
	uint64_t registers[REGISTERS], memory[LOCALS + 1][BYTES / 8];
	bool nulls[REGISTERS]; /* was 0 once */
};

static uint64_t value_of(const struct state *s, const struct function *f, int32_t r)
{
	return r < 0 ? f->consts[CONSTANTS + r] : s->registers[r];
}

static uint64_t *cell_at(struct state *s, uint64_t address, uint64_t offset)
{
	uint64_t id = address >> 32 & 0x3fffffff, at = (uint32_t)address - ADDR_BIAS + offset;

	return address & ADDR_TAG && id <= LOCALS + 1 && at < BYTES ? &s->memory[id - 1][at / 8]
								    : NULL;
}

static void set(struct state *s, int32_t r, uint64_t v)
{
	s->registers[r] = v;
	s->nulls[r] |= !v;
}

/* false: the program failed. */
static bool step(struct state *s, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc];
	uint64_t *to, *from;

	switch (o->code) {
	case OP_ALLOCA:
		set(s, o->d, object_address(2 + pc));
		return true;
	case OP_MOV:
		set(s, o->d, value_of(s, f, o->a));
		return true;
	case OP_SELECT:
		set(s, o->d, value_of(s, f, value_of(s, f, o->a) & 1 ? o->b : (int32_t)o->imm));
		return true;
	case OP_LOAD64:
		from = cell_at(s, value_of(s, f, o->a), o->imm);
		if (from)
			set(s, o->d, *from);
		return from;
	case OP_STORE64:
		to = cell_at(s, value_of(s, f, o->a), o->imm);
		if (to)
			*to = value_of(s, f, o->d);
		return to;
	default: /* eight bytes */
		to = cell_at(s, value_of(s, f, o->d), 0);
		from = o->code == OP_MEMCPY ? cell_at(s, value_of(s, f, o->a), 0) : NULL;
		if (to && o->code == OP_MEMSET)
			*to = value_of(s, f, o->a) * 0x0101010101010101;
		else if (to && from)
			*to = *from;
		return to && (from || o->code == OP_MEMSET);
	}
}

Test(nulls, whatever_is_null_in_a_run_may_be_null)
{
	unsigned seen = 0, never = 0;

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct state s = { 0 };
		struct aliases aliases;
		struct nulls nulls;
		struct ir *ir;
		const struct function *f;

		rng = seed;
		ir = random_program();
		f = ir->functions.data[0];
		memset(s.registers, 0xff, sizeof(s.registers));
		memset(s.memory[1], 0xff, sizeof(s.memory[1]) * LOCALS);
		aliases_init(&aliases, ir);
		nulls_init(&nulls, &aliases);
		for (uint32_t pc = 0; pc < OPS && step(&s, f, pc); pc++)
			;
		for (int32_t r = 0; r < REGISTERS; r++) {
			cr_assert(!s.nulls[r] || nulls_value(&nulls, f, r),
				  "seed %lu: register %d was null", seed, r);
			seen += s.nulls[r];
			never += !nulls_value(&nulls, f, r);
		}
		nulls_deinit(&nulls);
		aliases_deinit(&aliases);
		free_program(ir);
	}
	cr_assert(seen > 300 && never > 300, "%u were null, %u never are: too simple", seen, never);
}
