/* pbzip2: the queue is torn down while consumers still use it (order violation).
 *
 * The writer ends as soon as it has written the last block. Main waits for the writer only, and then deletes the
 * queue. The consumer that produced the last block meanwhile goes back to the queue to ask for more. If
 * main is faster, the consumer finds no lock there any more and crashes.
 *
 * The cure is to wait for the consumers too, before the queue is deleted.
 *
 * usage: pbzip2 [CONSUMERS [BLOCKS [BLOCKSIZE]]] */
#include "pbzip2.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static struct queue fifo;
static struct output output;

static void *consumer(void *arg)
{
	struct block *b;

	(void)arg;
	while ((b = queue_get(&fifo))) {
		unsigned char *packed = malloc(2 * b->size);

		assert(packed);
		b->crc = crc32_of(b->data, b->size);
		b->size = rle_pack(b->data, b->size, packed);
		free(b->data);
		b->data = packed;
		output_add(&output, b);
	}
	return NULL;
}

/* Block `number` of the input, which we make up: runs of equal bytes, of varying length. */
static struct block *read_block(int number, size_t size)
{
	struct block *b = malloc(sizeof(*b));

	assert(b);
	b->number = number;
	b->size = b->plain_size = size;
	b->crc = 0;
	b->data = malloc(size);
	assert(b->data);
	for (size_t i = 0; i < size; i++)
		b->data[i] = (unsigned char)('a' + (i / (size_t)(number % 5 + 3)) % 26);
	return b;
}

static void producer(int blocks, size_t size)
{
	for (int i = 0; i < blocks; i++)
		queue_put(&fifo, read_block(i, size));
	queue_finish(&fifo);
}

int main(int argc, char **argv)
{
	int consumers = argc > 1 ? atoi(argv[1]) : 7;
	int blocks = argc > 2 ? atoi(argv[2]) : 2;
	size_t size = argc > 3 ? (size_t)atoi(argv[3]) : 16;
	pthread_t writer, *thread;

	if (consumers < 1 || blocks < 1 || size < 1) {
		fprintf(stderr, "usage: pbzip2 [CONSUMERS [BLOCKS [BLOCKSIZE]]]\n");
		return 2;
	}
	thread = calloc((size_t)consumers, sizeof(*thread));
	assert(thread);
	queue_init(&fifo, consumers);
	output_init(&output, blocks);
	for (int i = 0; i < consumers; i++)
		pthread_create(&thread[i], NULL, consumer, NULL);
	pthread_create(&writer, NULL, output_writer, &output);

	producer(blocks, size);
	pthread_join(writer, NULL);
#ifdef FIXED
	for (int i = 0; i < consumers; i++)
		pthread_join(thread[i], NULL);
#endif
	queue_delete(&fifo);

	if (output.bad)
		return 1;
	printf("%d blocks, %zu bytes compressed to %zu\n", blocks, (size_t)blocks * size, output.bytes);
#ifdef FIXED
	output_delete(&output);
	free(thread);
#endif
	return 0;
}
