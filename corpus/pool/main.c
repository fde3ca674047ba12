/* pool: an object comes back to a pool that has just been closed, and is never destroyed (see pool.c).
 *
 * The driver: a client that borrows and returns, and an administrator that adds objects, evicts some and closes.
 *
 * usage: pool [ROUNDS [CLIENTS]] */
#include "pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CLIENTS 16

static struct factory factory;
static struct pool pool;
static int rounds = 3;

/* Borrow two objects at once when there are two, use them, and give them back. */
static void *client(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		struct object *one = pool_borrow(&pool), *two;

		if (!one)
			break;
		one->uses++;
		two = i % 2 ? pool_borrow(&pool) : NULL;
		if (two) {
			two->uses++;
			pool_return(&pool, two);
		}
		pool_return(&pool, one);
	}
	return arg;
}

static void *administrator(void *arg)
{
	pool_add(&pool);
	for (int i = 0; i < rounds; i++)
		pool_evict(&pool, 2);
	pool_close(&pool);
	return arg;
}

int main(int argc, char **argv)
{
	int clients = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[MAX_CLIENTS], admin;

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	if (clients < 1 || clients > MAX_CLIENTS) {
		fprintf(stderr, "usage: pool [ROUNDS [CLIENTS(1-%d)]]\n", MAX_CLIENTS);
		return 2;
	}
	factory_init(&factory);
	pool_init(&pool, &factory, 2 * clients, clients + 1);
	for (int i = 0; i < clients; i++)
		pthread_create(&thread[i], NULL, client, NULL);
	pthread_create(&admin, NULL, administrator, NULL);
	for (int i = 0; i < clients; i++)
		pthread_join(thread[i], NULL);
	pthread_join(admin, NULL);

	printf("%d made, %d borrows, %d evicted\n", factory.made, pool.borrows, pool.evicted);
	assert(pool_num_idle(&pool) == 0);
	assert(factory_living(&factory) == 0);
	pool_deinit(&pool);
	factory_deinit(&factory);
	return 0;
}
