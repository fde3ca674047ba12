/* cache4j: a thread is interrupted outside its try block (see cleaner.c).
 *
 * The driver: clients that update, query and remove objects of a shared cache, and change the cleaner's interval once per
 * round.
 *
 * usage: cache4j [ROUNDS [CLIENTS]] */
#include "cache.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CLIENTS 16

static struct cache cache;
static struct cleaner cleaner;
static int rounds = 1;

struct client {
	pthread_t thread;
	int number;
	int found;
};

static void update(struct client *cl, int round)
{
	int base = cl->number * 10;
	int value;

	cache_put(&cache, base + round % 3, round, 1 + round % 2);
	if (cache_get(&cache, base + round % 3, &value)) {
		assert(value == round); /* nobody else uses our keys */
		cl->found++;
	}
	if (round % 2)
		cache_remove(&cache, base + (round + 1) % 3);
}

static void *client_main(void *arg)
{
	struct client *cl = arg;

	for (int i = 0; i < rounds; i++) {
		update(cl, i);
		cleaner_set_interval(&cleaner, 1 + (cl->number + i) % 3);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int clients = argc > 2 ? atoi(argv[2]) : 2;
	struct client client[MAX_CLIENTS];

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	if (clients < 1 || clients > MAX_CLIENTS) {
		fprintf(stderr, "usage: cache4j [ROUNDS [CLIENTS(1-%d)]]\n", MAX_CLIENTS);
		return 2;
	}
	cache_init(&cache, 4, 16, 20);
	cleaner_start(&cleaner, &cache, 2, rounds);
	for (int i = 0; i < clients; i++) {
		client[i].number = i;
		client[i].found = 0;
		pthread_create(&client[i].thread, NULL, client_main, &client[i]);
	}
	for (int i = 0; i < clients; i++)
		pthread_join(client[i].thread, NULL);
	cleaner_join(&cleaner);

	assert(cache_is_sound(&cache));
	printf("%d objects, %d hits, %d misses, %d evicted, %d expired\n", cache_size(&cache), cache.hits,
	       cache.misses, cache.evicted, cache.expired);
	cache_deinit(&cache);
	return 0;
}
