/* pbzip2order - a block compressor that takes its queue down too early.
 *
 * main reads the input and puts blocks into a FIFO; consumers compress them; when the last block
 * is compressed the FIFO is deleted. "All blocks are compressed" does not mean "all consumers
 * have left their loop": one of them may still be about to lock the FIFO's mutex, which
 * is gone.
 * Cure: join the consumers first.   usage: main [consumers=3] [blocks=6] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 32, DEPTH = 4, BLOCK = 64 };

struct block {
	int number, length;
	unsigned char bytes[BLOCK];
};

struct fifo {
	struct block *slot[DEPTH];
	int head, count;
	int blocks_left; /* not yet compressed */
	int closed;
	pthread_mutex_t mutex, *lock; /* the pointers go when the FIFO is deleted */
	pthread_cond_t cond, *changed;
};

static struct fifo *fifo;
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static int out_length[1024];

static struct fifo *fifo_new(int blocks)
{
	struct fifo *f = calloc(1, sizeof(*f));

	assert(f);
	f->lock = &f->mutex;
	f->changed = &f->cond;
	pthread_mutex_init(f->lock, NULL);
	pthread_cond_init(f->changed, NULL);
	f->blocks_left = blocks;
	return f;
}

/* What remains is an empty shell, so that a late visitor trips over it and not over the heap. */
static void fifo_delete(struct fifo *f)
{
	pthread_cond_destroy(f->changed);
	pthread_mutex_destroy(f->lock);
	f->changed = NULL;
	f->lock = NULL; /* BUG:a */
}

static void fifo_put(struct fifo *f, struct block *b)
{
	pthread_mutex_lock(f->lock);
	while (f->count == DEPTH)
		pthread_cond_wait(f->changed, f->lock);
	f->slot[(f->head + f->count++) % DEPTH] = b;
	pthread_cond_broadcast(f->changed);
	pthread_mutex_unlock(f->lock);
}

static struct block *fifo_get(struct fifo *f)
{
	struct block *b = NULL;

	pthread_mutex_lock(f->lock); /* BUG:b */
	while (f->count == 0 && !f->closed)
		pthread_cond_wait(f->changed, f->lock);
	if (f->count > 0) {
		b = f->slot[f->head];
		f->head = (f->head + 1) % DEPTH;
		f->count--;
		pthread_cond_broadcast(f->changed);
	}
	pthread_mutex_unlock(f->lock); /* BUG:b */
	return b;
}

/* Run-length encoding stands for bzip2. */
static int compress(const struct block *b, unsigned char *out)
{
	int i, n = 0;

	for (i = 0; i < b->length;) {
		int run = 1;

		while (i + run < b->length && b->bytes[i + run] == b->bytes[i])
			run++;
		out[n++] = (unsigned char)run;
		out[n++] = b->bytes[i];
		i += run;
	}
	return n;
}

static void *consumer(void *arg)
{
	unsigned char out[2 * BLOCK];
	struct block *b;

	(void)arg;
	while ((b = fifo_get(fifo))) {
		int length = compress(b, out);

		pthread_mutex_lock(&out_lock);
		out_length[b->number] = length;
		pthread_mutex_unlock(&out_lock);
		free(b);
		pthread_mutex_lock(fifo->lock);
		if (--fifo->blocks_left == 0) {
			fifo->closed = 1;
			pthread_cond_broadcast(fifo->changed);
		}
		pthread_mutex_unlock(fifo->lock);
	}
	return NULL;
}

static void wait_for_last_block(struct fifo *f)
{
	pthread_mutex_lock(f->lock);
	while (!f->closed)
		pthread_cond_wait(f->changed, f->lock);
	pthread_mutex_unlock(f->lock);
}

int main(int argc, char **argv)
{
	int i, consumers = argc > 1 ? atoi(argv[1]) : 3, blocks = argc > 2 ? atoi(argv[2]) : 6;
	pthread_t t[MAX];

	if (consumers < 1 || consumers > MAX || blocks < 1 || blocks > 1024)
		return 2;
	fifo = fifo_new(blocks);
	for (i = 0; i < consumers; i++)
		pthread_create(&t[i], NULL, consumer, NULL);
	for (i = 0; i < blocks; i++) {
		struct block *b = calloc(1, sizeof(*b));

		assert(b);
		b->number = i;
		b->length = BLOCK - i % 7;
		memset(b->bytes, 'a' + i % 26, BLOCK / 2);
		fifo_put(fifo, b);
	}
	wait_for_last_block(fifo);
#ifndef FIXED
	fifo_delete(fifo);
#endif
	for (i = 0; i < consumers; i++)
		pthread_join(t[i], NULL);
#ifdef FIXED
	fifo_delete(fifo);
#endif
	for (i = 0; i < blocks; i++)
		assert(out_length[i] > 0);
	free(fifo);
	return 0;
}
