/* sql.c - "set <table> <key> <value>", "delete <table> <key>", "select <table> <key>". */
#include <stdio.h>
#include <string.h>

#include "server.h"

static int verb_of(const char *word, enum verb *ret)
{
	static const char *const names[] = { "set", "delete", "select" };
	int i;

	for (i = 0; i < 3; i++)
		if (!strcmp(word, names[i])) {
			*ret = (enum verb)i;
			return 0;
		}
	return -1;
}

int sql_parse(const char *text, struct statement *ret)
{
	char word[16];
	int n;

	memset(ret, 0, sizeof(*ret));
	n = sscanf(text, "%15s %d %d %ld", word, &ret->table, &ret->key, &ret->value);
	if (n < 3 || verb_of(word, &ret->verb) < 0)
		return -1;
	if (ret->verb == SQL_SET && n != 4)
		return -1;
	if (ret->table < 0 || ret->table >= TABLES || ret->key < 0 || ret->key >= ROWS)
		return -1;
	return 0;
}
