/* race-laterschedule - a stale copy that is usually repaired before anyone looks.
 *
 * The copier takes a copy of `value`, racing with the writer, and shows it; a moment later it repairs
 * a stale one. Only a checker that runs between the two steps sees the difference.
 * Cure: the copier waits for the writer.   usage: main */
#include "../race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int value;
static int copy, copied;

static void *copier(void *arg)
{
	int seen;

#ifdef FIXED
	pthread_mutex_lock(&lock);
	while (!value)
		pthread_cond_wait(&changed, &lock);
	seen = value;
#else
	seen = value; /* BUG:a */
	pthread_mutex_lock(&lock);
#endif
	copy = seen;
	copied = 1;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	copy = 1;
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *writer(void *arg)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
	value = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
#else
	value = 1; /* BUG:a */
	pthread_cond_signal(&changed);
#endif
	return arg;
}

static void *checker(void *arg)
{
	pthread_mutex_lock(&lock);
	if (copied)
		assert(copy == 1);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t t;
	int status;

	pthread_create(&t, NULL, checker, NULL);
	status = run(copier, writer);
	pthread_join(t, NULL);
	return status;
}
