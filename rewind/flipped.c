/* rewind/flipped.c - see flipped.h.
 *
 * A few blocks back are enough: a flipped register contradicts the code that has just set it. Nothing is said when
 * the search was cut off or had to guess, when there were several threads (they may have changed what the code
 * read), when nobody knows whether the program's file is the one that ran, or when the program did not fail by itself. A flip counts when its ways go further back than
 * the dump's own. */
#include "rewind/flipped.h"

#include "base/log.h"
#include "debug/dump.h"
#include "rewind/code.h"
#include "rewind/hardware.h"
#include "rewind/mates.h"
#include "rewind/suffix.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEPTH = 6, WIDTH = 16 };
static const double most_seconds = 1.5;

/* How far back the ways from this state go; *dead: all of them contradict it. False: not decided. */
static bool walk(struct history *h, const struct past *start, double deadline, uint32_t *reached,
		 bool *dead)
{
	struct suffix_options o = { .blocks = DEPTH, .width = WIDTH, .deadline = deadline };
	struct tree t;
	bool decided;

	tree_init(&t, h, start);
	tree_grow(&t, &o);
	*dead = t.nodes.data[0]->state == NODE_DEAD;
	*reached = t.reached;
	decided = !t.cut && !t.out_of_time && !t.interrupted;
	tree_deinit(&t);
	return decided;
}

/* Does the failing block, up to the failure, have to do with this register? */
static bool concerns(const struct function *f, uint64_t pc, unsigned reg)
{
	const struct block *b = function_block(f, pc);

	for (uint32_t i = 0; b && i < b->n; i++) {
		const struct insn *in = &f->insns.data[b->first + i];
		const struct lift_op *ops = insn_ops(f, in);

		for (unsigned k = 0; k < in->nops; k++)
			if ((ops[k].kind == LIFT_GET || ops[k].kind == LIFT_PUT) &&
			    ops[k].imm == reg)
				return true;
		if (in->address == pc)
			break;
	}
	return false;
}

static void try_flips(struct history *h, const struct past *start, const struct function *f,
		      uint32_t died, double deadline, struct hardware *ret)
{
	static const char *const names[16] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp",
					       "rsi", "rdi", "r8",  "r9",  "r10", "r11",
					       "r12", "r13", "r14", "r15" };
	uint64_t value;

	for (unsigned reg = 0; reg < 16; reg++)
		for (unsigned bit = 0; bit < 64 && work_seconds() < deadline; bit++) {
			struct past *p;
			uint32_t reached;
			bool dead;

			if (!concerns(f, start->pc, reg) ||
			    !past_value(h, start, start->registers[reg], &value))
				break;
			p = past_fork(h, start);
			p->registers[reg] = expr_const(&h->exprs, 64, value ^ 1ull << bit);
			if (!walk(h, p, deadline, &reached, &dead) || dead || reached <= died)
				continue;
			ret->strength = HARDWARE_STRONG;
			ret->address = value;
			snprintf(ret->what, sizeof(ret->what),
				 "no code leads to this state; with bit %u of %s flipped, which "
				 "holds 0x%" PRIx64 ", it does",
				 bit, names[reg], value);
			return;
		}
}

void flipped_check(const struct dump *d, struct code *c, struct hardware *ret)
{
	double deadline = work_seconds() + most_seconds;
	const struct function *f;
	struct history h;
	struct mates mates = { 0 };
	struct past *start;
	uint32_t died;
	const char *why;
	bool dead, alone;

	mates_find(d, c, &mates);
	alone = d->threads.len == 1 && !mates.len;
	vec_deinit(&mates);
	if (!alone || code_problem(c))
		return;
	history_init(&h, d, c);
	start = past_of_dump(&h, 0);
	f = dump_identifies(d, start->pc) ? code_function(c, start->pc, &why) : NULL;
	if (f && walk(&h, start, deadline, &died, &dead) && dead)
		try_flips(&h, start, f, died, deadline, ret);
	history_deinit(&h);
}
