/* token_ring - four stations pass a token on by copying it; nothing makes them wait for it.
 *
 * Station i copies the token of station i-1 and raises its flag. When all flags are up, all tokens
 * ought to be equal. A station that runs before its neighbour copies the old token.
 * Cure: wait for the neighbour's flag.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { STATIONS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static int token[STATIONS];
static bool up[STATIONS];

static void *station(void *arg)
{
	int me = (int)(size_t)arg;

	pthread_mutex_lock(&lock);
#ifdef FIXED
	while (me > 0 && !up[me - 1])
		pthread_cond_wait(&passed, &lock);
#endif
	if (me == 0)
		token[0] = 1; /* BUG:a */
	else
		token[me] = token[me - 1]; /* BUG:a */
	up[me] = true;
	pthread_cond_broadcast(&passed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *inspector(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	if (up[0] && up[1] && up[2] && up[3])
		assert(token[0] == token[1] && token[1] == token[2] && token[2] == token[3]);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t[STATIONS], last;
	size_t i;

	for (i = 0; i < STATIONS; i++)
		pthread_create(&t[i], NULL, station, (void *)i);
	for (i = 0; i < STATIONS; i++)
		pthread_join(t[i], NULL);
	pthread_create(&last, NULL, inspector, NULL);
	pthread_join(last, NULL);
	return 0;
}
