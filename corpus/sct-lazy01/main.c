/* lazy01 - a reader that must come before one of the two adders, which nothing enforces.
 * Cure: the reader runs first and the adders wait for it.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t was_read = PTHREAD_COND_INITIALIZER;
static int data, read_done;

static void wait_for_reader(void)
{
#ifdef FIXED
	while (!read_done)
		pthread_cond_wait(&was_read, &lock);
#endif
}

static void *add_one(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	wait_for_reader();
	data += 1; /* BUG:a */
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *add_two(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	wait_for_reader();
	data += 2; /* BUG:a */
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	assert(data < 3); /* BUG:b */
	read_done = 1;
	pthread_cond_broadcast(&was_read);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	void *(*body[])(void *) = { add_one, add_two, reader };
	pthread_t t[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, body[i], NULL);
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
