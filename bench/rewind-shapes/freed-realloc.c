/* A pointer into a table is kept while the table grows, and so moves (CVE-2019-8457's kin: a stale pointer behind
 * realloc). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	long *value;
	long id;
};

static struct row *rows;
static int nrows;

static __attribute__((noinline)) struct row *row_add(long *value)
{
	rows = realloc(rows, (size_t)(nrows + 1) * sizeof(*rows)); /* BUG:a */
	rows[nrows] = (struct row){ value, nrows };
	return &rows[nrows++];
}

int main(void)
{
	static long values[64];
	struct row *first = row_add(&values[0]);
	char *other[4];

	other[0] = malloc(20);
	for (int i = 1; i < 40; i++)
		row_add(&values[i]);
	for (int i = 0; i < 4; i++) {
		other[i] = malloc(24);
		memset(other[i], 'z', 24);
	}
	*first->value = 5;
	return (int)values[0];
}
