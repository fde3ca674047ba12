/* radbench4 - a key-value cache with an `incr` command (memcached, issue 127).
 *
 * A worker thread takes the commands of its connection one by one: it splits the line, finds the item
 * under the cache's lock, answers into the connection's buffer and counts in the statistics.
 * `get` and `set` copy the value under the lock. `incr` takes a reference to the item under the lock and then
 * reads the digits of its value, adds, and writes digits without it: two workers lose an increment.
 * Each connection sends one `incr` among many other commands.
 * Cure: add under the lock.   usage: main [workers=2] [rounds=3] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 8, MAX = 8, WORDS = 3 };

struct item {
	struct item *next;
	int references, used;
	char key[12], value[12];
};

struct connection {
	pthread_t worker;
	int number;
	char answer[32];
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *bucket[BUCKETS];
static int rounds, clock_now;
static long gets, sets, increments;

static struct item *item_find(const char *key)
{
	struct item *it;
	unsigned h = 0;
	const char *c;

	for (c = key; *c; c++)
		h = h * 31 + (unsigned char)*c;
	for (it = bucket[h % BUCKETS]; it; it = it->next)
		if (!strcmp(it->key, key))
			return it;
	it = calloc(1, sizeof(*it));
	assert(it);
	snprintf(it->key, sizeof(it->key), "%s", key);
	strcpy(it->value, "0");
	it->next = bucket[h % BUCKETS];
	bucket[h % BUCKETS] = it;
	return it;
}

static void count(long *what)
{
	pthread_mutex_lock(&stats_lock);
	++*what;
	pthread_mutex_unlock(&stats_lock);
}

static struct item *item_get(const char *key)
{
	struct item *it;

	pthread_mutex_lock(&cache_lock);
	it = item_find(key);
	it->references++;
	it->used = ++clock_now;
	pthread_mutex_unlock(&cache_lock);
	return it;
}

static void item_release(struct item *it)
{
	pthread_mutex_lock(&cache_lock);
	it->references--;
	pthread_mutex_unlock(&cache_lock);
}

static void add_delta(struct item *it, long delta)
{
	long n = atol(it->value); /* BUG:a */
	char digits[12];
	int i;

	snprintf(digits, sizeof(digits), "%ld", n + delta);
	for (i = 0; digits[i]; i++)
		it->value[i] = digits[i]; /* BUG:b */
	it->value[i] = 0;
}

static void process_incr(const char *key, long delta)
{
	struct item *it = item_get(key);

#ifdef FIXED
	pthread_mutex_lock(&cache_lock);
	add_delta(it, delta);
	pthread_mutex_unlock(&cache_lock);
#else
	add_delta(it, delta);
#endif
	item_release(it);
	count(&increments);
}

static void process_set(const char *key, const char *value)
{
	pthread_mutex_lock(&cache_lock);
	snprintf(item_find(key)->value, sizeof(item_find(key)->value), "%s", value);
	pthread_mutex_unlock(&cache_lock);
	count(&sets);
}

static void process_get(struct connection *c, const char *key)
{
	struct item *it = item_get(key);

	pthread_mutex_lock(&cache_lock);
	snprintf(c->answer, sizeof(c->answer), "VALUE %s %s", key, it->value);
	pthread_mutex_unlock(&cache_lock);
	item_release(it);
	count(&gets);
}

static void process(struct connection *c, const char *line)
{
	char words[WORDS][12] = { "", "", "" };

	sscanf(line, "%11s %11s %11s", words[0], words[1], words[2]);
	if (!strcmp(words[0], "get"))
		process_get(c, words[1]);
	else if (!strcmp(words[0], "set"))
		process_set(words[1], words[2]);
	else
		process_incr(words[1], atol(words[2]));
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	char line[36];
	int i;

	for (i = 0; i < rounds; i++) {
		snprintf(line, sizeof(line), "set key%d %d", c->number, i);
		process(c, line);
		snprintf(line, sizeof(line), "get key%d", i % 2);
		process(c, line);
		if (i == rounds / 2)
			process(c, "incr hits 1");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct connection connection[MAX];
	int i, workers = argc > 1 ? atoi(argv[1]) : 2;

	rounds = argc > 2 ? atoi(argv[2]) : 3;
	if (workers < 1 || workers > MAX || rounds < 1 || rounds > 1000)
		return 2;
	item_find("hits");
	for (i = 0; i < workers; i++) {
		connection[i].number = i;
		pthread_create(&connection[i].worker, NULL, serve, &connection[i]);
	}
	for (i = 0; i < workers; i++)
		pthread_join(connection[i].worker, NULL);
	assert(atol(item_find("hits")->value) == workers);
	return 0;
}
