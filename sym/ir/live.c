/* sym/ir/live.c - which registers of a function may still be read.
 *
 * Two states that differ only in registers that nobody will read again are the same state, and a
 * loop that is about to start over must look as it did before. The classic backward analysis over
 * the operations: live before = (live after, without what it writes) + what it reads. It errs on
 * the side of "live": an operation may be said to read more than it does, never less. */
#include "sym/ir/ir.h"

#include <stdlib.h>
#include <string.h>

struct live {
	struct ir *ir;
	const struct function *f;
	uint32_t words; /* per operation */
	uint64_t *in;	/* by operation */
	uint64_t *now;	/* one operation's */
};

static void set(struct live *l, int32_t r)
{
	if (r >= 0 && (uint32_t)r < l->f->nregs)
		l->now[r / 64] |= 1ull << (r % 64);
}

static void clear(struct live *l, int32_t r)
{
	if (r >= 0 && (uint32_t)r < l->f->nregs)
		l->now[r / 64] &= ~(1ull << (r % 64));
}

static void flow_from(struct live *l, uint32_t pc)
{
	if (pc >= l->f->nops)
		return;
	for (uint32_t i = 0; i < l->words; i++)
		l->now[i] |= l->in[(size_t)pc * l->words + i];
}

static void successors(struct live *l, uint32_t pc)
{
	const struct op *o = &l->f->ops[pc];
	const struct switch_table *t;

	if (o->code >= OP_BR && o->code <= OP_BRSLEN) {
		flow_from(l, (uint32_t)o->imm);
		flow_from(l, (uint32_t)(o->imm >> 32));
	} else if (o->code == OP_JMP || o->code == OP_MOVJ) {
		flow_from(l, (uint32_t)o->imm);
	} else if (o->code == OP_SWITCH) {
		t = &l->ir->tables.data[o->imm];
		for (uint32_t i = 0; i <= t->n; i++)
			flow_from(l, t->targets[i]);
	} else if (o->code != OP_RET && o->code != OP_UNREACHABLE && o->code != OP_UNSUPPORTED &&
		   o->code != OP_RESUME) {
		flow_from(l, pc + 1);
	}
	for (uint32_t i = 0; i < l->f->nunwinds; i++)
		if (l->f->unwinds[i].call == pc)
			flow_from(l, l->f->unwinds[i].to);
}

static void set_list(struct live *l, uint64_t imm)
{
	for (uint32_t i = 0; i < (uint32_t)(imm >> 32); i++)
		set(l, l->ir->args.data[(uint32_t)imm + i]);
}

/* What a value of two registers reads. */
static void set_pair(struct live *l, int32_t r)
{
	set(l, r);
	set(l, r + 1);
}

static void control(struct live *l, const struct op *o)
{
	switch (o->code) {
	case OP_SWITCH:
	case OP_BR:
		set(l, o->a);
		break;
	case OP_CALLI:
		set(l, o->a);
		set_list(l, o->imm);
		break;
	case OP_CALL:
	case OP_BUILTIN:
		set_list(l, o->imm);
		break;
	case OP_RET:
		for (uint32_t i = 0; i < (uint32_t)(o->imm >> 32); i++)
			set(l, (int32_t)o->imm + (int32_t)i);
		break;
	case OP_VASTART:
		set(l, (int32_t)l->f->nparams);
		set(l, o->a);
		break;
	case OP_STACKRESTORE:
	case OP_RESUME:
		set(l, o->a);
		break;
	case OP_LANDING:
	case OP_JMP:
	case OP_STACKSAVE:
	case OP_UNREACHABLE:
	case OP_UNSUPPORTED:
		break;
	default: /* the fused comparisons */
		set(l, o->a);
		set(l, o->b);
	}
}

static void reads(struct live *l, const struct op *o)
{
	if (o->code >= OP_JMP) {
		control(l, o);
		return;
	}
	switch (o->code) {
	case OP_ALLOCA:
	case OP_FENCE:
	case OP_TLS:
		return;
	case OP_LDBIN:
	case OP_LDCMP:
	case OP_LDCONV:
	case OP_WBIN:
	case OP_WCMP:
	case OP_WCONV:
		set_pair(l, o->a);
		if (o->code != OP_LDCONV && o->code != OP_WCONV)
			set_pair(l, o->b);
		return;
	case OP_MOV2:
		if ((int32_t)(o->imm >> 32) != o->d)
			set(l, (int32_t)(o->imm >> 32));
		set(l, o->a);
		return;
	default:
		break;
	}
	set(l, o->a);
	if (o->code == OP_SELECT || o->code == OP_INTRIN3 || o->code == OP_FMATH ||
	    o->code == OP_CMPXCHG)
		set(l, (int32_t)o->imm);
	if (o->code >= OP_STORE8 && o->code <= OP_STOREX64)
		set(l, o->d);
	if (o->code == OP_MEMCPY || o->code == OP_MEMMOVE || o->code == OP_MEMSET)
		set(l, o->d);
	if (o->code == OP_MOV || o->code == OP_MOVJ || o->code == OP_TRUNC || o->code == OP_SEXT ||
	    o->code == OP_FNEG || (o->code >= OP_FPTOSI && o->code <= OP_FPCAST) ||
	    (o->code >= OP_LOAD8 && o->code <= OP_LOADN) ||
	    (o->code >= OP_STORE8 && o->code <= OP_STOREN) || o->code == OP_ALLOCAV ||
	    o->code == OP_RELATIVE)
		return;
	set(l, o->b);
}

static void writes(struct live *l, const struct op *o)
{
	bool stores = (o->code >= OP_STORE8 && o->code <= OP_STOREX64) || o->code == OP_MEMCPY ||
		      o->code == OP_MEMMOVE || o->code == OP_MEMSET || o->code == OP_FENCE;

	if (o->code == OP_CALL || o->code == OP_CALLI || o->code == OP_BUILTIN) {
		for (uint32_t i = 0; i < o->w; i++)
			clear(l, o->d + (int32_t)i);
		return;
	}
	if (stores || (o->code >= OP_JMP && o->code != OP_STACKSAVE && o->code != OP_LANDING))
		return;
	clear(l, o->d);
	if (o->code == OP_MOV2)
		clear(l, (int32_t)o->imm);
	if (o->code == OP_OVERFLOW || o->code == OP_CMPXCHG || o->code == OP_LDBIN ||
	    o->code == OP_WBIN || o->code == OP_LANDING)
		clear(l, o->d + 1);
}

/* A jump buffer leads back into the function from anywhere. */
static bool jumps_back(const struct function *f)
{
	for (uint32_t pc = 0; pc < f->nops; pc++)
		if (f->ops[pc].code == OP_BUILTIN &&
		    (f->ops[pc].b == BI_SETJMP || f->ops[pc].b == BI_SETJMP_PLAIN ||
		     f->ops[pc].b == BI_SIGSETJMP))
			return true;
	return false;
}

static void analyse(struct live *l)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t pc = l->f->nops; pc-- > 0;) {
			uint64_t *in = l->in + (size_t)pc * l->words;

			memset(l->now, 0, l->words * sizeof(*l->now));
			successors(l, pc);
			writes(l, &l->f->ops[pc]);
			reads(l, &l->f->ops[pc]);
			if (memcmp(in, l->now, l->words * sizeof(*in)) != 0) {
				memcpy(in, l->now, l->words * sizeof(*in));
				changed = true;
			}
		}
	}
}

const uint64_t *live_registers(struct ir *ir, struct function *f, uint32_t pc)
{
	struct live l = { .ir = ir, .f = f, .words = (f->nregs + 63) / 64 };

	if (!f->live) {
		size_t n = ((size_t)(f->nops + 1) * l.words + 1) * sizeof(*l.in);

		l.in = memset(arena_alloc(&ir->arena, n), 0, n);
		l.now = xcalloc(l.words + 1, sizeof(*l.now));
		if (jumps_back(f))
			memset(l.in, 0xff, (size_t)(f->nops + 1) * l.words * sizeof(*l.in));
		else
			analyse(&l);
		free(l.now);
		f->live = l.in;
	}
	return f->live + (size_t)pc * l.words;
}
