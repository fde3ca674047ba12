/* cc/analyse/names.h - from instructions to what a reader of the source would call them. */
#ifndef CC_ANALYSE_NAMES_H
#define CC_ANALYSE_NAMES_H

#include "cc/llvm.h"
#include "unplait/sites.h"

struct program;

/* Fill file, line, column, function and inlining of a site. */
void names_locate(struct program *p, LLVMValueRef f, LLVMValueRef at, struct plait_site *site);
/* What the source calls the memory at `ptr` ("queue.filled"); a string id, 0 = no idea. */
uint32_t names_object(struct program *p, LLVMValueRef ptr);
/* Where an object comes from ("malloc@parse.c:41"); 0 = no idea. */
uint32_t names_birth(struct program *p, LLVMValueRef home);

#endif
