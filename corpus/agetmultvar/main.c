/* agetmultvar - a download in several parts that can be interrupted and resumed.
 *
 * Each worker fetches its part of a file in pieces: it writes the piece into the output, moves its
 * own offset, and adds the size to the common byte count. The interrupt handler (the user's ^C,
 * here raised by a thread of its own) saves offsets and count for a later resume. Interrupted
 * between the two updates of a worker, it saves a count that does not match the offsets.
 * Cure: one lock for the pair; the handler only raises a flag and the saving is done under the
 * lock afterwards.   usage: main [workers=3] [pieces=5] */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 16, PIECE = 16 };

struct part {
	int start, offset, end;
};

struct saved {
	long count;
	int offset[MAX];
	int taken;
};

static struct part *part;
static char *output;
static long bytes_written;
static int workers, pieces;
static struct saved saved;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t interrupted;

static void save_state(void)
{
	int i;

	saved.count = bytes_written;
	for (i = 0; i < workers; i++)
		saved.offset[i] = part[i].offset; /* BUG:b */
	saved.taken = 1;
}

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
#ifndef FIXED
	save_state();
#endif
}

static __attribute__((noinline)) void advance(struct part *p)
{
	p->offset += PIECE; /* BUG:a */
}

static __attribute__((noinline)) void count(long n)
{
	bytes_written += n;
}

static void fetch_piece(struct part *p)
{
	memset(output + p->offset, 'd', PIECE);
	pthread_mutex_lock(&lock);
	advance(p);
#ifndef FIXED
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	count(PIECE);
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	struct part *p = arg;

	while (p->offset < p->end)
		fetch_piece(p);
	return NULL;
}

static void *user(void *arg)
{
	(void)arg;
	raise(SIGINT);
#ifdef FIXED
	pthread_mutex_lock(&lock);
	if (interrupted)
		save_state();
	pthread_mutex_unlock(&lock);
#endif
	return NULL;
}

/* What the next start of the program would find. */
static void check_saved(void)
{
	long sum = 0;
	int i;

	assert(saved.taken);
	for (i = 0; i < workers; i++)
		sum += saved.offset[i] - part[i].start;
	assert(sum == saved.count);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_interrupt };
	pthread_t t[MAX + 1];
	int i;

	workers = argc > 1 ? atoi(argv[1]) : 3;
	pieces = argc > 2 ? atoi(argv[2]) : 5;
	if (workers < 1 || workers > MAX || pieces < 1 || pieces > 10000)
		return 2;
	part = calloc(workers, sizeof(*part));
	output = calloc(workers * pieces, PIECE);
	assert(part && output);
	sigaction(SIGINT, &sa, NULL);
	for (i = 0; i < workers; i++) {
		part[i].start = part[i].offset = i * pieces * PIECE;
		part[i].end = part[i].start + pieces * PIECE;
		pthread_create(&t[i], NULL, worker, &part[i]);
	}
	pthread_create(&t[workers], NULL, user, NULL);
	for (i = 0; i <= workers; i++)
		pthread_join(t[i], NULL);
	check_saved();
	free(output);
	free(part);
	return 0;
}
