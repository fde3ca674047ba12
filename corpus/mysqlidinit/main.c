/* mysqlidinit - a storage node gets its id while queries for it are already coming in.
 *
 * The server starts the cluster thread, which registers with the manager and stores the node id
 * it is given, and the query threads, which put the id into their replies. Nothing makes a
 * query wait for the registration.
 * Cure: queries wait until the node is registered.   usage: main [queries=2] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 32, NO_NODE = 0, FIRST_NODE = 7 };

struct manager {
	pthread_mutex_t lock;
	int next_id;
};

struct node {
	pthread_mutex_t lock;
	pthread_cond_t registered;
	int id;
	int queries;
};

struct reply {
	int node_id;
};

static struct manager manager = { PTHREAD_MUTEX_INITIALIZER, FIRST_NODE };
static struct node *node;

static int manager_register(struct manager *m)
{
	int id;

	pthread_mutex_lock(&m->lock);
	id = m->next_id++;
	pthread_mutex_unlock(&m->lock);
	return id;
}

static void *cluster_thread(void *arg)
{
	int id = manager_register(&manager);

	(void)arg;
	pthread_mutex_lock(&node->lock);
	node->id = id; /* BUG:b */
	pthread_cond_broadcast(&node->registered);
	pthread_mutex_unlock(&node->lock);
	return NULL;
}

static void answer(struct reply *reply)
{
	pthread_mutex_lock(&node->lock);
#ifdef FIXED
	while (node->id == NO_NODE)
		pthread_cond_wait(&node->registered, &node->lock);
#endif
	node->queries++;
	reply->node_id = node->id; /* BUG:a */
	pthread_mutex_unlock(&node->lock);
}

static void *query_thread(void *arg)
{
	answer(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 2;
	struct reply reply[MAX] = { { 0 } };
	pthread_t t[MAX + 1];

	if (n < 1 || n > MAX)
		return 2;
	node = calloc(1, sizeof(*node));
	assert(node);
	pthread_mutex_init(&node->lock, NULL);
	pthread_cond_init(&node->registered, NULL);
	pthread_create(&t[n], NULL, cluster_thread, NULL);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, query_thread, &reply[i]);
	for (i = 0; i <= n; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < n; i++)
		assert(reply[i].node_id == FIRST_NODE);
	free(node);
	return 0;
}
