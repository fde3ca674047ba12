/* sym/ir/stored.c - what a dump's global variables hold, as needs: which of the program's variables are meant?
 *
 * Names are compared as the source has them. A name that several variables have says nothing, nor does one whose
 * variable has another size here. */
#include "sym/ir/needs.h"

#include "base/demangle.h"
#include "base/mem.h"
#include "sym/ir/ir.h"

#include <stdlib.h>
#include <string.h>

#define OWN_SUFFIX ".plait" /* unplait cc makes names of one file unique with it */

/* Compilers add to the names of variables that other files do not see: "main.count", "count.3", "_ZL5count". */
static bool is_called(const char *symbol, const char *name)
{
	char *plain = xstrdup(symbol), *own = strstr(plain, OWN_SUFFIX), *text, *start;
	size_t end = strlen(plain);
	bool same;

	while (end > 0 && plain[end - 1] >= '0' && plain[end - 1] <= '9')
		end--;
	if (own)
		*own = '\0';
	else if (end > 1 && plain[end] && plain[end - 1] == '.')
		plain[end - 1] = '\0';
	text = demangle(plain);
	for (start = text + strlen(text); start > text && start[-1] != '.' && start[-1] != ':';)
		start--;
	same = !strcmp(start, name);
	free(text);
	free(plain);
	return same;
}

static bool is_meant(const struct global *g, const struct sym_stored *stored, bool own)
{
	return g->name && !g->is_model && !g->foreign && !g->tls && !g->readonly &&
	       g->size == stored->size && (strstr(g->name, OWN_SUFFIX) != NULL) == own &&
	       is_called(g->name, stored->global);
}

/* The one global with this name and size. Returns ir->globals.len when there is none, or more than one. own: look at
 * variables that only one file sees; the variables of models of library functions are never among those. */
static uint32_t find_global(const struct ir *ir, const struct sym_stored *stored, bool own)
{
	uint32_t none = (uint32_t)ir->globals.len, found = none;

	for (uint32_t i = 0; i < none; i++) {
		if (!is_meant(&ir->globals.data[i], stored, own))
			continue;
		if (found != none)
			return none;
		found = i;
	}
	return found == none && own ? find_global(ir, stored, false) : found;
}

bool needs_of_stored(struct needs *n, const struct sym_stored *stored)
{
	struct need need = { .bytes = stored->bytes,
			     .stored = true,
			     .want = { .code = stored->differs ? OP_NE : OP_EQ,
				       .w = (uint8_t)(stored->bytes * 8),
				       .holds = true,
				       .mask = UINT64_MAX,
				       .constant = stored->value } };
	struct cell cell = { .object = find_global(n->ir, stored, true),
			     .offset = (uint32_t)stored->offset };

	if (cell.object == n->ir->globals.len ||
	    stored->offset + stored->bytes > n->ir->globals.data[cell.object].size ||
	    cell.offset != stored->offset)
		return false;
	vec_push(&need.cells, cell); /* objects begin with the globals */
	return needs_take(n, &need, NULL, NULL);
}
