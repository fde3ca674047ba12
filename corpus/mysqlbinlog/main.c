/* mysqlbinlog - a small database server whose log misses transactions during rotation.
 *
 * Client sessions execute statements on two tables and write each change to the binary log
 * so that it can be replayed. Rotation closes the log file and opens the next. A session
 * asks "is the log open?" before it takes the log's lock; in the middle of a rotation the answer
 * is no, and the change is never logged. At the end the log is replayed into empty tables and the
 * outcome compared with the real ones.
 * Cure: the question is asked under the lock (binlog.c).
 *
 * sql.c statements   table.c tables   binlog.c the log   main.c sessions, administrator, recovery
 * usage: main [sessions=3] [statements=6] [rotations=3] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { MAX = 16 };

static struct server *srv;
static int statements, rotations;

/* Parse, execute, log. The table stays locked until the change is in the log, so that the
 * log has the changes of a table in the order in which they happened. */
static void run_statement(struct server *s, const char *text)
{
	struct statement st;
	struct table *t;
	long value = 0;
	int changed;

	if (sql_parse(text, &st) < 0) {
		pthread_mutex_lock(&s->status.lock);
		s->status.errors++;
		pthread_mutex_unlock(&s->status.lock);
		return;
	}
	t = &s->table[st.table];
	pthread_mutex_lock(&t->lock);
	changed = table_execute(t, &st, &value);
	if (changed)
		binlog_write(&s->binlog, &st);
	pthread_mutex_unlock(&t->lock);

	pthread_mutex_lock(&s->status.lock);
	s->status.questions++;
	s->status.changes += changed;
	s->status.last_value = value;
	pthread_mutex_unlock(&s->status.lock);
}

static void *session(void *arg)
{
	int i, id = *(int *)arg;
	char text[64];

	for (i = 0; i < statements; i++) {
		int key = (id * 3 + i) % ROWS, table = (id + i) % TABLES;

		if (i % 4 == 3)
			snprintf(text, sizeof(text), "select %d %d", table, key);
		else if (i % 4 == 2)
			snprintf(text, sizeof(text), "delete %d %d", table, key);
		else
			snprintf(text, sizeof(text), "set %d %d %d", table, key, id * 100 + i);
		run_statement(srv, text);
	}
	return NULL;
}

/* FLUSH LOGS, now and then. */
static void *administrator(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < rotations; i++)
		binlog_rotate(&srv->binlog);
	return NULL;
}

/* SHOW STATUS: another reader of shared state, with nothing wrong about it. */
static void *monitor(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		pthread_mutex_lock(&srv->status.lock);
		assert(srv->status.changes <= srv->status.questions);
		pthread_mutex_unlock(&srv->status.lock);
	}
	return NULL;
}

/* Replay the log into fresh tables and compare. */
static void recover_and_compare(void)
{
	struct table fresh[TABLES];
	long ignored;
	int i, k, file;

	memset(fresh, 0, sizeof(fresh));
	for (file = 0; file <= srv->binlog.current; file++)
		for (i = 0; i < srv->binlog.file[file].events; i++) {
			struct statement *st = &srv->binlog.file[file].event[i];

			table_execute(&fresh[st->table], st, &ignored);
		}
	for (i = 0; i < TABLES; i++)
		for (k = 0; k < ROWS; k++) {
			assert(fresh[i].row[k].used == srv->table[i].row[k].used);
			assert(fresh[i].row[k].value == srv->table[i].row[k].value);
		}
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 3, id[MAX];
	pthread_t t[MAX], admin, mon;

	statements = argc > 2 ? atoi(argv[2]) : 6;
	rotations = argc > 3 ? atoi(argv[3]) : 3;
	if (n < 1 || n > MAX || statements < 1 || statements > EVENTS / MAX || rotations < 0 ||
	    rotations >= FILES)
		return 2;
	srv = calloc(1, sizeof(*srv));
	assert(srv);
	for (i = 0; i < TABLES; i++)
		pthread_mutex_init(&srv->table[i].lock, NULL);
	pthread_mutex_init(&srv->status.lock, NULL);
	binlog_init(&srv->binlog);

	for (i = 0; i < n; i++) {
		id[i] = i + 1;
		pthread_create(&t[i], NULL, session, &id[i]);
	}
	pthread_create(&admin, NULL, administrator, NULL);
	pthread_create(&mon, NULL, monitor, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	pthread_join(admin, NULL);
	pthread_join(mon, NULL);
	recover_and_compare();
	free(srv);
	return 0;
}
