/* radbench4 - a key-value cache with an `incr` command.
 *
 * `incr` gets the item, adds, and sets it; the cache is locked
 * during the get and during the set, not across. Two clients lose an increment.
 * Cure: one hold.   usage: main [clients=3] [increments=3] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 8, MAX = 32 };

struct item {
	char key[8];
	long value;
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *item;
static int items, increments;
static long gets, sets;

static struct item *find(const char *key)
{
	int i;

	for (i = 0; i < items; i++)
		if (!strcmp(item[i].key, key))
			return &item[i];
	assert(items < ITEMS);
	snprintf(item[items].key, sizeof(item[items].key), "%s", key);
	return &item[items++];
}

static void cache_incr(const char *key)
{
	struct item *it;
	long n;

	pthread_mutex_lock(&cache_lock);
	it = find(key);
	gets++;
	n = it->value; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&cache_lock);
	pthread_mutex_lock(&cache_lock);
#endif
	it = find(key);
	sets++;
	it->value = n + 1; /* BUG:b */
	pthread_mutex_unlock(&cache_lock);
}

static void *client(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < increments; i++)
		cache_incr("hits");
	return NULL;
}

int main(int argc, char **argv)
{
	int i, clients = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t t[MAX];

	increments = argc > 2 ? atoi(argv[2]) : 3;
	if (clients < 1 || clients > MAX || increments < 1)
		return 2;
	item = calloc(ITEMS, sizeof(*item));
	assert(item);
	find("version");
	for (i = 0; i < clients; i++)
		pthread_create(&t[i], NULL, client, NULL);
	for (i = 0; i < clients; i++)
		pthread_join(t[i], NULL);
	assert(find("hits")->value == clients * increments);
	free(item);
	return 0;
}
