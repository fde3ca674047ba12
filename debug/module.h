/* debug/module.h - private: what modules.c opens and frames.c and variables.c read.
 *
 * elfutils places every module at an address of its own choice, `bias` away from the file's own
 * addresses. Inside debug/, `addr` always means elfutils' address, `offset` the file's own. */
#ifndef DEBUG_MODULE_H
#define DEBUG_MODULE_H

#include "base/arena.h"
#include "base/vec.h"
#include "debug/modules.h"

#include <elfutils/libdwfl.h>

/* Which compilation unit an address belongs to. */
struct unit_range {
	GElf_Addr low, high;
	Dwarf_Die unit;
	Dwarf_Addr bias; /* addr - bias is the address in the debug information */
};

/* Which function's code an address is in, before inlined ones are looked for. */
struct function_range {
	GElf_Addr low, high;
	Dwarf_Die die;
};

/* A variable with static storage. */
struct variable {
	GElf_Addr addr;
	uint64_t size;
	const char *name;
	bool of_runtime; /* unplait's own, which is linked into the program */
	Dwarf_Die type;
};

struct module {
	struct arena *arena; /* of the modules: strings of answers */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	GElf_Addr bias;
	char *problem;		      /* why it cannot be used; NULL = it can */
	VEC(struct unit_range) units; /* by low; collected at the first question */
	bool have_units;
	VEC(struct function_range) functions; /* the same */
	bool have_functions;
	VEC(struct variable) variables; /* by address; collected at the first question */
	bool have_variables;
};

/* "ThreadPool::work()" for the name of a symbol, without the variant that unplait cc made of it
 * ("work.plait.full"). NULL for NULL. */
const char *module_demangled(struct module *m, const char *symbol);

/* Fill in m->variables, if nobody has asked for them yet. */
void module_need_variables(struct module *m);
/* The scopes around an address of the file, the function first, the innermost last; how many. An address in them is
 * offset + m->bias - *bias. */
size_t module_scopes(struct module *m, uint64_t offset, Dwarf_Die *ret, size_t most,
		     Dwarf_Addr *bias);

#endif
