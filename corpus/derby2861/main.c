/* derby2861: a descriptor's column map disappears while another connection reads it (see table.c).
 *
 * The driver: connections that create and drop views of the same table, and others that insert and count rows.
 *
 * usage: derby2861 [VIEWERS [WRITERS [ROUNDS]]] */
#include "dictionary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONNECTIONS 16

struct connection {
	pthread_t thread;
	int number;
	struct column_map map; /* of the statement at hand */
	int statements;
};

static struct dictionary dictionary;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_records, log_bytes;
static int rounds = 24;

static void write_log(const char *what)
{
	pthread_mutex_lock(&log_lock);
	log_records++;
	log_bytes += (int)strlen(what);
	pthread_mutex_unlock(&log_lock);
}

/* create view <view> as select <every second or third column> from T1 */
static void create_view(struct connection *c, int view)
{
	struct table *t = dictionary_find(&dictionary, "T1");
	char provider[8 * NAME_SIZE];

	assert(t);
	for (int i = 0; i < COLUMNS; i++)
		c->map.set[i] = i % (2 + view % 2) == 0;
#ifdef FIXED
	pthread_mutex_lock(&t->lock);
#endif
	table_set_referenced(t, &c->map);
	table_object_name(t, provider, sizeof(provider));
	table_set_referenced(t, NULL);
#ifdef FIXED
	pthread_mutex_unlock(&t->lock);
#endif
	dictionary_add_dependency(&dictionary, view, provider);
	write_log(provider);
}

static void drop_view(int view)
{
	dictionary_drop_dependencies(&dictionary, view);
	write_log("drop view");
}

static void *viewer(void *arg)
{
	struct connection *c = arg;

	for (int i = 1; i <= rounds; i++) {
		int view = c->number * 1000 + i;

		create_view(c, view);
		drop_view(view);
		c->statements += 2;
	}
	return NULL;
}

/* insert into T2, select count(*) from T2 */
static void *writer(void *arg)
{
	struct connection *c = arg;

	for (int i = 0; i < rounds; i++) {
		struct table *t = dictionary_find(&dictionary, "T2");
		int rows;

		assert(t);
		pthread_mutex_lock(&t->lock);
		rows = ++t->rows;
		pthread_mutex_unlock(&t->lock);
		write_log(rows % 2 ? "insert odd" : "insert");
		c->statements++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int viewers = argc > 1 ? atoi(argv[1]) : 2;
	int writers = argc > 2 ? atoi(argv[2]) : 2;
	static struct connection connection[MAX_CONNECTIONS];
	int statements = 0;

	rounds = argc > 3 ? atoi(argv[3]) : rounds;
	if (viewers < 0 || writers < 0 || viewers + writers > MAX_CONNECTIONS || rounds > 999) {
		fprintf(stderr, "usage: derby2861 [VIEWERS [WRITERS [ROUNDS]]], at most %d threads\n", MAX_CONNECTIONS);
		return 2;
	}
	dictionary_init(&dictionary);
	for (int i = 0; i < viewers + writers; i++) {
		connection[i].number = i + 1;
		pthread_create(&connection[i].thread, NULL, i < viewers ? viewer : writer, &connection[i]);
	}
	for (int i = 0; i < viewers + writers; i++) {
		pthread_join(connection[i].thread, NULL);
		statements += connection[i].statements;
	}
	assert(dictionary_dependencies(&dictionary) == 0);
	assert(statements == log_records);
	printf("%d statements, %d bytes of log, %d views made and %d dropped\n", statements, log_bytes,
	       dictionary.views_made, dictionary.views_dropped);
	dictionary_deinit(&dictionary);
	return 0;
}
