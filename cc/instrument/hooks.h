/* cc/instrument/hooks.h - insert calls of libplait's hooks into a variant of the program. */
#ifndef CC_INSTRUMENT_HOOKS_H
#define CC_INSTRUMENT_HOOKS_H

#include "cc/instrument/bits.h"
#include "cc/instrument/shadow.h"
#include "cc/llvm.h"

#include <stdbool.h>
#include <stdint.h>

struct program;

/* One variant in the making. Values are inserted where the builder `b` stands. */
struct hooks {
	struct program *p;
	LLVMContextRef c;
	LLVMModuleRef m;
	LLVMBuilderRef b;
	LLVMTypeRef i32, i64, none;
	LLVMValueRef call_site, module_base;
	struct bits bits;
	struct shadow shadow;
	unsigned nswitches;
	int variant; /* PLAIT_VARIANT_* */
};

void hooks_init(struct hooks *h, struct program *p, int v);
void hooks_deinit(struct hooks *h);

/* Stand before an instruction, with its source position. */
void hooks_stand_before(struct hooks *h, LLVMValueRef at);
/* Stand behind a call; false when there is no single place behind it. */
bool hooks_stand_after(struct hooks *h, LLVMValueRef call);

/* Call an external hook; its type is read off the arguments, at most 8. */
LLVMValueRef hooks_call(struct hooks *h, const char *name, LLVMTypeRef ret, unsigned n,
			LLVMValueRef *args);
/* Before this call, say where it comes from. */
void hooks_set_call_site(struct hooks *h, LLVMValueRef call, uint32_t site);

/* The number of a site at run time: a library adds where its numbers begin. */
LLVMValueRef hooks_site(struct hooks *h, uint32_t site);
/* An i32. */
LLVMValueRef hooks_constant(struct hooks *h, uint64_t v);
LLVMTypeRef hooks_int_type(struct hooks *h, unsigned bytes);
/* Any scalar value as an integer of n bytes, and back. */
LLVMValueRef hooks_to_int(struct hooks *h, LLVMValueRef v, unsigned n);
LLVMValueRef hooks_from_int(struct hooks *h, LLVMValueRef v, LLVMTypeRef want);
/* How many bytes a value of this type takes in memory. */
unsigned hooks_bytes(struct hooks *h, LLVMTypeRef t);

/* `old` goes; its users take `new`. */
void hooks_replace(LLVMValueRef old, LLVMValueRef new);

#endif
