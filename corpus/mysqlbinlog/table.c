/* table.c - rows by key. */
#include "server.h"

int table_execute(struct table *t, const struct statement *st, long *value)
{
	struct row *row = &t->row[st->key];

	switch (st->verb) {
	case SQL_SET:
		row->used = 1;
		row->value = st->value;
		t->writes++;
		return 1;
	case SQL_DELETE:
		t->writes++;
		if (!row->used)
			return 0;
		row->used = 0;
		row->value = 0;
		return 1;
	case SQL_SELECT:
		*value = row->used ? row->value : -1;
		t->reads++;
		return 0;
	}
	return 0;
}
