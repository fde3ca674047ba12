/* output.c - collect compressed blocks, whichever order they come in, and write them in block order.
 * "Writing" checks that each block unpacks to what went in, and counts the bytes. */
#include "pbzip2.h"

#include <assert.h>
#include <stdlib.h>

void output_init(struct output *o, int blocks)
{
	pthread_mutex_init(&o->mut, NULL);
	pthread_cond_init(&o->arrived, NULL);
	o->place = calloc((size_t)blocks, sizeof(*o->place));
	assert(o->place);
	o->blocks = blocks;
	o->bytes = 0;
	o->bad = 0;
}

void output_delete(struct output *o)
{
	pthread_cond_destroy(&o->arrived);
	pthread_mutex_destroy(&o->mut);
	free(o->place);
}

void output_add(struct output *o, struct block *b)
{
	pthread_mutex_lock(&o->mut);
	o->place[b->number] = b;
	pthread_cond_signal(&o->arrived);
	pthread_mutex_unlock(&o->mut);
}

static int block_is_good(const struct block *b)
{
	unsigned char *plain = malloc(b->plain_size);
	int good;

	assert(plain);
	good = rle_unpack(b->data, b->size, plain, b->plain_size) == b->plain_size &&
	       crc32_of(plain, b->plain_size) == b->crc;
	free(plain);
	return good;
}

void *output_writer(void *output)
{
	struct output *o = output;

	for (int i = 0; i < o->blocks; i++) {
		struct block *b;

		pthread_mutex_lock(&o->mut);
		while (!o->place[i])
			pthread_cond_wait(&o->arrived, &o->mut);
		b = o->place[i];
		pthread_mutex_unlock(&o->mut);

		if (!block_is_good(b))
			o->bad++;
		o->bytes += b->size;
		free(b->data);
		free(b);
	}
	return NULL;
}
