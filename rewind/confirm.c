/* rewind/confirm.c - see confirm.h.
 *
 * The solver chooses values for what is still unknown (late.h: addresses that were read); a process is made from the dump, gets those values
 * and the registers of the suffix's beginning, and takes single steps along the suffix. Calls that
 * the suffix skips are not run either: the process gets what the suffix says about the moment after
 * them. At the end it must be where the dump is, with all registers and every dumped byte equal; then
 * it takes the failing instruction, which must fail with the same signal. */
#include "rewind/confirm.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "debug/dump.h"
#include "rewind/late.h"
#include "rewind/trie.h"
#include "run/revive.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_UNWATCHED = 64 };

struct replay {
	struct history *h;
	const struct past *last; /* the suffix's beginning: knows most */
	struct revived *process;
	uint64_t *values;
	uint32_t count;
	struct confirmation *ret;
	bool failed;
};

static void fail(struct replay *r, enum verdict v, const char *why)
{
	if (r->failed)
		return;
	r->failed = true;
	r->ret->verdict = (uint8_t)v;
	snprintf(r->ret->why, sizeof(r->ret->why), "%s", why);
}

static uint64_t value_of(struct replay *r, expr_id e)
{
	return expr_eval(&r->h->exprs, past_simplify(r->h, r->last, e), r->values, r->count);
}

static void write_cell(uint64_t key, uint64_t cell, void *arg)
{
	const expr_id *bytes = (const expr_id *)(uintptr_t)cell;
	struct replay *r = arg;

	for (unsigned i = 0; i < 8; i++) {
		uint8_t b = bytes[i] ? (uint8_t)value_of(r, bytes[i]) : 0;

		if (bytes[i] && !revived_write(r->process, key * 8 + i, &b, 1))
			fail(r, DIFFERS, "memory that the suffix writes is not there");
	}
}

static void set_vectors(struct replay *r, const struct past *p)
{
	enum { XMM_AT = 160, AREA = 1 << 14 };
	uint8_t *area = xcalloc(1, AREA);
	size_t len;

	if (revived_extended(r->process, area, AREA, &len) && len >= XMM_AT + 256)
		for (unsigned i = 0; i < 16; i++)
			for (unsigned k = 0; k < 2; k++) {
				expr_id e = past_simplify(r->h, r->last,
							  p->registers[LIFT_YMM + 4 * i + k]);
				uint64_t v = value_of(r, e);

				if (expr_is_const(&r->h->exprs, e))
					memcpy(area + XMM_AT + 16 * i + 8 * k, &v, 8);
			}
	revived_set_extended(r->process, area, len);
	free(area);
}

/* Give the process the state of a moment of the suffix. */
static void set_state(struct replay *r, const struct past *p)
{
	static const uint8_t at[] = { 0, 2, 4, 6, 7, 11, 10 };
	struct user_regs_struct g;
	unsigned long long *general[16] = { &g.rax, &g.rcx, &g.rdx, &g.rbx, &g.rsp, &g.rbp,
					    &g.rsi, &g.rdi, &g.r8,  &g.r9,  &g.r10, &g.r11,
					    &g.r12, &g.r13, &g.r14, &g.r15 };

	if (!revived_registers(r->process, &g)) {
		fail(r, DIFFERS, "the process is gone");
		return;
	}
	for (unsigned i = 0; i < 16; i++)
		*general[i] = value_of(r, p->registers[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		g.eflags &= ~(1ull << at[i]);
		g.eflags |= value_of(r, p->registers[LIFT_CF + i]) << at[i];
	}
	g.rip = p->pc;
	trie_each(p->memory, write_cell, r);
	if (!revived_set_registers(r->process, &g))
		fail(r, DIFFERS, "the registers cannot be set");
	set_vectors(r, p);
}

/* The dump's bytes wherever the suffix had others: what a skipped call may have changed. */
static void restore_cell(uint64_t key, uint64_t cell, void *arg)
{
	struct replay *r = arg;
	uint8_t bytes[8];

	(void)cell;
	if (dump_read(r->h->dump, key * 8, bytes, 8))
		revived_write(r->process, key * 8, bytes, 8);
}

/* A call that the suffix skips, or a system call: give the process the moment behind it. */
static void skip(struct replay *r, const struct step *s, uint32_t instructions)
{
	r->ret->verdict = CONFIRMED_BUT_GAPS;
	trie_each(r->last->memory, restore_cell, r);
	set_state(r, step_inside(r->h, r->last, s, instructions));
}

static bool is_system_call(const struct piece *p, uint32_t k)
{
	const struct insn *in = &p->function->insns.data[p->first + k];
	const struct lift_op *end = insn_ops(p->function, in) + in->nops - 1;

	return end->kind == LIFT_NEXT && end->w == LIFT_SYSCALL;
}

static void step_along(struct replay *r, const struct step *s)
{
	struct user_regs_struct regs;
	uint32_t done = 0;
	int signal = 0;

	for (uint32_t i = 0; i < s->npieces && !r->failed; i++) {
		const struct piece *p = &s->pieces[i];

		for (uint32_t k = 0; k < p->n && !r->failed; k++) {
			uint64_t pc = p->function->insns.data[p->first + k].address;
			char why[120] = "";

			done++;
			if (!revived_registers(r->process, &regs) || regs.rip != pc)
				snprintf(why, sizeof(why), "it leaves the suffix at step %" PRIu64,
					 r->ret->steps);
			else if ((p->way == WAY_SKIPPED && k + 1 == p->n) || is_system_call(p, k))
				skip(r, s, done);
			else if (revived_step(r->process, &signal) != REVIVED_STEPPED)
				snprintf(why, sizeof(why),
					 "it stops in the suffix at step %" PRIu64, r->ret->steps);
			if (*why)
				fail(r, DIFFERS, why);
			else if (r->ret->steps % STEPS_UNWATCHED == 0 && history_over(r->h))
				fail(r, NOT_RUNNABLE, "the time for it was over");
			r->ret->steps++;
		}
	}
}

/* Registers equal, but for what the kernel sets. */
static bool registers_equal(const struct user_regs_struct *a, const struct user_regs_struct *b)
{
	struct user_regs_struct x = *a, y = *b;
	const uint64_t flags = 0xcd5; /* the arithmetic ones and the direction */

	x.orig_rax = y.orig_rax = 0;
	x.eflags &= flags;
	y.eflags &= flags;
	return memcmp(&x, &y, sizeof(x)) == 0;
}

static void compare(struct replay *r, size_t thread)
{
	const struct dump *d = r->h->dump;
	const struct user_regs_struct *want = &d->threads.data[thread].registers;
	struct user_regs_struct regs;
	uint64_t differs;
	int signal = 0;

	if (r->failed)
		return;
	if (!revived_registers(r->process, &regs) || !registers_equal(&regs, want)) {
		fail(r, DIFFERS, "registers differ at the end");
		return;
	}
	if (!revived_equals(r->process, d, 0, &differs)) {
		char why[80];

		snprintf(why, sizeof(why), "memory differs at the end, at 0x%" PRIx64, differs);
		fail(r, DIFFERS, why);
		return;
	}
	if ((d->signal == SIGSEGV || d->signal == SIGBUS || d->signal == SIGFPE ||
	     d->signal == SIGILL) &&
	    d->code > 0 &&
	    (revived_step(r->process, &signal) != REVIVED_SIGNAL || signal != d->signal)) {
		fail(r, DIFFERS, "the last instruction does not fail");
		return;
	}
	if (r->ret->verdict != CONFIRMED_BUT_GAPS)
		r->ret->verdict = CONFIRMED;
}

/* At a call of abort() or the like: what is known of that moment must be so. Everything that the
 * suffix wrote must be in memory as the dump has it, above the stack pointer. */
static void compare_at_call(struct replay *r, const struct past *start)
{
	struct user_regs_struct g;
	const unsigned long long *general[16] = { &g.rax, &g.rcx, &g.rdx, &g.rbx, &g.rsp, &g.rbp,
						  &g.rsi, &g.rdi, &g.r8,  &g.r9,  &g.r10, &g.r11,
						  &g.r12, &g.r13, &g.r14, &g.r15 };
	uint64_t v, differs;

	if (r->failed)
		return;
	if (!revived_registers(r->process, &g) || g.rip != start->pc)
		fail(r, DIFFERS, "it does not come to the call");
	for (unsigned i = 0; i < 16 && !r->failed; i++)
		if (past_value(r->h, start, start->registers[i], &v) && *general[i] != v)
			fail(r, DIFFERS, "registers differ at the call");
	if (!r->failed && !revived_equals(r->process, r->h->dump, start->floor, &differs))
		fail(r, DIFFERS, "memory differs at the call");
	if (!r->failed && r->ret->verdict != CONFIRMED_BUT_GAPS)
		r->ret->verdict = CONFIRMED;
}

struct err *confirm_suffix(struct history *h, const struct node *n, size_t thread,
			   const struct past *start, bool at_call, struct confirmation *ret)
{
	struct replay r = { .h = h, .last = late_choose(h, n->past), .ret = ret };
	struct err *err;
	bool gave_up;

	*ret = (struct confirmation){ 0 };
	r.values = past_model(h, r.last, &r.count, &gave_up);
	if (!r.values) {
		fail(&r, NOT_RUNNABLE,
		     gave_up ? "the time was over before values were found for what is unknown"
			     : "no values fit what is unknown");
		return NULL;
	}
	err = revive(h->dump, thread, &r.process);
	if (err) {
		free(r.values);
		return err;
	}
	expr_eval_begin(&h->exprs);
	set_state(&r, n->past);
	for (const struct node *s = n; s->parent && !r.failed; s = s->parent)
		if (s->past)
			step_along(&r, &s->step);
	if (at_call)
		compare_at_call(&r, start);
	else
		compare(&r, thread);
	revived_free(r.process);
	free(r.values);
	return NULL;
}
