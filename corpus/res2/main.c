/* res2 - check the room, then use it: a buffer overflow by atomicity violation.
 *
 * Two writers append words to a buffer that has room for some of them. Whether a word fits is
 * checked in one critical section and the word copied in the next: two writers that both see
 * the last free place overflow into the flush function behind the buffer, which is then called.
 * Cure: check and copy in one section.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 24, WORD = 8, ROUNDS = 2 };

struct buffer {
	int used;
	int flushes;
	char bytes[ROOM];
	void (*flush)(struct buffer *);
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *buffer;

static void buffer_flush(struct buffer *b)
{
	b->used = 0;
	b->flushes++;
}

static int fits(void)
{
	return buffer->used + WORD <= ROOM; /* BUG:a */
}

/* Whole objects are copied, so a word that does not fit lands behind the bytes. */
static void append(const char *word)
{
	memcpy((char *)buffer + offsetof(struct buffer, bytes) + buffer->used, word, WORD); /* BUG:b */
	buffer->used += WORD;
}

static void *writer(void *arg)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		if (!fits())
			buffer->flush(buffer);
#ifndef FIXED
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
#endif
		append(arg);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	char one[WORD] = "one----", two[WORD] = "two----";
	pthread_t a, b;

	/* Room behind the structure keeps a second overflow away from other objects. */
	buffer = calloc(1, sizeof(*buffer) + 4 * WORD);
	assert(buffer);
	buffer->flush = buffer_flush;
	pthread_create(&a, NULL, writer, one);
	pthread_create(&b, NULL, writer, two);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	buffer->flush(buffer);
	free(buffer);
	return 0;
}
