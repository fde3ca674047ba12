/* pingpong: the ball is in the air when somebody asks who has it.
 *
 * `player` says whose turn it is. A thread that plays takes the player out, plays the ball and puts the next player in.
 * In between there is nobody: a thread that asks then gets no player.
 *
 * The cure plays under a lock of the table.
 *
 * usage: pingpong [THREADS [ROUNDS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 32

struct player {
	const char *name;
	int hits;
	struct player *opponent;
};

static struct player ping = {"ping", 0, NULL};
static struct player pong = {"pong", 0, &ping};
static struct player *player = &ping;

static pthread_mutex_t score_lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;
static int rounds = 1;
#ifdef FIXED
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void count_hit(struct player *p)
{
	pthread_mutex_lock(&score_lock);
	p->hits++;
	hits++;
	pthread_mutex_unlock(&score_lock);
}

static void play(void)
{
	struct player *p = player; /* BUG:b */

	assert(p != NULL);
	player = NULL; /* BUG:a */
	count_hit(p);
	player = p->opponent;
}

static void *match(void *arg)
{
	for (int i = 0; i < rounds; i++) {
#ifdef FIXED
		pthread_mutex_lock(&table_lock);
		play();
		pthread_mutex_unlock(&table_lock);
#else
		play();
#endif
	}
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 5;
	pthread_t thread[MAX_THREADS];

	rounds = argc > 2 ? atoi(argv[2]) : rounds;
	if (threads < 1 || threads > MAX_THREADS) {
		fprintf(stderr, "usage: pingpong [THREADS(1-%d) [ROUNDS]]\n", MAX_THREADS);
		return 2;
	}
	ping.opponent = &pong;
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, match, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	assert(hits == threads * rounds && ping.hits + pong.hits == hits);
	printf("%s %d, %s %d\n", ping.name, ping.hits, pong.name, pong.hits);
	return 0;
}
