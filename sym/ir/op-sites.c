/* sym/ir/op-sites.c - from the operations of a function to the sites of the binary's table.
 *
 * The table names an instruction of the bitcode by function and number (unplait/sites.h); lowering
 * kept the number of the instruction that each operation came from. One instruction may have become
 * several operations and may have several sites (a copy reads and writes): an operation gets the
 * first site of its instruction that it can be. */
#include "sym/ir/op-sites.h"

static bool fits(enum plait_site_kind kind, enum opcode code)
{
	bool block = code == OP_MEMCPY || code == OP_MEMMOVE || code == OP_MEMSET;

	switch (kind) {
	case PLAIT_SITE_READ:
	case PLAIT_SITE_ATOMIC_READ:
		return (code >= OP_LOAD8 && code <= OP_LOADX64) || code == OP_LOADN || block;
	case PLAIT_SITE_WRITE:
	case PLAIT_SITE_ATOMIC_WRITE:
		return (code >= OP_STORE8 && code <= OP_STOREX64) || code == OP_STOREN || block;
	case PLAIT_SITE_ATOMIC_RMW:
		return code == OP_RMW || code == OP_CMPXCHG;
	case PLAIT_SITE_BRANCH:
		return (code >= OP_BR && code <= OP_BRSLEN) || code == OP_SELECT;
	case PLAIT_SITE_SWITCH:
		return code == OP_SWITCH;
	case PLAIT_SITE_CALL:
	case PLAIT_SITE_ALLOC:
	case PLAIT_SITE_INPUT:
		return code == OP_CALL || code == OP_CALLI || code == OP_BUILTIN;
	default:
		return false;
	}
}

/* Sites are numbered in program order: binary search for (function, instruction). */
static uint32_t first_site(const struct sites *sites, uint32_t function, uint32_t ir)
{
	uint32_t lo = 0, hi = sites->header.nsites;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		const struct plait_site *s = &sites->sites[mid];

		if (s->ir_function < function ||
		    (s->ir_function == function && s->ir_instruction < ir))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t *op_sites(const struct sites *sites, const struct function *f)
{
	uint32_t *ret = xcalloc(f->nops + 1, sizeof(*ret));

	for (uint32_t pc = 0; f->body != UINT32_MAX && pc < f->nops; pc++) {
		uint32_t i = first_site(sites, f->body, f->src[pc].ir);

		for (; i < sites->header.nsites; i++) {
			const struct plait_site *s = &sites->sites[i];

			if (s->ir_function != f->body || s->ir_instruction != f->src[pc].ir)
				break;
			if (fits(s->kind, f->ops[pc].code)) {
				ret[pc] = i + 1;
				break;
			}
		}
	}
	return ret;
}
