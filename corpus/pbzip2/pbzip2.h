/* pbzip2.h - a small parallel block compressor, shaped like pbzip2 0.9.4.
 *
 *   main (producer) --fifo--> consumers (compress) --output--> writer
 *
 * Main cuts the input into blocks and puts them into a bounded queue. Consumers take blocks out, compress them and
 * hand them to the writer, which appends them in block order. */
#ifndef PBZIP2_H
#define PBZIP2_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct block {
	int number;
	size_t size;       /* of the data as it is now */
	size_t plain_size; /* of the uncompressed bytes */
	uint32_t crc;      /* of the uncompressed bytes */
	unsigned char *data;
};

/* A bounded queue. The lock and the conditions live on the heap, as in the original. */
struct queue {
	struct block **slot;
	int capacity, head, tail, length;
	int all_done; /* the producer will put nothing more */
	pthread_mutex_t *mut;
	pthread_cond_t *not_full, *not_empty;
};

void queue_init(struct queue *q, int capacity);
void queue_delete(struct queue *q);
void queue_put(struct queue *q, struct block *b);
/* The next block, or NULL when the queue is empty and the producer is done. */
struct block *queue_get(struct queue *q);
void queue_finish(struct queue *q);

/* Compressed blocks on their way to the file: one place per block number. */
struct output {
	pthread_mutex_t mut;
	pthread_cond_t arrived;
	struct block **place;
	int blocks;   /* how many there will be */
	size_t bytes; /* written so far */
	int bad;      /* blocks that did not survive the round trip */
};

void output_init(struct output *o, int blocks);
void output_delete(struct output *o);
void output_add(struct output *o, struct block *b);
void *output_writer(void *output);

/* Run-length coding: pairs of (count, byte). Both return the number of bytes stored in `to`. */
size_t rle_pack(const unsigned char *from, size_t size, unsigned char *to);
size_t rle_unpack(const unsigned char *from, size_t size, unsigned char *to, size_t room);
uint32_t crc32_of(const unsigned char *data, size_t size);

#endif
