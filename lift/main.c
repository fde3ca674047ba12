/* lift/main.c - unplait-lift: machine code in, blocks of simple operations out (lift/lifted.h).
 *
 * VEX, the translator of valgrind, decodes one instruction at a time. It ends the process when it
 * is confused by what it reads; whoever asked then knows that this range cannot be lifted, and
 * starts us again for the next one. */
#include "lift/vex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noreturn)) void give_up(void)
{
	_exit(3);
}

static void say(const HChar *text, SizeT n)
{
	(void)text;
	(void)n;
}

static Bool never_chase(void *opaque, Addr a)
{
	(void)opaque;
	(void)a;
	return False;
}

static UInt no_check(void *opaque, VexRegisterUpdates *updates, const VexGuestExtents *extents)
{
	(void)opaque;
	(void)updates;
	(void)extents;
	return 0;
}

static void nowhere(void)
{
}

static void start(void)
{
	VexControl control;

	LibVEX_default_VexControl(&control);
	control.iropt_level = 0;
	control.iropt_unroll_thresh = 0;
	control.guest_max_insns = 1;
	control.guest_chase = False;
	LibVEX_Init(give_up, say, 0, &control);
}

static IRSB *translate(const uint8_t *bytes, uint64_t address, unsigned *length)
{
	static UChar nothing[16];
	VexGuestExtents extents;
	VexTranslateResult result;
	VexRegisterUpdates updates = VexRegUpdAllregsAtEachInsn;
	VexTranslateArgs a;
	Int used;
	IRSB *block;

	memset(&a, 0, sizeof(a));
	LibVEX_default_VexArchInfo(&a.archinfo_guest);
	LibVEX_default_VexAbiInfo(&a.abiinfo_both);
	a.arch_guest = a.arch_host = VexArchAMD64;
	a.archinfo_guest.endness = VexEndnessLE;
	a.archinfo_guest.hwcaps = VEX_HWCAPS_AMD64_SSE3 | VEX_HWCAPS_AMD64_SSSE3 |
				  VEX_HWCAPS_AMD64_CX16 | VEX_HWCAPS_AMD64_LZCNT |
				  VEX_HWCAPS_AMD64_AVX | VEX_HWCAPS_AMD64_RDTSCP |
				  VEX_HWCAPS_AMD64_BMI | VEX_HWCAPS_AMD64_AVX2;
	a.archinfo_host = a.archinfo_guest;
	a.abiinfo_both.guest_stack_redzone_size = 128;
	a.abiinfo_both.guest_amd64_assume_fs_is_const = True;
	a.abiinfo_both.guest_amd64_assume_gs_is_const = True;
	a.guest_bytes = bytes;
	a.guest_bytes_addr = (Addr)address;
	a.chase_into_ok = never_chase;
	a.guest_extents = &extents;
	a.host_bytes = nothing;
	a.host_bytes_size = sizeof(nothing);
	a.host_bytes_used = &used;
	a.needs_self_check = no_check;
	a.disp_cp_chain_me_to_slowEP = (const void *)nowhere;
	a.disp_cp_chain_me_to_fastEP = (const void *)nowhere;
	a.disp_cp_xindir = (const void *)nowhere;
	a.disp_cp_xassisted = (const void *)nowhere;
	block = LibVEX_FrontEnd(&a, &result, &updates);
	*length = extents.n_used ? extents.len[0] : 0;
	return block;
}

/* ---- statements ---- */

static void store(struct lifting *l, uint16_t at, struct value v)
{
	for (unsigned i = 0; i < v.n; i++)
		emit_op(l,
			(struct lift_op){
				.kind = LIFT_STORE,
				.w = v.w,
				.a = i ? emit(l, LIFT_ADD, 64, at, emit_const(l, 64, 8 * i)) : at,
				.b = v.part[i] });
}

/* Compare and swap, as one thread sees it. */
static void swap(struct lifting *l, const IRCAS *cas)
{
	struct value expected = value_of(l, cas->expdLo), new = value_of(l, cas->dataLo);
	uint16_t at = value_of(l, cas->addr).part[0], old, same;

	if (cas->oldHi != IRTemp_INVALID || expected.n != 1) {
		l->refused = true;
		return;
	}
	old = emit(l, LIFT_LOAD, expected.w, at, 0);
	same = emit(l, LIFT_EQ, 1, old, expected.part[0]);
	store(l, at, value_one(emit_ite(l, new.w, same, new.part[0], old), new.w));
	l->temps[cas->oldLo] = value_one(old, expected.w);
}

/* A helper of VEX with side effects. */
static void dirty(struct lifting *l, const IRDirty *d)
{
	if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
		l->refused = true;
	if (d->tmp != IRTemp_INVALID)
		l->temps[d->tmp] = value_unknown(l, typeOfIRTemp(l->block->tyenv, d->tmp));
	for (int i = 0; i < d->nFxState; i++)
		if (d->fxState[i].fx != Ifx_Read)
			for (int k = 0; k <= d->fxState[i].nRepeats; k++)
				state_forget(l, d->fxState[i].offset + k * d->fxState[i].repeatLen,
					     d->fxState[i].size);
}

static uint64_t target_of(const IRConst *c)
{
	return c->tag == Ico_U64 ? c->Ico.U64 : c->Ico.U32;
}

static void statement(struct lifting *l, IRStmt *s)
{
	switch (s->tag) {
	case Ist_WrTmp:
		l->temps[s->Ist.WrTmp.tmp] = value_of(l, s->Ist.WrTmp.data);
		break;
	case Ist_Put:
		state_put(l, s->Ist.Put.offset, value_of(l, s->Ist.Put.data), s->Ist.Put.data);
		break;
	case Ist_Store:
		store(l, value_of(l, s->Ist.Store.addr).part[0], value_of(l, s->Ist.Store.data));
		break;
	case Ist_CAS:
		swap(l, s->Ist.CAS.details);
		break;
	case Ist_Dirty:
		dirty(l, s->Ist.Dirty.details);
		break;
	case Ist_Exit: {
		uint16_t guard = value_of(l, s->Ist.Exit.guard).part[0];

		flags_finish(l);
		emit_op(l, (struct lift_op){ .kind = LIFT_EXIT,
					     .w = LIFT_JUMP,
					     .a = guard,
					     .imm = target_of(s->Ist.Exit.dst) });
		break;
	}
	case Ist_StoreG:
	case Ist_LoadG:
	case Ist_LLSC:
		l->refused = true;
		break;
	default: /* marks and hints; x87's stack (PutI) is not followed */
		break;
	}
}

static enum lift_flow flow_of(IRJumpKind kind, bool *known)
{
	*known = true;
	switch (kind) {
	case Ijk_Boring:
	case Ijk_Yield:
		return LIFT_JUMP;
	case Ijk_Call:
		return LIFT_CALL;
	case Ijk_Ret:
		return LIFT_RETURN;
	case Ijk_Sys_syscall:
		return LIFT_SYSCALL;
	case Ijk_SigTRAP:
	case Ijk_SigILL:
	case Ijk_SigSEGV:
		return LIFT_TRAP;
	default:
		*known = false;
		return LIFT_TRAP;
	}
}

static void finish(struct lifting *l, const uint8_t *bytes)
{
	bool known;
	enum lift_flow flow = flow_of(l->block->jumpkind, &known);
	IRExpr *next = l->block->next;
	struct lift_op op = { .kind = LIFT_NEXT, .w = (uint8_t)flow };

	flags_finish(l);
	undefined_flags(l, bytes);
	if (next->tag == Iex_Const)
		op.imm = target_of(next->Iex.Const.con);
	else
		op.a = value_of(l, next).part[0];
	emit_op(l, op);
	if (!known)
		l->refused = true;
}

/* ---- instructions ---- */

static void answer(struct lifting *l, uint64_t address, unsigned length)
{
	struct lift_head head = { .address = address,
				  .length = (uint16_t)length,
				  .nops = (uint16_t)l->nops,
				  .ntemps = (uint16_t)l->ntemps };
	static const struct lift_op refuse = { .kind = LIFT_REFUSE };

	if (l->refused) {
		head.nops = 1;
		head.ntemps = 0;
	}
	fwrite(&head, sizeof(head), 1, stdout);
	fwrite(l->refused ? &refuse : l->ops, sizeof(struct lift_op), head.nops, stdout);
}

/* ud2 and hlt, with which compilers end a way that is never left: VEX decodes them to "no instruction". How many bytes; 0 =
 * it is neither. */
static unsigned trap_length(const uint8_t *bytes)
{
	if (bytes[0] == 0x0f && bytes[1] == 0x0b)
		return 2;
	return bytes[0] == 0xf4;
}

/* One instruction; how many bytes it has. */
static unsigned lift_one(struct lifting *l, const uint8_t *bytes, size_t left, uint64_t address)
{
	unsigned length = 0;

	l->nops = l->ntemps = 0;
	l->refused = l->thunk = false;
	l->cc_op = NULL;
	l->dep1 = l->dep2 = l->ndep = 0;
	if (trap_length(bytes) && trap_length(bytes) <= left) {
		length = trap_length(bytes);
		emit_op(l, (struct lift_op){
				   .kind = LIFT_NEXT, .w = LIFT_TRAP, .imm = address + length });
		answer(l, address, length);
		return length;
	}
	l->block = translate(bytes, address, &length);
	if (!l->block || length == 0 || length > left || l->block->jumpkind == Ijk_NoDecode) {
		l->refused = true;
		answer(l, address, 1);
		return 1;
	}
	l->temps = calloc((size_t)l->block->tyenv->types_used + 1, sizeof(*l->temps));
	if (!l->temps)
		give_up();
	l->refused = reads_segment(bytes);
	if (!lift_bit_test(l, bytes))
		for (int i = 0; i < l->block->stmts_used && !l->refused; i++)
			if (l->block->stmts[i])
				statement(l, l->block->stmts[i]);
	if (!l->refused)
		finish(l, bytes);
	free(l->temps);
	answer(l, address, length);
	return length;
}

static bool read_all(void *to, size_t n)
{
	return fread(to, 1, n, stdin) == n;
}

int main(int argc, char **argv)
{
	static struct lifting l;
	static uint8_t code[LIFT_MAX_RANGE + 32]; /* VEX looks a little ahead */
	static const struct lift_head end;
	struct lift_request r;

	(void)argv;
	if (argc > 1) {
		puts("usage: unplait-lift: reads requests, writes lifted instructions "
		     "(lift/lifted.h). `unplait rewind` starts it.");
		return 2;
	}
	start();
	while (read_all(&r, sizeof(r))) {
		if (r.length > LIFT_MAX_RANGE || !read_all(code, r.length))
			return 3;
		memset(code + r.length, 0x90, 32);
		for (uint32_t at = 0; at < r.length;)
			at += lift_one(&l, code + at, r.length - at, r.address + at);
		fwrite(&end, sizeof(end), 1, stdout);
		fflush(stdout);
	}
	return 0;
}
