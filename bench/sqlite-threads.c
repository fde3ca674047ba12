/* sqlite-threads [ROWS [private]] - two threads insert into one shared in-memory database, or into one each;
 * prints how many rows there are (in the shared one). */
#include "sqlite3.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name = "file:shared?mode=memory&cache=shared";
static int rows = 2000;

static void *insert(void *arg)
{
	sqlite3 *db;
	char sql[100];

	sqlite3_open(name, &db);
	sqlite3_exec(db, "create table if not exists t(a, b)", NULL, NULL, NULL);
	for (int i = 0; i < rows; i++) {
		snprintf(sql, sizeof(sql), "insert into t values(%d, %d)", i, *(int *)arg);
		while (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
			;
	}
	sqlite3_close(db);
	return NULL;
}

static int print(void *context, int n, char **values, char **names)
{
	(void)context, (void)n, (void)names;
	printf("%s rows\n", values[0]);
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	int ids[2] = { 1, 2 };
	sqlite3 *db;

	if (argc > 1)
		rows = atoi(argv[1]);
	if (argc > 2)
		name = ":memory:";
	sqlite3_config(SQLITE_CONFIG_URI, 1);
	sqlite3_open(name, &db);
	sqlite3_exec(db, "create table t(a, b)", NULL, NULL, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, insert, &ids[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	sqlite3_exec(db, "select count(*) from t", print, NULL, NULL);
	sqlite3_close(db);
	return 0;
}
