#include <pthread.h>
#include <stdlib.h>
struct conn {
	int closed;
	int *buf;
};
static struct conn *c;
static int sum;
static void *user(void *p)
{
	for (int i = 0; i < 3; i++) {
		if (c->closed)
			break;
		sum += c->buf[0];
	}
	return p;
}
int main(void)
{
	pthread_t t;
	c = calloc(1, sizeof(*c));
	c->buf = calloc(4, sizeof(int));
	pthread_create(&t, 0, user, 0);
	c->closed = 1;
	free(c->buf);
	c->buf = 0;
	pthread_join(t, 0);
	return 0;
}
