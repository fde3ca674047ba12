/* dictionary.h - the data dictionary of a small database, shaped like Derby's: descriptors of tables, which all
 * connections share, and the dependencies of views upon them. */
#ifndef DICTIONARY_H
#define DICTIONARY_H

#include <pthread.h>
#include <stddef.h>

#define TABLES 4
#define COLUMNS 6
#define DEPENDENCIES 256
#define NAME_SIZE 32

/* Which columns of a table a statement uses. */
struct column_map {
	int set[COLUMNS];
};

struct table {
	pthread_mutex_t lock;
	char name[NAME_SIZE];
	char column[COLUMNS][NAME_SIZE];
	/* The columns of the statement that is being bound, NULL when there is none. Set by every connection
	 * that binds, although the descriptor belongs to all of them. */
	const struct column_map *referenced;
	int rows;
};

struct dependency {
	int view;                   /* 0: a free place */
	char provider[8 * NAME_SIZE]; /* the table, and its columns in brackets */
};

struct dictionary {
	struct table table[TABLES];
	pthread_mutex_t lock; /* of all below */
	struct dependency dependency[DEPENDENCIES];
	int views_made, views_dropped;
	int lookups;
};

void dictionary_init(struct dictionary *d);
void dictionary_deinit(struct dictionary *d);
struct table *dictionary_find(struct dictionary *d, const char *name);
void dictionary_add_dependency(struct dictionary *d, int view, const char *provider);
void dictionary_drop_dependencies(struct dictionary *d, int view);
int dictionary_dependencies(struct dictionary *d);

void table_set_referenced(struct table *t, const struct column_map *map);
/* "t" or "t(c1, c3)", depending on the columns the current statement refers to. */
void table_object_name(struct table *t, char *to, size_t size);

#endif
