/* Distances to a stack and to operations (sym/ir/reach.c), and what can still come (sym/ir/ahead.c), against a search over
 * all stacks of small random programs. */
#include "base/map.h"
#include "sym/ir/ahead.h"
#include "sym/ir/ir.h"
#include "sym/ir/reach.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 4, OPS = 9, DEPTH = FUNCTIONS };

static uint64_t rng;
static uint32_t any(uint32_t n)
{
	rng = hash_u64(rng + 1);
	return (uint32_t)(rng % n);
}

/* Functions call later ones only, so stacks are at most DEPTH deep. Two operations share a line. */
static struct ir *random_program(void)
{
	struct ir *ir = calloc(1, sizeof(*ir));

	vec_add(&ir->places);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct function *f = calloc(1, sizeof(*f));
		char name[8];

		snprintf(name, sizeof(name), "f%u", i);
		*f = (struct function){
			.name = strdup(name), .index = i, .lowered = true, .nops = OPS
		};
		f->ops = calloc(OPS, sizeof(*f->ops));
		f->src = calloc(OPS, sizeof(*f->src));
		for (uint32_t pc = 0; pc < OPS; pc++) {
			uint32_t what = any(10);

			f->ops[pc].code = OP_MOV;
			if (pc == OPS - 1 || what == 0) {
				f->ops[pc].code = OP_RET;
			} else if (what < 4) {
				f->ops[pc].code = OP_BR;
				f->ops[pc].imm = any(OPS) | (uint64_t)any(OPS) << 32;
			} else if (what < 8 && i + 1 < FUNCTIONS) {
				f->ops[pc].code = OP_CALL;
				f->ops[pc].b = (int32_t)(i + 1 + any(FUNCTIONS - i - 1));
			} else if (what == 8 && any(3) == 0) {
				f->ops[pc].code = OP_UNREACHABLE;
			}
			vec_push(&ir->places, ((struct ir_place){ names_intern(&ir->names, name),
								  pc / 2 + 1, 0 }));
			f->src[pc].place = (uint32_t)ir->places.len - 1;
		}
		vec_push(&ir->functions, f);
	}
	return ir;
}

static void free_program(struct ir *ir)
{
	for (size_t i = 0; i < ir->functions.len; i++) {
		free((char *)ir->functions.data[i]->name);
		free(ir->functions.data[i]->ops);
		free(ir->functions.data[i]->src);
		free(ir->functions.data[i]);
	}
	vec_deinit(&ir->functions);
	vec_deinit(&ir->places);
	names_deinit(&ir->names);
	free(ir);
}

/* ---- every stack, breadth first ---- */

struct deep {
	uint32_t n;
	struct reach_frame frames[DEPTH];
};

static uint64_t key_of(const struct deep *s)
{
	uint64_t key = s->n;

	for (uint32_t i = 0; i < s->n; i++)
		key = key * 64 + s->frames[i].function * OPS + s->frames[i].pc + 1;
	return key;
}

/* Inside a call at the goal's innermost line counts: libraries have frames of their own there. */
static bool is_goal(const struct ir *ir, const struct deep *s, const struct sym_point *goal,
		    uint32_t n)
{
	if (s->n < n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t pc = s->frames[i].pc - (i + 1 < s->n);
		const struct function *f = ir->functions.data[s->frames[i].function];

		if (strcmp(f->name, goal[i].function) != 0 ||
		    (goal[i].line && pc / 2 + 1 != goal[i].line)) /* line 0: any */
			return false;
	}
	return true;
}

static uint32_t next_of(const struct ir *ir, const struct deep *s, struct deep *ret)
{
	const struct reach_frame *top = &s->frames[s->n - 1];
	const struct function *f = ir->functions.data[top->function];
	const struct op *o = &f->ops[top->pc];
	uint32_t targets[4], n;

	ret[0] = ret[1] = *s;
	if (o->code == OP_RET) {
		ret[0].n--;
		return s->n > 1;
	}
	if (o->code == OP_CALL) {
		ret[0].frames[s->n - 1].pc++;
		ret[0].frames[ret[0].n++] = (struct reach_frame){ (uint32_t)o->b, 0 };
		return 1;
	}
	n = op_successors(ir, f, top->pc, targets, 4);
	for (uint32_t i = 0; i < n; i++)
		ret[i].frames[s->n - 1].pc = targets[i];
	return n;
}

static uint32_t brute(const struct ir *ir, const struct deep *start, const struct sym_point *goal,
		      uint32_t ngoal)
{
	VEC(struct deep) queue = { 0 };
	VEC(uint32_t) cost = { 0 };
	struct map seen = { 0 };
	uint32_t found = REACH_NEVER;

	vec_push(&queue, *start);
	vec_push(&cost, 0);
	map_put(&seen, key_of(start), 1);
	for (size_t i = 0; i < queue.len && found == REACH_NEVER; i++) {
		struct deep now = queue.data[i], next[2];
		uint32_t n;

		if (is_goal(ir, &now, goal, ngoal))
			found = cost.data[i];
		n = next_of(ir, &now, next);
		for (uint32_t k = 0; k < n; k++) {
			size_t known = seen.len;

			map_put(&seen, key_of(&next[k]), 1);
			if (seen.len == known)
				continue;
			vec_push(&queue, next[k]);
			vec_push(&cost, cost.data[i] + 1);
		}
	}
	vec_deinit(&queue);
	vec_deinit(&cost);
	map_deinit(&seen);
	return found;
}

/* A stack that a walk from the beginning comes to. */
static struct deep random_stack(const struct ir *ir)
{
	struct deep s = { .n = 1 }, next[2];

	for (uint32_t steps = any(30); steps > 0; steps--) {
		uint32_t n = next_of(ir, &s, next);

		if (!n)
			break;
		s = next[any(n)];
	}
	return s;
}

Test(reach, against_every_stack)
{
	unsigned never = 0, far = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct sym_point goal[DEPTH];
		struct deep to;
		struct ir *ir;
		struct reach r;

		rng = seed;
		ir = random_program();
		to = random_stack(ir);
		for (uint32_t i = 0; i < to.n; i++)
			goal[i] =
				(struct sym_point){ ir->functions.data[to.frames[i].function]->name,
						    (to.frames[i].pc - (i + 1 < to.n)) / 2 + 1 };
		if (!any(4))
			goal[to.n - 1].line = 0;
		cr_assert(reach_init(&r, ir, goal, to.n), "seed %lu: the goal is there", seed);
		for (unsigned k = 0; k < 20; k++) {
			struct deep from = random_stack(ir);
			uint32_t want = brute(ir, &from, goal, to.n);
			bool at;
			uint32_t got = reach_distance(&r, from.frames, from.n, &at);

			cr_assert_eq(got, want, "seed %lu, stack %u: %u, and %u by search", seed, k,
				     got, want);
			never += want == REACH_NEVER;
			far += want != REACH_NEVER && want > 3;
		}
		reach_deinit(&r);
		free_program(ir);
	}
	cr_assert(never > 50 && far > 50, "%u never, %u far: the programs are too simple", never,
		  far);
}

Test(reach, another_program)
{
	struct sym_point goal[] = { { "nobody", 1 } };
	struct reach r;
	struct ir *ir;

	rng = 7;
	ir = random_program();
	cr_assert(!reach_init(&r, ir, goal, 1));
	reach_deinit(&r);
	free_program(ir);
}

/* The operations at which some thread of control from here can be, a bit for each. */
static uint64_t reached_from(const struct ir *ir, const struct deep *start)
{
	VEC(struct deep) queue = { 0 };
	struct map seen = { 0 };
	uint64_t ret = 0;

	vec_push(&queue, *start);
	map_put(&seen, key_of(start), 1);
	for (size_t i = 0; i < queue.len; i++) {
		struct deep now = queue.data[i], next[2];
		uint32_t n = next_of(ir, &now, next);

		ret |= 1ull << (now.frames[now.n - 1].function * OPS + now.frames[now.n - 1].pc);
		for (uint32_t k = 0; k < n; k++) {
			size_t known = seen.len;

			map_put(&seen, key_of(&next[k]), 1);
			if (seen.len != known)
				vec_push(&queue, next[k]);
		}
	}
	vec_deinit(&queue);
	map_deinit(&seen);
	return ret;
}

Test(reach, ways_and_what_is_ahead)
{
	unsigned never = 0, fewer = 0;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sym_point nowhere = { "f0", 1 };
		struct reach_place places[3];
		struct reach_ways ways;
		struct ahead ahead;
		struct ir *ir;
		struct reach r;

		rng = seed;
		ir = random_program();
		reach_init(&r, ir, &nowhere, 1);
		for (unsigned i = 0; i < 3; i++) /* different ones */
			places[i] = (struct reach_place){ any(FUNCTIONS), i * 3 + any(3) };
		reach_ways_init(&ways, &r, places, 3);
		ahead_init(&ahead, &r, places, 3);
		for (unsigned k = 0; k < 20; k++) {
			struct deep from = random_stack(ir);
			uint64_t reached = reached_from(ir, &from);
			uint32_t can = 0, count = ahead_count(&ahead, from.frames, from.n);
			bool way =
				reach_ways_distance(&ways, &r, from.frames, from.n) != REACH_NEVER;

			for (unsigned i = 0; i < 3; i++)
				can += reached >> (places[i].function * OPS + places[i].pc) & 1;
			cr_assert_eq(way, can > 0, "seed %lu: %u can be reached", seed, can);
			cr_assert_geq(count, can, "seed %lu: %u can be reached", seed, can);
			never += !way;
			fewer += count < 3;
		}
		reach_ways_deinit(&ways);
		ahead_deinit(&ahead);
		reach_deinit(&r);
		free_program(ir);
	}
	cr_assert(never > 100 && fewer > 100, "%u without a way, %u passed some by", never, fewer);
}
