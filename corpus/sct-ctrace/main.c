/* ctrace - a tracing library for threads.
 *
 * Each thread registers itself in a table and then writes trace records under its place there.
 * Registration looks for a free place and takes it in two critical sections: two threads can take
 * the same, and one's records appear under the other's name.
 * Cure: look and take in one.   usage: main [threads=3] [records=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { PLACES = 16, RECORDS = 256 };

struct place {
	int used, name, level;
};

struct record {
	int place, name;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *table;
static struct record *record;
static int records, per_thread;

static int find_free(void)
{
	int i;

	for (i = 0; i < PLACES; i++)
		if (!table[i].used) /* BUG:a */
			return i;
	return -1;
}

static int trace_register(int name)
{
	int at;

	pthread_mutex_lock(&table_lock);
	at = find_free();
#ifndef FIXED
	pthread_mutex_unlock(&table_lock);
	pthread_mutex_lock(&table_lock);
#endif
	assert(at >= 0);
	table[at].used = 1; /* BUG:b */
	table[at].name = name;
	pthread_mutex_unlock(&table_lock);
	return at;
}

static void trace(int place)
{
	int name;

	pthread_mutex_lock(&table_lock);
	name = table[place].name;
	table[place].level++;
	pthread_mutex_unlock(&table_lock);
	pthread_mutex_lock(&record_lock);
	record[records].place = place;
	record[records++].name = name;
	pthread_mutex_unlock(&record_lock);
}

static void *worker(void *arg)
{
	int i, place = trace_register(*(int *)arg);

	for (i = 0; i < per_thread; i++)
		trace(place);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 3, name[PLACES], count[PLACES] = { 0 };
	pthread_t t[PLACES];

	per_thread = argc > 2 ? atoi(argv[2]) : 3;
	if (n < 1 || n > PLACES || per_thread < 1 || n * per_thread > RECORDS)
		return 2;
	table = calloc(PLACES, sizeof(*table));
	record = calloc(RECORDS, sizeof(*record));
	assert(table && record);
	for (i = 0; i < n; i++) {
		name[i] = i;
		pthread_create(&t[i], NULL, worker, &name[i]);
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < records; i++)
		count[record[i].place]++;
	for (i = 0; i < n; i++)
		assert(count[i] == per_thread); /* places are given out from 0 */
	free(table);
	free(record);
	return 0;
}
