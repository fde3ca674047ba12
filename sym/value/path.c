#include "sym/value/path.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct model *model_new(uint32_t count)
{
	struct model *m = xcalloc(1, sizeof(*m) + count * sizeof(m->values[0]));

	m->refs = 1;
	m->count = count;
	return m;
}

void model_unref(struct model *m)
{
	if (m && !--m->refs)
		free(m);
}
