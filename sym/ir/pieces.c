/* sym/ir/pieces.c - one module out of the pieces of bitcode that a binary carries.
 *
 * A program whose objects were instrumented one by one (cc/driver/units.c) has a piece for each of
 * them. The site table counts their functions with bodies one piece after the other; of an inline
 * function that several pieces have, the linker took the first. So a function is known by its name
 * here, and those that are local to a piece get a name that no other has. */
#include "sym/ir/llvm.h"

#include "base/err.h"
#include "base/map.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

/* The number of each function with a body, by name. */
struct numbering {
	struct names names;
	VEC(uint32_t) numbers;
	uint32_t next;
};

struct err *ir_parse(struct ir *ir, const struct ir_piece *piece, char **diagnostic,
		     LLVMModuleRef *ret)
{
	LLVMMemoryBufferRef buf =
		LLVMCreateMemoryBufferWithMemoryRangeCopy(piece->data, piece->len, "bitcode");
	LLVMBool bad = LLVMParseBitcodeInContext2(ir->context, buf, ret);

	LLVMDisposeMemoryBuffer(buf);
	if (!bad)
		return NULL;
	return err_new(ERR_ENV, "%s is not bitcode that LLVM 19 can read: %s", piece->what,
		       *diagnostic ? *diagnostic : "damaged or of a newer version");
}

static void name_apart(LLVMValueRef v, size_t piece)
{
	LLVMLinkage linkage = LLVMGetLinkage(v);
	_cleanup_(xfreep) char *name = NULL;
	size_t len;

	if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
		return;
	name = xasprintf("%s.plait.%zu", LLVMGetValueName2(v, &len), piece);
	LLVMSetValueName2(v, name, strlen(name));
}

static void number_functions(struct numbering *n, LLVMModuleRef m)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
		uint32_t before = (uint32_t)n->names.len, id;
		size_t len;

		if (LLVMIsDeclaration(f))
			continue;
		id = names_intern(&n->names, LLVMGetValueName2(f, &len));
		if (id == before)
			vec_push(&n->numbers, n->next);
		else if (LLVMGetLinkage(f) == LLVMExternalLinkage)
			n->numbers.data[id] = n->next; /* it wins over a weak one */
		n->next++;
	}
}

struct err *ir_join(struct ir *ir, const struct ir_piece *pieces, size_t n, char **diagnostic,
		    struct map *bodies)
{
	struct numbering all = { 0 };
	struct err *err = NULL;

	for (size_t i = 0; !err && i < n; i++) {
		LLVMModuleRef m = NULL;

		err = ir_parse(ir, &pieces[i], diagnostic, &m);
		if (err)
			break;
		for (LLVMValueRef g = LLVMGetFirstGlobal(m); g && n > 1; g = LLVMGetNextGlobal(g))
			name_apart(g, i);
		for (LLVMValueRef f = LLVMGetFirstFunction(m); f && n > 1;
		     f = LLVMGetNextFunction(f))
			name_apart(f, i);
		number_functions(&all, m);
		if (!ir->llvm)
			ir->llvm = m;
		else if (LLVMLinkModules2(ir->llvm, m))
			err = err_new(ERR_ENV, "the pieces of the program do not fit together: %s",
				      *diagnostic ? *diagnostic : "link failed");
	}
	for (LLVMValueRef f = err ? NULL : LLVMGetFirstFunction(ir->llvm); f;
	     f = LLVMGetNextFunction(f)) {
		size_t len;
		uint32_t id = LLVMIsDeclaration(f)
				      ? NAMES_NONE
				      : names_find(&all.names, LLVMGetValueName2(f, &len));

		if (id != NAMES_NONE)
			map_put(bodies, (uintptr_t)f, all.numbers.data[id]);
	}
	names_deinit(&all.names);
	vec_deinit(&all.numbers);
	return err;
}
