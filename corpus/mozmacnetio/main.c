/* mozmacnetio - network endpoints with a `valid` flag.
 *
 * Transport threads poll a set of endpoints: where the flag says valid they take a buffer out of
 * the endpoint and read the packet in it. The closing thread drops the flag and the buffer. An
 * endpoint closed between test and use hands out no buffer.
 * Cure: the endpoint's lock covers test and use, and closing.   usage: main [pollers=3] [endpoints=4] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 32, PACKET = 16, ROUNDS = 3 };

struct packet {
	int length;
	unsigned char bytes[PACKET];
};

struct endpoint {
	pthread_mutex_t lock;
	int valid;
	struct packet *packet;
	long received;
};

static struct endpoint *endpoint[MAX];
static int pollers, endpoints;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static __attribute__((noinline)) int endpoint_is_valid(struct endpoint *ep)
{
	return ep->valid; /* BUG:a */
}

static __attribute__((noinline)) struct packet *endpoint_packet(struct endpoint *ep)
{
	return ep->packet; /* BUG:c */
}

static int packet_sum(const struct packet *p)
{
	int i, sum = 0;

	for (i = 0; i < p->length; i++)
		sum += p->bytes[i];
	return sum;
}

static void endpoint_enter(struct endpoint *ep)
{
#ifdef FIXED
	pthread_mutex_lock(&ep->lock);
#else
	(void)ep;
#endif
}

static void endpoint_leave(struct endpoint *ep)
{
#ifdef FIXED
	pthread_mutex_unlock(&ep->lock);
#else
	(void)ep;
#endif
}

static void endpoint_poll(struct endpoint *ep)
{
	endpoint_enter(ep);
	if (endpoint_is_valid(ep)) {
		int sum = packet_sum(endpoint_packet(ep));

		pthread_mutex_lock(&total_lock);
		ep->received += sum;
		total += sum;
		pthread_mutex_unlock(&total_lock);
	}
	endpoint_leave(ep);
}

static void endpoint_close(struct endpoint *ep)
{
	endpoint_enter(ep);
	ep->valid = 0;
	ep->packet = NULL; /* BUG:b */
	endpoint_leave(ep);
}

static void *poller(void *arg)
{
	int i, round, id = *(int *)arg;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < endpoints; i++)
			endpoint_poll(endpoint[(i + id) % endpoints]);
	return NULL;
}

static void *closer(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < endpoints; i += 2)
		endpoint_close(endpoint[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	struct packet *packet[MAX];
	pthread_t t[MAX + 1];
	int i, id[MAX];

	pollers = argc > 1 ? atoi(argv[1]) : 3;
	endpoints = argc > 2 ? atoi(argv[2]) : 4;
	if (pollers < 1 || pollers > MAX || endpoints < 1 || endpoints > MAX)
		return 2;
	for (i = 0; i < endpoints; i++) {
		endpoint[i] = calloc(1, sizeof(*endpoint[i]));
		packet[i] = calloc(1, sizeof(*packet[i]));
		assert(endpoint[i] && packet[i]);
		packet[i]->length = 1 + i % PACKET;
		memset(packet[i]->bytes, i + 1, PACKET);
		pthread_mutex_init(&endpoint[i]->lock, NULL);
		endpoint[i]->packet = packet[i];
		endpoint[i]->valid = 1;
	}
	for (i = 0; i < pollers; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, poller, &id[i]);
	}
	pthread_create(&t[pollers], NULL, closer, NULL);
	for (i = 0; i <= pollers; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < endpoints; i++) {
		free(packet[i]);
		free(endpoint[i]);
	}
	return 0;
}
