/* cc/analyse/taint.h - which values may depend on shared memory or input, and which end up in addresses? */
#ifndef CC_ANALYSE_TAINT_H
#define CC_ANALYSE_TAINT_H

#include "base/map.h"
#include "cc/llvm.h"

struct classes;
struct program;
struct sharing;
struct worklist;

struct taint {
	struct program *p;
	struct sharing *sharing;
	struct classes *seen; /* borrowed */
	struct map values;    /* may depend on a shared read or on input */
	struct map memory;    /* fields that may hold such a value */
	struct map classes;   /* classes with such a field */
	struct map needed;    /* values that may flow into an address */
	struct map needed_memory;
	struct map undecided; /* of the values: what nothing that mode path logs decides */
	bool logs;	      /* the sweep for those: a load that is logged is known */
	struct map unknown; /* classes filled by code that cannot be run again with known values: by
			     * functions outside, or copied from shared memory */
	struct worklist *work; /* while it runs */
};

void taint_run(struct taint *t, struct program *p, struct sharing *s, struct classes *classes);
void taint_deinit(struct taint *t);
/* May re-execution not be able to compute this value? */
bool taint_is(const struct taint *t, LLVMValueRef v);
/* Even if it knows the values that mode path logs? */
bool taint_is_undecided(const struct taint *t, LLVMValueRef v);
/* Was what lies there filled by something that nobody can repeat and nothing records? */
bool taint_is_unknown(struct taint *t, LLVMValueRef ptr);
/* Does this call of a function without bitcode look at memory that may be shared or from outside?
 */
bool taint_call_looks(struct taint *t, LLVMValueRef call);
/* May this value become part of an address (or be called)? */
bool taint_feeds_address(const struct taint *t, LLVMValueRef v);

#endif
