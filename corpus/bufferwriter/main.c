/* bufferwriter: every writer locks, and each one its own lock.
 *
 * Writers append marks to a shared buffer, and note how many they wrote. The position where to write next is shared too,
 * and with a lock per writer nothing protects it: two writers write to one cell, and one of the marks is gone.
 *
 * The cure is one lock, that of the buffer.
 *
 * usage: bufferwriter [WRITERS [MARKS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WRITERS 8

struct buffer {
	pthread_mutex_t lock;
	int size, position;
	char *cell;
};

struct writer {
	pthread_t thread;
	pthread_mutex_t lock;
	char mark;
	int written;
};

static struct buffer buffer;
static struct writer writer[MAX_WRITERS];
static int marks = 2300;

static int is_full(const struct buffer *b)
{
	return b->position >= b->size;
}

static __attribute__((noinline)) void append(struct buffer *b, char mark)
{
	int at = b->position; /* BUG:a */

	b->cell[at] = mark;
	b->position = at + 1; /* BUG:b */
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
#ifdef FIXED
	pthread_mutex_t *lock = &buffer.lock;
#else
	pthread_mutex_t *lock = &w->lock;
#endif

	for (int i = 0; i < marks; i++) {
		pthread_mutex_lock(lock);
		if (!is_full(&buffer)) {
			append(&buffer, w->mark);
			w->written++;
		}
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

static int count_marks(const struct buffer *b, char mark)
{
	int n = 0;

	for (int i = 0; i < b->size; i++)
		n += b->cell[i] == mark;
	return n;
}

int main(int argc, char **argv)
{
	int writers = argc > 1 ? atoi(argv[1]) : 4;

	marks = argc > 2 ? atoi(argv[2]) : marks;
	if (writers < 1 || writers > MAX_WRITERS || marks < 1) {
		fprintf(stderr, "usage: bufferwriter [WRITERS(1-%d) [MARKS]]\n", MAX_WRITERS);
		return 2;
	}
	pthread_mutex_init(&buffer.lock, NULL);
	buffer.size = writers * marks;
	buffer.cell = calloc((size_t)buffer.size, 1);
	assert(buffer.cell);
	for (int i = 0; i < writers; i++) {
		pthread_mutex_init(&writer[i].lock, NULL);
		writer[i].mark = (char)('1' + i);
		pthread_create(&writer[i].thread, NULL, writer_main, &writer[i]);
	}
	for (int i = 0; i < writers; i++)
		pthread_join(writer[i].thread, NULL);
	for (int i = 0; i < writers; i++)
		assert(count_marks(&buffer, writer[i].mark) == writer[i].written);
	free(buffer.cell);
	return 0;
}
