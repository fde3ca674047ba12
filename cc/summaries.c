#include "cc/summaries.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct summary table[] = {
#define S(name, result, writes, escapes, special)                                                  \
	{ name, RESULT_##result, writes, escapes, SPECIAL_##special },
#include "cc/summaries.def"
#undef S
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct summary *)a)->name, ((const struct summary *)b)->name);
}

const struct summary *summary_find(const char *name)
{
	static bool sorted;
	struct summary key = { .name = name };

	if (!sorted)
		qsort(table, ARRAY_SIZE(table), sizeof(table[0]), compare);
	sorted = true;
	return bsearch(&key, table, ARRAY_SIZE(table), sizeof(table[0]), compare);
}
