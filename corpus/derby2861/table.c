/* table.c - a table's descriptor, and the name it has in messages and dependencies.
 *
 * The published bug is in table_object_name(): it looks whether the statement refers to some of the columns, and goes through
 * the map if so. The map belongs to the statement, but hangs on the descriptor, which all connections share: another
 * connection that ends its statement takes the map away between the look and the use.
 *
 * The cure is in main.c: a connection locks the descriptor from setting the map to taking it away. */
#include "dictionary.h"

#include <stdio.h>

void table_set_referenced(struct table *t, const struct column_map *map)
{
	t->referenced = map; /* BUG:b */
}

/* Kept apart from the caller's check, as in the original, where the map is an object with a method. */
static __attribute__((noinline)) int is_referenced(const struct table *t, int column)
{
	return t->referenced->set[column]; /* BUG:c */
}

void table_object_name(struct table *t, char *to, size_t size)
{
	int length, first = 1;

	if (t->referenced == NULL) { /* BUG:a */
		snprintf(to, size, "%s", t->name);
		return;
	}
	length = snprintf(to, size, "%s(", t->name);
	for (int i = 0; i < COLUMNS; i++) {
		if (!is_referenced(t, i))
			continue;
		length += snprintf(to + length, size - (size_t)length, "%s%s", first ? "" : ", ", t->column[i]);
		first = 0;
	}
	snprintf(to + length, size - (size_t)length, ")");
}
