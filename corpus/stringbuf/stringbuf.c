#include "stringbuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct stringbuf *stringbuf_new(const char *text)
{
	struct stringbuf *sb = calloc(1, sizeof(*sb));
	pthread_mutexattr_t attr;

	assert(sb);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&sb->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	stringbuf_append_text(sb, text);
	return sb;
}

void stringbuf_free(struct stringbuf *sb)
{
	pthread_mutex_destroy(&sb->lock);
	free(sb->value);
	free(sb);
}

int stringbuf_length(struct stringbuf *sb)
{
	int n;

	pthread_mutex_lock(&sb->lock);
	n = sb->count; /* BUG:a */
	pthread_mutex_unlock(&sb->lock);
	return n;
}

/* The caller holds the lock. */
static void make_room(struct stringbuf *sb, int wanted)
{
	if (wanted <= sb->capacity)
		return;
	sb->capacity = wanted < 16 ? 16 : 2 * wanted;
	sb->value = realloc(sb->value, (size_t)sb->capacity);
	assert(sb->value);
}

void stringbuf_get_chars(struct stringbuf *sb, int begin, int end, char *to)
{
	pthread_mutex_lock(&sb->lock);
	assert(begin >= 0 && begin <= end && end <= sb->count); /* BUG:c */
	for (int i = begin; i < end; i++)
		to[i - begin] = sb->value[i];
	pthread_mutex_unlock(&sb->lock);
}

void stringbuf_append_text(struct stringbuf *sb, const char *text)
{
	int n = (int)strlen(text);

	pthread_mutex_lock(&sb->lock);
	make_room(sb, sb->count + n);
	for (int i = 0; i < n; i++)
		sb->value[sb->count + i] = text[i];
	sb->count += n;
	pthread_mutex_unlock(&sb->lock);
}

void stringbuf_append(struct stringbuf *sb, struct stringbuf *other)
{
	int n;

	pthread_mutex_lock(&sb->lock);
#ifdef FIXED
	pthread_mutex_lock(&other->lock);
#endif
	n = stringbuf_length(other);
	make_room(sb, sb->count + n);
	stringbuf_get_chars(other, 0, n, sb->value + sb->count);
#ifdef FIXED
	pthread_mutex_unlock(&other->lock);
#endif
	sb->count += n;
	pthread_mutex_unlock(&sb->lock);
}

void stringbuf_erase(struct stringbuf *sb, int begin, int end)
{
	pthread_mutex_lock(&sb->lock);
	if (end > sb->count)
		end = sb->count;
	if (begin < end) {
		for (int i = end; i < sb->count; i++)
			sb->value[begin + i - end] = sb->value[i];
		sb->count -= end - begin; /* BUG:b */
	}
	pthread_mutex_unlock(&sb->lock);
}
