/* din_phil - dining philosophers who all take the left fork first.
 * Cure: the last philosopher takes the right one first.   usage: main [philosophers=5] [meals=1] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 64 };

static pthread_mutex_t fork_of[MAX];
static int seats, meals;

static void *philosopher(void *arg)
{
	int me = *(int *)arg, left = me, right = (me + 1) % seats, i;

#ifdef FIXED
	if (left > right) {
		left = right;
		right = me;
	}
#endif
	for (i = 0; i < meals; i++) {
		pthread_mutex_lock(&fork_of[left]); /* BUG:a */
		pthread_mutex_lock(&fork_of[right]); /* BUG:b */
		pthread_mutex_unlock(&fork_of[right]);
		pthread_mutex_unlock(&fork_of[left]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MAX];
	int id[MAX], i;

	seats = argc > 1 ? atoi(argv[1]) : 5;
	meals = argc > 2 ? atoi(argv[2]) : 1;
	if (seats < 2 || seats > MAX || meals < 1)
		return 2;
	for (i = 0; i < seats; i++)
		pthread_mutex_init(&fork_of[i], NULL);
	for (i = 0; i < seats; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, philosopher, &id[i]);
	}
	for (i = 0; i < seats; i++)
		pthread_join(t[i], NULL);
	return 0;
}
