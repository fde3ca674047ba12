#include "explain/explanation.h"

#include <stdlib.h>

void explanation_free(struct explanation *x)
{
	if (!x)
		return;
	arena_deinit(&x->arena);
	free(x);
}
