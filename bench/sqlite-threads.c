/* Two threads insert into one shared in-memory database; prints how many rows there are. */
#include "sqlite3.h"

#include <pthread.h>
#include <stdio.h>

static const char name[] = "file:shared?mode=memory&cache=shared";

static void *insert(void *arg)
{
	sqlite3 *db;
	char sql[100];

	sqlite3_open(name, &db);
	for (int i = 0; i < 2000; i++) {
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

int main(void)
{
	pthread_t t[2];
	int ids[2] = { 1, 2 };
	sqlite3 *db;

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
