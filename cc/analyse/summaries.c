#include "cc/analyse/summaries.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct summary table[] = {
#define S(name, result, writes, escapes, special)                                                  \
	{ name, RESULT_##result, writes, escapes, SPECIAL_##special, false },
#define I(name, result, writes, escapes, special)                                                  \
	{ name, RESULT_##result, writes, escapes, SPECIAL_##special, true },
#include "cc/analyse/summaries.def"
#undef S
#undef I
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct summary *)a)->name, ((const struct summary *)b)->name);
}

/* Members of std::string that the library keeps to itself. */
static const struct summary *find_string(const char *name)
{
	static const char members[] = "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
	static const struct summary changes = { "_ZN", RESULT_NOTHING, 1, 0, SPECIAL_STRING, true };
	static const struct summary looks = { "_ZNK", RESULT_NOTHING, 0, 0, SPECIAL_STRING, true };
	static const struct summary fills = { "_ZNK", RESULT_NOTHING, 3, 0, SPECIAL_STRING, true };
	bool is_const = strncmp(name, "_ZNK", 4) == 0;

	if (strncmp(name, "_ZN", 3) != 0 ||
	    strncmp(name + (is_const ? 4 : 3), members, sizeof(members) - 1) != 0)
		return NULL;
	if (!is_const)
		return &changes;
	return strstr(name, "EE4copy") || strstr(name, "EE6substr") ? &fills : &looks;
}

const struct summary *summary_find(const char *name)
{
	static bool sorted;
	struct summary key = { .name = name };
	const struct summary *found;

	if (!sorted)
		qsort(table, ARRAY_SIZE(table), sizeof(table[0]), compare);
	sorted = true;
	found = bsearch(&key, table, ARRAY_SIZE(table), sizeof(table[0]), compare);
	return found ? found : find_string(name);
}
