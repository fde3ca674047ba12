/* multiorder - ping and pong are supposed to alternate.
 *
 * Each thread swaps the shared `turn` for its own name and expects to have found the other's. The
 * accesses are locked, their order is left to chance.
 * Cure: wait for the turn.   usage: main [rounds=5] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, rounds, out_of_turn;

static void *player(void *arg)
{
	int i, me = *(int *)arg;

	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
#ifdef FIXED
		while (turn == me)
			pthread_cond_wait(&changed, &lock);
#endif
		if (turn == me)
			out_of_turn++;
		turn = me; /* BUG:a */
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, id[2] = { 1, 2 };
	pthread_t t[2];

	rounds = argc > 1 ? atoi(argv[1]) : 5;
	turn = 2;
	if (rounds < 1)
		return 2;
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, player, &id[i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(out_of_turn == 0);
	return 0;
}
