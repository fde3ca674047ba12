/* crumbs/branches.c - last-branch records, as `perf script -F brstack` prints them.
 *
 * A record is one line: FROM/TO/FLAGS words, the newest branch first, perhaps behind fields that the user asked
 * for, too. Addresses are hexadecimal; with `dso` each has its file behind it in parentheses, which the dump knows
 * better. The last record of the file counts. */
#include "crumbs/kinds.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BRANCHES_MOST = 1024 };

/* "0x401136" or "0x401136(/bin/true)", up to the slash. */
static const char *read_address(const char *at, uint64_t *ret)
{
	char *end;

	if (at[0] != '0' || at[1] != 'x' || !isxdigit((unsigned char)at[2]))
		return NULL;
	*ret = strtoull(at, &end, 16);
	if (*end == '(') {
		end = strchr(end, ')');
		if (!end)
			return NULL;
		end++;
	}
	return *end == '/' ? end + 1 : NULL;
}

/* FROM/TO/FLAGS; flags are at least P, M, X or -, so that no path or date is taken for a branch. */
static bool read_branch(const char *word, struct crumb_branch *ret)
{
	const char *at = read_address(word, &ret->from);

	at = at ? read_address(at, &ret->to) : NULL;
	return at && *at && strchr("PMXN-", *at) && (at[1] == '/' || at[1] == ' ' || !at[1]) &&
	       (ret->from || ret->to);
}

bool crumbs_read_branches(struct crumbs *c, const char *line)
{
	struct crumb_branch b;
	bool found = false;

	for (const char *at = line; *at && c->branches.len < BRANCHES_MOST;) {
		at += strspn(at, " \t");
		if (*at && read_branch(at, &b)) {
			if (!found)
				c->branches.len = 0;
			found = true;
			vec_push(&c->branches, b);
		}
		at += strcspn(at, " \t");
	}
	return found;
}
