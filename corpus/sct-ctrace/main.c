/* ctrace - a tracing library for threads.
 *
 * The library keeps a hash table from thread names to their trace settings. A thread adds itself,
 * then traces: it looks itself up, and messages of a level that is switched on go into a buffer under a lock.
 * The table has a lock as well, but it is taken only to find out whether the name is there already. The
 * new entry is put in front of its bucket without it: of two entries put in at the same time one is lost, and its
 * thread is not traced any more.
 * Most of what a run does is tracing; the two threads that share a bucket add themselves once.
 * Cure: look and add under one hold of the lock.   usage: main [threads=3] [messages=6] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 3, MAX = 16, BUFFER = 64 };

struct entry {
	char name[12];
	int level, messages;
	struct entry *next;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *bucket[BUCKETS];
static char buffer[BUFFER][24];
static int written, messages, global_level = 1;

static unsigned hash(const char *name)
{
	return (unsigned)name[strlen(name) - 1] / 2 % BUCKETS;
}

static struct entry *look(const char *name)
{
	struct entry *e;

	for (e = bucket[hash(name)]; e; e = e->next)
		if (!strcmp(e->name, name))
			return e;
	return NULL;
}

static struct entry *find(const char *name)
{
	struct entry *e;

	pthread_mutex_lock(&table_lock);
	e = look(name);
	pthread_mutex_unlock(&table_lock);
	return e;
}

static void put_in(struct entry *e)
{
	e->next = bucket[hash(e->name)]; /* BUG:a */
	bucket[hash(e->name)] = e;	 /* BUG:b */
}

static void trace_add(const char *name, int level)
{
	struct entry *e = calloc(1, sizeof(*e));

	assert(e);
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->level = level;
#ifdef FIXED
	pthread_mutex_lock(&table_lock);
	if (!look(name))
		put_in(e);
	pthread_mutex_unlock(&table_lock);
#else
	if (!find(name))
		put_in(e);
#endif
}

static int trace(const char *name, int level, const char *text)
{
	struct entry *e = find(name);

	if (!e || level > e->level + global_level)
		return 0;
	e->messages++;
	pthread_mutex_lock(&buffer_lock);
	snprintf(buffer[written++ % BUFFER], sizeof(buffer[0]), "%s: %s", name, text);
	pthread_mutex_unlock(&buffer_lock);
	return 1;
}

static void *worker(void *arg)
{
	const char *name = arg;
	int i, seen = 0;

	trace("main", 1, name); /* under main's name: it has no entry of its own yet */
	trace_add(name, 1);
	for (i = 0; i < messages; i++)
		seen += trace(name, i % 2, i % 2 ? "odd" : "even");
	assert(seen == messages);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 3;
	static char name[MAX][12];
	pthread_t t[MAX];

	messages = argc > 2 ? atoi(argv[2]) : 6;
	if (n < 1 || n > MAX || messages < 1)
		return 2;
	trace_add("main", 2);
	for (i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "worker%c", 'a' + i);
		pthread_create(&t[i], NULL, worker, name[i]);
	}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
