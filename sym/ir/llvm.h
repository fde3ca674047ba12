/* sym/ir/llvm.h - private to ir*.c: what lowering shares. LLVM's C API stops here. */
#ifndef SYM_IR_LLVM_H
#define SYM_IR_LLVM_H

#include "sym/ir/ir.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

/* One register's worth of a type in memory. A scalar has one part (two beyond 64 bits); a
 * struct, array or vector has the parts of its elements, in order. */
struct part {
	uint64_t offset;
	uint8_t w; /* bits */
	bool is_fp;
};
struct parts VEC_FIELDS(struct part);

bool type_parts(struct ir *ir, LLVMTypeRef type, uint64_t base, struct parts *out);
/* Registers a value of this type takes; 0 for void. */
uint32_t type_regs(struct ir *ir, LLVMTypeRef type);
uint64_t type_size(struct ir *ir, LLVMTypeRef type);

/* Write the constant's bytes at out (zeroed, type_size long). false: it needs something we do not
 * have, and *why says what. */
bool const_bytes(struct ir *ir, LLVMValueRef c, uint8_t *out, const char **why);
/* The constant as a 64-bit number; pointers become machine addresses. */
bool const_u64(struct ir *ir, LLVMValueRef c, uint64_t *ret, const char **why);

/* The number of a block within its function. */
uint32_t block_number(LLVMBasicBlockRef bb);
uint64_t block_address(uint32_t function, uint32_t block);
/* Where an instruction was written: index into ir->places; 0 = not known. */
uint32_t place_of(struct ir *ir, LLVMValueRef instruction);
struct function *ir_function_of(struct ir *ir, LLVMValueRef fn);

/* Read a piece of bitcode. *diagnostic is what LLVM complained about, if it did. */
struct err *ir_parse(struct ir *ir, const struct ir_piece *piece, char **diagnostic,
		     LLVMModuleRef *ret);
/* Make ir->llvm of all pieces; `bodies` gets the number of each function with a body, as the site
 * table has it. */
struct err *ir_join(struct ir *ir, const struct ir_piece *pieces, size_t n, char **diagnostic,
		    struct map *bodies);

#endif
