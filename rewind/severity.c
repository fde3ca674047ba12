/* rewind/severity.c - see severity.h.
 *
 * Both tools look at the signal, the address that failed, the failing instruction and the names on the stack, and take
 * the first rule that fits. Deviations: gdb asks the kernel which memory is the stack, we take the segment in which
 * the program's arguments lie; a stack that leads to an address without code counts as one that gdb cannot walk.
 * CASR's taint rule (what was read badly becomes a target or an address later in the same block) runs on
 * lifted operations, theirs on operands. */
#include "rewind/severity.h"

#include "base/mem.h"
#include "rewind/moment.h"
#include "rewind/trail.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_NULL = 64 * 1024, LOOK_AHEAD = 16, MOST_TEMPS = 4096 };

/* What the rules ask about. */
struct crash {
	struct rewind *r;
	int signal;
	uint64_t pc, fault, sp;
	bool is_kernel; /* si_code says that the kernel raised it: the address is not told */
	const struct function *function; /* NULL: no code at pc */
	const struct insn *insn;
	uint8_t code[16]; /* the instruction */
	size_t len;
	uint8_t prefix;	 /* repetition; 0 = none */
	unsigned opcode; /* 0x0f00 added for the two-byte ones */
	unsigned modrm;	 /* the byte behind it */
	const struct moment *stack;
};

/* ---- the instruction ---- */

static void decode(struct crash *c)
{
	size_t i = 0, len = 0;
	uint32_t flags;
	const uint8_t *p = code_file_bytes(c->r->code, c->pc, &len, &flags);

	if (!p)
		p = dump_bytes(&c->r->dump, c->pc, &len);
	c->len = MIN(len, sizeof(c->code));
	if (p)
		memcpy(c->code, p, c->len);
	for (; i + 2 < c->len; i++) {
		uint8_t b = c->code[i];

		if (b == 0xf2 || b == 0xf3)
			c->prefix = b;
		else if (b != 0x66 && b != 0x67 && b != 0x2e && b != 0x3e && b != 0x64 &&
			 b != 0x65 && b != 0xf0 && (b & 0xf0) != 0x40)
			break;
	}
	if (i + 2 >= c->len)
		return;
	c->opcode = c->code[i];
	if (c->opcode == 0x0f)
		c->opcode = 0x0f00u + c->code[++i];
	c->modrm = c->code[i + 1];
}

static bool is_return(const struct crash *c)
{
	return c->opcode == 0xc2 || c->opcode == 0xc3 || c->opcode == 0xcf;
}

/* Through a register or memory. */
static bool is_indirect(const struct crash *c, unsigned form)
{
	return c->opcode == 0xff && (c->modrm >> 3 & 7) == form;
}

static bool is_call(const struct crash *c)
{
	return c->opcode == 0xe8 || is_indirect(c, 2);
}

static bool is_jump(const struct crash *c)
{
	return c->opcode == 0xe9 || c->opcode == 0xeb || is_indirect(c, 4) ||
	       (c->opcode >= 0x70 && c->opcode <= 0x7f) ||
	       (c->opcode >= 0x0f80 && c->opcode <= 0x0f8f);
}

static bool is_push(const struct crash *c)
{
	return (c->opcode >= 0x50 && c->opcode <= 0x57) || c->opcode == 0x68 || c->opcode == 0x6a ||
	       is_indirect(c, 6);
}

static bool is_block_move(const struct crash *c)
{
	return c->prefix && (c->opcode == 0xa4 || c->opcode == 0xa5);
}

/* Its name has "mov" in it. */
static bool is_move(const struct crash *c)
{
	static const uint8_t second[] = { 0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x28,
					  0x29, 0x2b, 0x6e, 0x6f, 0x7e, 0x7f, 0xb6,
					  0xb7, 0xbe, 0xbf, 0xc3, 0xd6, 0xe7 };

	for (size_t i = 0; i < sizeof(second); i++)
		if (c->opcode == 0x0f00u + second[i])
			return true;
	return (c->opcode >= 0x88 && c->opcode <= 0x8c) || c->opcode == 0x8e ||
	       (c->opcode >= 0xa0 && c->opcode <= 0xa5) || c->opcode == 0xc6 || c->opcode == 0xc7 ||
	       c->opcode == 0x63 || (c->opcode >= 0x0f40 && c->opcode <= 0x0f4f);
}

/* Is the memory its first operand, which Intel calls the destination? */
static bool memory_is_first(const struct crash *c)
{
	static const uint16_t all[] = { 0x80,	0x81,	0x83,	0x84,	0x85,	0x86,	0x87,
					0x88,	0x89,	0x8c,	0x8f,	0xa2,	0xa3,	0xa4,
					0xa5,	0xaa,	0xab,	0xc0,	0xc1,	0xc6,	0xc7,
					0xd0,	0xd1,	0xd2,	0xd3,	0xf6,	0xf7,	0xfe,
					0xff,	0x0f11, 0x0f13, 0x0f17, 0x0f29, 0x0f2b, 0x0f7f,
					0x0fb0, 0x0fb1, 0x0fc0, 0x0fc1, 0x0fc3, 0x0fd6, 0x0fe7 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (c->opcode == all[i])
			return true;
	if (c->opcode == 0x0f7e)
		return c->prefix != 0xf3;
	return c->opcode < 0x40 && (c->opcode & 7) <= 1;
}

/* ---- the rest of the state ---- */

static const struct dump_segment *segment_at(const struct dump *d, uint64_t at)
{
	for (size_t i = 0; i < d->segments.len; i++)
		if (at >= d->segments.data[i].address &&
		    at - d->segments.data[i].address < d->segments.data[i].size)
			return &d->segments.data[i];
	return NULL;
}

static bool in_main_stack(const struct crash *c, uint64_t at)
{
	const struct dump *d = &c->r->dump;
	const struct dump_segment *stack = segment_at(d, dump_auxv(d, AT_EXECFN));

	return stack && segment_at(d, at) == stack;
}

static bool on_stack(const struct crash *c, const char *part, bool whole)
{
	bool found = false;

	for (size_t i = 0; i < c->stack->n && !found; i++) {
		struct source_frames frames = { 0 };

		dump_names_frames(&c->r->names, c->stack->frames[i].pc - (i > 0), &frames);
		for (size_t k = 0; k < frames.len && !found; k++) {
			const char *name = frames.data[k].function;

			found = name && (whole ? !strcmp(name, part) : strstr(name, part) != NULL);
		}
		vec_deinit(&frames);
	}
	return found;
}

/* The names that symbols of one function have. */
static bool is_freeing(const struct crash *c)
{
	return on_stack(c, "free", true) || on_stack(c, "cfree", false) ||
	       on_stack(c, "__libc_free", false);
}

static bool is_violation(const struct crash *c)
{
	return c->signal == SIGSEGV || c->signal == SIGBUS;
}

static bool is_benign(const struct crash *c)
{
	static const int all[] = { SIGTERM,   SIGINT,  SIGQUIT, SIGKILL, SIGHUP,  SIGALRM,
				   SIGVTALRM, SIGPROF, SIGIO,	SIGURG,	 SIGUSR1, SIGUSR2,
				   SIGWINCH,  SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (c->signal == all[i])
			return true;
	return false;
}

static bool is_stack_overflow(const struct crash *c)
{
	return is_violation(c) && (is_push(c) || (is_call(c) && c->fault + 8 == c->sp)) &&
	       !in_main_stack(c, c->sp);
}

/* A return address at which no module lies, before a thread's beginning; or a stack pointer outside the stack. */
/* Mapped, but not in the dump: nobody can say what is on it. */
static bool is_undumped(const struct dump *d, uint64_t sp)
{
	for (size_t i = 0; i < d->segments.len; i++)
		if (sp >= d->segments.data[i].address &&
		    sp - d->segments.data[i].address < d->segments.data[i].size)
			return sp - d->segments.data[i].address >= d->segments.data[i].there;
	return false;
}

static bool is_corrupt_stack(const struct crash *c)
{
	const struct moment *m = c->stack;
	bool whole = on_stack(c, "_start", false) || on_stack(c, "start_thread", true);
	bool wild = m->n > 0 && m->n < MOMENT_FRAMES && m->frames[m->n].moment && !whole;

	return !is_benign(c) && !is_stack_overflow(c) && !is_undumped(&c->r->dump, c->sp) &&
	       (wild || (m->n > 1 && !in_main_stack(c, c->sp)));
}

/* ---- gdb's plugin ---- */

static struct severity plugin(const struct crash *c)
{
	bool near = c->fault < NEAR_NULL, violation = is_violation(c);
	bool access = violation && c->insn && c->fault; /* of a bad form, the address is 0 */
	bool first = memory_is_first(c);

	if (violation && is_return(c))
		return (struct severity){ "EXPLOITABLE", "ReturnAv" };
	if (violation && c->fault == c->pc && !near)
		return (struct severity){ "EXPLOITABLE", "SegFaultOnPc" };
	if (violation && (is_jump(c) || is_call(c)) && !near)
		return (struct severity){ "EXPLOITABLE", "BranchAv" };
	if (!is_benign(c) && in_main_stack(c, c->pc))
		return (struct severity){ "EXPLOITABLE", "StackCodeExection" }; /* their spelling */
	if (on_stack(c, "__stack_chk_fail", true))
		return (struct severity){ "EXPLOITABLE", "StackBufferOverflow" };
	if (is_corrupt_stack(c))
		return (struct severity){ "EXPLOITABLE", "PossibleStackCorruption" };
	if (access && first && !near)
		return (struct severity){ "EXPLOITABLE", "DestAv" };
	if (c->signal == SIGILL || c->signal == SIGSYS)
		return (struct severity){ "EXPLOITABLE", "BadInstruction" };
	if (on_stack(c, "malloc_printerr", true) || is_freeing(c) || on_stack(c, "malloc", true) ||
	    on_stack(c, "__libc_malloc", true) || on_stack(c, "__malloc_assert", true))
		return (struct severity){ "EXPLOITABLE", "HeapError" };
	if (is_stack_overflow(c))
		return (struct severity){ "PROBABLY_EXPLOITABLE", "StackOverflow" };
	if (violation && c->fault == c->pc)
		return (struct severity){ "PROBABLY_EXPLOITABLE", "SegFaultOnPcNearNull" };
	if (violation && (is_jump(c) || is_call(c)))
		return (struct severity){ "PROBABLY_EXPLOITABLE", "BranchAvNearNull" };
	if (!is_benign(c) && is_block_move(c))
		return (struct severity){ "PROBABLY_EXPLOITABLE", "BlockMoveAv" };
	if (violation && c->insn && first && !c->is_kernel)
		return (struct severity){ "PROBABLY_EXPLOITABLE", "DestAvNearNull" };
	if (violation && c->insn && near && !c->is_kernel)
		return (struct severity){ "PROBABLY_NOT_EXPLOITABLE", "SourceAvNearNull" };
	if (c->signal == SIGFPE)
		return (struct severity){ "PROBABLY_NOT_EXPLOITABLE", "FloatingPointException" };
	if (is_benign(c))
		return (struct severity){ "PROBABLY_NOT_EXPLOITABLE", "BenignSignal" };
	if (access)
		return (struct severity){ "UNKNOWN", "SourceAv" };
	if (c->signal == SIGABRT)
		return (struct severity){ "UNKNOWN", "AbortSignal" };
	if (violation)
		return (struct severity){ "UNKNOWN", "AccessViolation" };
	return (struct severity){ "UNKNOWN", "UncategorizedSignal" };
}

/* ---- CASR ---- */

/* The registers that a bad read and what follows it in the block taint. */
struct taint {
	bool registers[16];
	bool temps[MOST_TEMPS];
};

/* NULL: nothing yet. */
static const char *taint_insn(struct taint *t, const struct function *f, const struct insn *in,
			      bool first)
{
	const struct lift_op *ops = insn_ops(f, in);
	const char *found = NULL;

	memset(t->temps, 0, sizeof(t->temps));
	for (unsigned i = 0; i < in->nops; i++) {
		const struct lift_op *o = &ops[i];
		bool tainted = t->temps[o->a % MOST_TEMPS] || t->temps[o->b % MOST_TEMPS] ||
			       t->temps[o->c % MOST_TEMPS];

		switch (o->kind) {
		case LIFT_CONST:
		case LIFT_OPAQUE:
			break;
		case LIFT_GET:
			t->temps[o->dst % MOST_TEMPS] = o->imm < 16 && t->registers[o->imm];
			break;
		case LIFT_PUT:
			if (o->imm < 16)
				t->registers[o->imm] = t->temps[o->a % MOST_TEMPS];
			break;
		case LIFT_LOAD:
			t->temps[o->dst % MOST_TEMPS] = first || t->temps[o->a % MOST_TEMPS];
			break;
		case LIFT_STORE:
			if (t->temps[o->a % MOST_TEMPS] && !first)
				found = "DestAvTainted";
			break;
		case LIFT_NEXT:
			if (o->a && t->temps[o->a % MOST_TEMPS])
				found = o->w == LIFT_CALL     ? "CallAvTainted"
					: o->w == LIFT_RETURN ? "ReturnAv"
							      : "BranchAvTainted";
			break;
		default:
			if (o->dst)
				t->temps[o->dst % MOST_TEMPS] = tainted;
		}
	}
	return found;
}

/* From the failing read on, in its block. */
static const char *casr_taint(const struct crash *c)
{
	const struct block *b = c->function ? function_block(c->function, c->pc) : NULL;
	struct taint *t;
	const char *found = NULL;
	uint32_t first;

	if (!b)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	first = (uint32_t)(c->insn - c->function->insns.data);
	for (uint32_t i = first; i < b->first + b->n && i < first + LOOK_AHEAD && !found; i++)
		found = taint_insn(t, c->function, &c->function->insns.data[i], i == first);
	free(t);
	return found;
}

static struct severity casr_access(const struct crash *c)
{
	bool near = c->fault < NEAR_NULL && !c->is_kernel;
	const char *tainted;

	if (is_return(c))
		return (struct severity){ "EXPLOITABLE", "ReturnAv" };
	if (is_call(c) && c->sp - 8 == c->fault)
		return (struct severity){ "NOT_EXPLOITABLE", "StackOverflow" };
	if (is_call(c) && is_indirect(c, 2))
		return near ? (struct severity){ "PROBABLY_EXPLOITABLE", "CallAvNearNull" }
			    : (struct severity){ "EXPLOITABLE", "CallAv" };
	if (is_jump(c) && is_indirect(c, 4))
		return near ? (struct severity){ "PROBABLY_EXPLOITABLE", "BranchAvNearNull" }
			    : (struct severity){ "EXPLOITABLE", "BranchAv" };
	if (!is_move(c))
		return (struct severity){ "NOT_EXPLOITABLE", "AccessViolation" };
	if (memory_is_first(c))
		return near && c->signal != SIGBUS
			       ? (struct severity){ "PROBABLY_EXPLOITABLE", "DestAvNearNull" }
			       : (struct severity){ "EXPLOITABLE", "DestAv" };
	if (near && c->signal != SIGBUS)
		return (struct severity){ "NOT_EXPLOITABLE", "SourceAvNearNull" };
	tainted = c->signal == SIGBUS ? NULL : casr_taint(c);
	return tainted ? (struct severity){ "EXPLOITABLE", tainted }
		       : (struct severity){ "NOT_EXPLOITABLE", "SourceAv" };
}

static struct severity casr_rules(const struct crash *c)
{
	switch (c->signal) {
	case SIGABRT:
		if (is_freeing(c))
			return (struct severity){ "PROBABLY_EXPLOITABLE", "HeapError" };
		if (on_stack(c, "__stack_chk_fail", false))
			return (struct severity){ "PROBABLY_EXPLOITABLE", "StackGuard" };
		if (on_stack(c, "__chk_fail", false))
			return (struct severity){ "NOT_EXPLOITABLE", "SafeFunctionCheck" };
		return (struct severity){ "NOT_EXPLOITABLE", "AbortSignal" };
	case SIGTRAP:
		return (struct severity){ "NOT_EXPLOITABLE", "TrapSignal" };
	case SIGILL:
	case SIGSYS:
		return (struct severity){ "PROBABLY_EXPLOITABLE", "BadInstruction" };
	case SIGSEGV:
		if (c->fault == c->pc)
			return c->fault < NEAR_NULL
				       ? (struct severity){ "PROBABLY_EXPLOITABLE",
							    "SegFaultOnPcNearNull" }
				       : (struct severity){ "EXPLOITABLE", "SegFaultOnPc" };
		if (!c->len && c->is_kernel)
			return (struct severity){ "EXPLOITABLE", "SegFaultOnPc" };
		return casr_access(c);
	case SIGBUS:
		return casr_access(c);
	case SIGFPE:
		return (struct severity){ "NOT_EXPLOITABLE", "FPE" };
	default:
		return (struct severity){ "UNDEFINED", "Undefined" };
	}
}

void severity_of(struct rewind *r, struct severity *exploitable, struct severity *casr)
{
	const struct user_regs_struct *g = &r->dump.threads.data[r->thread].registers;
	struct crash c = { .r = r,
			   .signal = r->dump.signal,
			   .pc = g->rip,
			   .sp = g->rsp,
			   .fault = r->dump.fault,
			   .is_kernel = r->dump.code == SI_KERNEL };
	struct moment *m = xmalloc(sizeof(*m));
	const char *why;

	moment_init(m, r, past_of_dump(&r->h, r->thread));
	c.stack = m;
	c.function = code_function(r->code, c.pc, &why);
	c.insn = c.function ? function_insn(c.function, c.pc) : NULL;
	decode(&c);
	*exploitable = plugin(&c);
	*casr = casr_rules(&c);
	free(m);
}
