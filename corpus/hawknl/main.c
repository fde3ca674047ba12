/* hawknl - a game network library: close one socket while the library shuts down.
 *
 * close(): locks the socket, then the socket table to take the socket out of it.
 * shutdown(): locks the table, then each socket to close it.
 * Cure: close() takes the table first.   usage: main [sockets=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 16 };

struct nl_socket {
	pthread_mutex_t lock;
	int in_use;
	int sent, received;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct nl_socket *table[MAX];
static int sockets, open_sockets;

static struct nl_socket *nl_open(int slot)
{
	struct nl_socket *s = calloc(1, sizeof(*s));

	assert(s);
	pthread_mutex_init(&s->lock, NULL);
	s->in_use = 1;
	pthread_mutex_lock(&table_lock);
	table[slot] = s;
	open_sockets++;
	pthread_mutex_unlock(&table_lock);
	return s;
}

static void retire(struct nl_socket *s)
{
	if (s->in_use) {
		s->in_use = 0;
		open_sockets--;
	}
}

static void nl_send(struct nl_socket *s, int bytes)
{
	pthread_mutex_lock(&s->lock);
	if (s->in_use)
		s->sent += bytes;
	pthread_mutex_unlock(&s->lock);
}

static void nl_close(struct nl_socket *s)
{
#ifdef FIXED
	pthread_mutex_lock(&table_lock);
	pthread_mutex_lock(&s->lock);
#else
	pthread_mutex_lock(&s->lock); /* BUG:a */
	pthread_mutex_lock(&table_lock); /* BUG:b */
#endif
	retire(s);
	pthread_mutex_unlock(&table_lock);
	pthread_mutex_unlock(&s->lock);
}

static void nl_shutdown(void)
{
	int i;

	pthread_mutex_lock(&table_lock); /* BUG:a */
	for (i = 0; i < sockets; i++) {
		pthread_mutex_lock(&table[i]->lock); /* BUG:b */
		retire(table[i]);
		pthread_mutex_unlock(&table[i]->lock);
	}
	pthread_mutex_unlock(&table_lock);
}

static void *client(void *arg)
{
	nl_send(arg, 32);
	nl_close(arg);
	return NULL;
}

static void *quitter(void *arg)
{
	(void)arg;
	nl_shutdown();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	int i;

	sockets = argc > 1 ? atoi(argv[1]) : 3;
	if (sockets < 1 || sockets > MAX)
		return 2;
	for (i = 0; i < sockets; i++)
		nl_open(i);
	pthread_create(&a, NULL, client, table[sockets / 2]);
	pthread_create(&b, NULL, quitter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(open_sockets == 0);
	for (i = 0; i < sockets; i++)
		free(table[i]);
	return 0;
}
