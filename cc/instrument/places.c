/* cc/instrument/places.c - accesses that cost nothing until somebody wants to know of them.
 *
 * In the order variant a load or store is one instruction, filled up to the five bytes of a jump:
 *
 * 1:	movl	(%rdi,%rsi,4), %eax
 *	nop				where it is shorter
 * 4:	...
 *
 * Out of the way lies what happens when it is recorded (unplait/hooks.h), and the table plait_order
 * says where both are. The runtime writes jumps over the accesses that the profile names, before
 * the program starts; all others run as they are.
 *
 * As text, an access is not seen by the optimiser: it is neither merged nor moved, and is made as
 * often as in the full variant that replays the log. Accesses of other memory may be moved across
 * it. `alignstack` keeps the red zone free for the calls. */
#include "cc/instrument/places.h"

#include "base/strbuf.h"
#include "unplait/hooks.h"
#include "unplait/vectors.h"

#include <stdio.h>
#include <string.h>

/* cc's attribute `memory`: two bits each for the memory of arguments, memory that nobody sees. */
enum { READS = 1 | 3 << 2, WRITES = 2 | 3 << 2, EVERYTHING = 0 };

/* The instruction and what is recorded around it, out of the way. The numbers are words of their
 * own, for the runtime to overwrite. */
static void add_cold(struct strbuf *sb, const char *instruction, struct place p)
{
	strbuf_addf(sb, "4:\n\t.pushsection .text.plait_cold,\"ax\",@progbits\n3:\t");
	if (p.enter)
		strbuf_addf(sb,
			    ".byte 0x68\n\t.long %u\n\t.byte 0x68\n\t.long %u\n\t"
			    "call *plait_order_enter_kept@GOTPCREL(%%rip)\n\t"
			    "leaq 16(%%rsp), %%rsp\n\t",
			    p.site, p.count << PLAIT_VECTORS_THREAD_BITS);
	strbuf_addf(sb, "%s\n\t", instruction);
	if (p.leave)
		strbuf_addf(sb, "call *plait_order_leave_kept@GOTPCREL(%%rip)\n\t");
	strbuf_addf(sb,
		    "jmp 4b\n\t.popsection\n\t.pushsection plait_order,\"a\",@progbits\n\t"
		    ".long 1b-., 3b-., %u, %d\n\t.popsection",
		    p.site, p.enter ? PLAIT_PLACE_ENTER : PLAIT_PLACE_LEAVE);
}

static void access_text(struct strbuf *sb, const char *instruction, struct place p)
{
	strbuf_addf(sb,
		    "1:\t%s\n2:\n\t"
		    ".ifeq 2b-1b-2\n\t.byte 0x0f, 0x1f, 0\n\t.endif\n\t"
		    ".ifeq 2b-1b-3\n\t.byte 0x66, 0x90\n\t.endif\n\t"
		    ".ifeq 2b-1b-4\n\t.byte 0x90\n\t.endif\n",
		    instruction);
	add_cold(sb, instruction, p);
}

/* calls: its code out of the way calls somebody, and the red zone must be free for that. */
static LLVMValueRef build_text(LLVMBuilderRef b, LLVMTypeRef type, const struct strbuf *text,
			       const char *constraints, LLVMValueRef *args, unsigned n,
			       uint64_t memory, bool calls)
{
	LLVMContextRef c = LLVMGetTypeContext(type);
	LLVMValueRef code =
		LLVMGetInlineAsm(type, text->data, text->len, constraints, strlen(constraints),
				 true, calls, LLVMInlineAsmDialectATT, false);
	LLVMValueRef call = LLVMBuildCall2(b, type, code, args, n, "");

	call_add_attribute(c, call, "nounwind", 0);
	if (memory)
		call_add_attribute(c, call, "memory", memory);
	return call;
}

static LLVMValueRef build(LLVMBuilderRef b, LLVMTypeRef type, const struct strbuf *text,
			  const char *constraints, LLVMValueRef *args, unsigned n, uint64_t memory)
{
	return build_text(b, type, text, constraints, args, n, memory, true);
}

/* Of the first argument: what lies there. */
static void points_to(LLVMValueRef call, LLVMTypeRef what)
{
	unsigned kind = attribute_kind("elementtype");

	LLVMAddCallSiteAttribute(call, 1,
				 LLVMCreateTypeAttribute(LLVMGetTypeContext(what), kind, what));
}

LLVMValueRef place_load(LLVMBuilderRef b, LLVMValueRef p, unsigned n, bool atomic,
			struct place place)
{
	LLVMTypeRef ptr = LLVMTypeOf(p);
	LLVMTypeRef what = LLVMIntTypeInContext(LLVMGetTypeContext(ptr), n * 8);
	struct strbuf text = { 0 };
	LLVMValueRef call;

	access_text(&text,
		    n == 1   ? "movzbl $1, ${0:k}"
		    : n == 2 ? "movzwl $1, ${0:k}"
		    : n == 4 ? "movl $1, ${0:k}"
			     : "movq $1, ${0:q}",
		    place);
	call = build(b, LLVMFunctionType(what, &ptr, 1, 0), &text, "=r,*m,~{flags}", &p, 1,
		     atomic ? EVERYTHING : READS);
	points_to(call, what);
	strbuf_deinit(&text);
	return call;
}

void place_store(LLVMBuilderRef b, LLVMValueRef p, LLVMValueRef v, unsigned n, bool atomic,
		 struct place place)
{
	LLVMTypeRef types[2] = { LLVMTypeOf(p), LLVMTypeOf(v) };
	LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetTypeContext(types[0]));
	LLVMValueRef args[2] = { p, v };
	struct strbuf text = { 0 };

	access_text(&text,
		    n == 1   ? "movb ${1:b}, $0"
		    : n == 2 ? "movw ${1:w}, $0"
		    : n == 4 ? "movl ${1:k}, $0"
			     : "movq ${1:q}, $0",
		    place);
	points_to(build(b, LLVMFunctionType(none, types, 2, 0), &text,
			n == 8 ? "=*m,re,~{flags}" : "=*m,ri,~{flags}", args, 2,
			atomic ? EVERYTHING : WRITES),
		  types[1]);
	strbuf_deinit(&text);
}

/* ---- the plain variant ---- */

/* `hot`, five bytes, until a jump is written over it; then `cold`, below whatever the function keeps under its
 * stack pointer. */
static LLVMValueRef sync_place(LLVMBuilderRef b, const char *hot, const char *cold,
			       LLVMTypeRef type, const char *constraints, LLVMValueRef *args,
			       unsigned n)
{
	struct strbuf text = { 0 };
	LLVMValueRef call;

	strbuf_addf(&text,
		    "1:\t%s\n4:\n\t"
		    ".pushsection .text.plait_cold,\"ax\",@progbits\n3:\t"
		    "leaq -136(%%rsp), %%rsp\n\t%s\n\tleaq 136(%%rsp), %%rsp\n\tjmp 4b\n\t"
		    ".popsection\n\t.pushsection plait_order,\"a\",@progbits\n\t"
		    ".long 1b-., 3b-., 0, %d\n\t.popsection",
		    hot, cold, PLAIT_PLACE_SYNC);
	call = build_text(b, type, &text, constraints, args, n, EVERYTHING, false);
	strbuf_deinit(&text);
	return call;
}

#define NOTHING ".byte 0x0f, 0x1f, 0x44, 0, 0"

void place_sync_enter(LLVMBuilderRef b, LLVMValueRef p)
{
	LLVMTypeRef ptr = LLVMTypeOf(p);
	LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetTypeContext(ptr));

	sync_place(b, NOTHING, "movq ${0:q}, (%rsp)\n\tcall *plait_sync_enter_kept@GOTPCREL(%rip)",
		   LLVMFunctionType(none, &ptr, 1, 0), "r,~{flags},~{memory}", &p, 1);
}

void place_sync_leave(LLVMBuilderRef b)
{
	LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
	LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));

	sync_place(b, NOTHING, "call *plait_sync_leave_kept@GOTPCREL(%rip)",
		   LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, 0), "~{flags},~{memory}",
		   NULL, 0);
}

/* The registers are those of rt/log/loads.S. */
LLVMValueRef place_sync_load(LLVMBuilderRef b, LLVMValueRef p, unsigned n)
{
	LLVMTypeRef ptr = LLVMTypeOf(p);
	LLVMTypeRef what = LLVMIntTypeInContext(LLVMGetTypeContext(ptr), n * 8);
	const char *hot = n == 1   ? "movzbl (%rdi), %eax\n\t.byte 0x66, 0x90"
			  : n == 2 ? "movzwl (%rdi), %eax\n\t.byte 0x66, 0x90"
			  : n == 4 ? "movl (%rdi), %eax\n\t.byte 0x0f, 0x1f, 0"
				   : "movq (%rdi), %rax\n\t.byte 0x66, 0x90";
	char cold[64];

	snprintf(cold, sizeof(cold), "call *plait_sync_load%u@GOTPCREL(%%rip)", n);
	return sync_place(b, hot, cold, LLVMFunctionType(what, &ptr, 1, 0),
			  "={rax},{rdi},~{rcx},~{rdx},~{rsi},~{r8},~{r9},~{flags},~{memory}", &p,
			  1);
}

void place_bare(LLVMBuilderRef b, struct place place)
{
	LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
	LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
	struct strbuf text = { 0 };

	strbuf_addf(&text, "1:\t.byte 0x0f, 0x1f, 0x44, 0, 0\n");
	add_cold(&text, "", place);
	build(b, LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, 0), &text, "~{flags}", NULL, 0,
	      EVERYTHING);
	strbuf_deinit(&text);
}
