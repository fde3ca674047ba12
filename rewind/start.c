/* rewind/start.c - see start.h.
 *
 * abort() sends itself a signal from deep inside libc. How libc got there is known and of no interest;
 * system calls lie on the way. The unwind tables lead back to the program's own frame, with the
 * registers that callees keep. The others, and the stack below, are unknown at that moment. */
#include "rewind/start.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/code.h"
#include "rewind/names.h"

#include <signal.h>
#include <string.h>

enum { MOST_FRAMES = 40, MOST_JUMPS = 4 };

struct frame {
	uint64_t pc, regs[16]; /* by our numbers; only what callees keep is right */
};

static bool is_system_library(const struct dump_module *m)
{
	static const char *const names[] = { "/libc.so",  "/libc-",   "/libpthread", "/libstdc++",
					     "/libgcc_s", "/libm.so", "/ld-linux" };

	for (size_t i = 0; m && i < ARRAY_SIZE(names); i++)
		if (strstr(m->path, names[i]))
			return true;
	return false;
}

/* To the caller's frame, in which pc is the return address. */
static bool unwind(struct history *h, struct dump_names *names, struct frame *f, bool innermost)
{
	static const uint8_t dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };
	uint64_t at = f->pc - (innermost ? 0 : 1), cfa, back;
	const struct dump_module *m = dump_module_at(h->dump, at);
	struct frame_rule rule;
	struct module *module;
	struct err *err;

	if (!m)
		return false;
	err = modules_get(names->modules, m->path, m->build_id, &module);
	if (err) {
		err_free(err);
		return false;
	}
	if (!module_frame_rule(module, at - m->bias, &rule))
		return false;
	cfa = f->regs[rule.from_bp ? LIFT_RBP : LIFT_RSP] + (uint64_t)rule.cfa_off;
	if (!dump_read(h->dump, cfa - 8, &back, 8) || !back)
		return false;
	for (unsigned i = 0; i < 16; i++) {
		int64_t off = rule.saved_at[dwarf[i]];

		if (off && !dump_read(h->dump, cfa + (uint64_t)off, &f->regs[i], 8))
			return false;
	}
	f->regs[LIFT_RSP] = cfa;
	f->pc = back;
	return true;
}

/* abort() and the like; or a fault, which inside libc is most often due to what it was given. */
static bool is_about_the_caller(const struct dump *d)
{
	return d->signal == SIGABRT || d->signal == SIGSEGV || d->signal == SIGBUS ||
	       (d->signal && d->code < 0);
}

static void innermost(const struct dump *d, size_t thread, struct frame *f)
{
	const struct user_regs_struct *r = &d->threads.data[thread].registers;
	const uint64_t general[16] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
				       r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
				       r->r12, r->r13, r->r14, r->r15 };

	memcpy(f->regs, general, sizeof(general));
	f->pc = r->rip;
}

/* In a stub of the linkage table the program is about to enter the library. */
static bool leave_stub(struct history *h, struct frame *f)
{
	if (code_behind_stub(h->code, f->pc) == f->pc ||
	    !dump_read(h->dump, f->regs[LIFT_RSP], &f->pc, 8))
		return false;
	f->regs[LIFT_RSP] += 8;
	return true;
}

/* The program's own frame above libc's. *inner: an address in the function of libc that it called. */
static bool find_own(struct history *h, struct dump_names *names, size_t thread, struct frame *f,
		     uint64_t *inner)
{
	*inner = 0;
	innermost(h->dump, thread, f);
	if (leave_stub(h, f))
		return true;
	if (!is_system_library(dump_module_at(h->dump, f->pc)))
		return false;
	for (unsigned i = 0; i < MOST_FRAMES; i++) {
		*inner = f->pc - (i > 0);
		if (!unwind(h, names, f, i == 0))
			return false;
		if (!is_system_library(dump_module_at(h->dump, f->pc - 1)))
			return dump_module_at(h->dump, f->pc - 1) != NULL;
	}
	return false;
}

bool own_call_find(struct history *h, struct dump_names *names, size_t thread, struct own_call *ret)
{
	const struct function *fn;
	const struct insn *call;
	struct frame f;

	if (!find_own(h, names, thread, &f, &ret->inner))
		return false;
	call = code_call_before(h->code, f.pc, &fn);
	if (!call)
		return false;
	ret->pc = call->address;
	ret->back = f.pc;
	memcpy(ret->regs, f.regs, sizeof(f.regs));
	return true;
}

bool entry_stack(struct history *h, struct dump_names *names, size_t thread, uint64_t entry,
		 uint64_t *ret)
{
	bool found = false;
	const char *why;
	struct frame f;

	innermost(h->dump, thread, &f);
	for (unsigned i = leave_stub(h, &f); i < MOST_FRAMES; i++) {
		const struct function *fn = code_function(h->code, f.pc - (i > 0), &why);

		if (!unwind(h, names, &f, i == 0))
			break;
		if (fn && fn->low == entry) {
			*ret = f.regs[LIFT_RSP] - 8;
			found = true;
		}
	}
	return found;
}

/* The jump by which the function ends in this function of a library; 0 = no such jump, or several. */
static uint64_t jump_to(struct history *h, const struct function *f, uint64_t to, unsigned depth)
{
	uint64_t found = 0;

	for (size_t i = 0; f && depth && i < f->blocks.len; i++) {
		const struct block *b = &f->blocks.data[i];
		const struct insn *last = &f->insns.data[b->first + b->n - 1];
		const struct lift_op *end = block_end(f, b);
		uint64_t target, at = 0;
		const char *why;

		if (end->kind != LIFT_NEXT || end->w != LIFT_JUMP || end->a ||
		    (end->imm >= f->low && end->imm < f->high))
			continue;
		target = code_behind_stub(h->code, end->imm);
		if (target == to)
			at = last->address;
		else if (target == end->imm)
			at = jump_to(h, code_function(h->code, target, &why), to, depth - 1);
		if (at && found && at != found)
			return 0;
		found = at ? at : found;
	}
	return found;
}

/* The own function that was called may have ended with a jump to the library's, as a wrapper of free() does: then that is
 * the moment. The frame above is as before the call, but for the return address. */
static void go_to_jump(struct history *h, struct own_call *c)
{
	const char *why;
	const struct function *f = code_function(h->code, c->pc, &why), *inner;
	uint64_t target = f ? code_target(h->code, f, function_insn(f, c->pc)) : 0, jump;

	inner = c->inner ? code_function(h->code, c->inner, &why) : NULL;
	if (!target || !inner || code_behind_stub(h->code, target) != target)
		return;
	jump = jump_to(h, code_function(h->code, target, &why), inner->low, MOST_JUMPS);
	if (!jump)
		return;
	c->pc = jump;
	c->regs[LIFT_RSP] -= 8;
}

struct past *start_of(struct history *h, struct dump_names *names, size_t thread, bool always,
		      bool *at_call)
{
	struct past *p = past_of_dump(h, thread);
	const struct dump_module *libc = dump_module_at(h->dump, p->pc);
	struct own_call c;

	*at_call = false;
	if ((!always && !is_about_the_caller(h->dump)) || !own_call_find(h, names, thread, &c))
		return p;
	go_to_jump(h, &c);
	*at_call = true;
	p->pc = c.pc;
	for (unsigned i = 0; i < LIFT_FS; i++)
		if (i != LIFT_RBX && i != LIFT_RBP && i != LIFT_RSP &&
		    (i < LIFT_R12 || i > LIFT_R15))
			p->registers[i] =
				past_unknown(h, lift_register_width(i), "changed by a call");
		else
			p->registers[i] = expr_const(&h->exprs, 64, c.regs[i]);
	past_forget(h, p, c.regs[LIFT_RSP], libc ? libc->low : 0, libc ? libc->high : 0);
	return p;
}
