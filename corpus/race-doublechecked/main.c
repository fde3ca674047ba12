/* race-doublechecked - double-checked initialisation that publishes last.   usage: main
 * Cure: always look under the lock. */
#include "../race.h"

struct config {
	volatile int size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config *volatile instance;

static struct config *get(void)
{
	struct config *c = NULL;

#ifndef FIXED
	c = instance; /* BUG:a */
	if (c)
		return c;
#endif
	pthread_mutex_lock(&lock);
	c = instance;
	if (!c) {
		c = malloc(sizeof(*c));
		assert(c);
		c->size = 16; /* BUG:b */
		instance = c; /* BUG:a */
	}
	pthread_mutex_unlock(&lock);
	return c;
}

static void *user(void *arg)
{
	assert(get()->size == 16); /* BUG:b */
	return arg;
}

int main(void)
{
	int status = run(user, user);

	free(instance);
	return status;
}
