/* stringbuffer - append one synchronised string buffer to another.
 *
 * `append` holds its own lock and asks the other buffer first for its length and then for that many
 * characters. Shortened in between, the other buffer has fewer.
 * Cure: the other buffer's lock is held across both questions.   usage: main [rounds=4] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct string_buffer {
	pthread_mutex_t lock;
	char *chars;
	int count, capacity;
};

static struct string_buffer *source;
static int rounds;

static struct string_buffer *sb_new(const char *text)
{
	struct string_buffer *sb = calloc(1, sizeof(*sb));

	assert(sb);
	pthread_mutex_init(&sb->lock, NULL);
	sb->count = (int)strlen(text);
	sb->capacity = sb->count + 1;
	sb->chars = malloc(sb->capacity);
	assert(sb->chars);
	memcpy(sb->chars, text, sb->count);
	return sb;
}

static void sb_free(struct string_buffer *sb)
{
	free(sb->chars);
	free(sb);
}

static void sb_reserve(struct string_buffer *sb, int need)
{
	if (need <= sb->capacity)
		return;
	sb->capacity = 2 * need;
	sb->chars = realloc(sb->chars, sb->capacity);
	assert(sb->chars);
}

static void enter(struct string_buffer *sb, int outer)
{
#ifdef FIXED
	if (outer)
		pthread_mutex_lock(&sb->lock);
#else
	if (!outer)
		pthread_mutex_lock(&sb->lock);
#endif
}

static void leave(struct string_buffer *sb, int outer)
{
#ifdef FIXED
	if (outer)
		pthread_mutex_unlock(&sb->lock);
#else
	if (!outer)
		pthread_mutex_unlock(&sb->lock);
#endif
}

static int sb_length(struct string_buffer *sb)
{
	int n;

	enter(sb, 0);
	n = sb->count; /* BUG:a */
	leave(sb, 0);
	return n;
}

static void sb_get_chars(struct string_buffer *sb, int n, char *to)
{
	enter(sb, 0);
	assert(n <= sb->count); /* BUG:c */
	memcpy(to, sb->chars, n);
	leave(sb, 0);
}

static void sb_append(struct string_buffer *sb, struct string_buffer *other)
{
	int n;

	pthread_mutex_lock(&sb->lock);
	enter(other, 1);
	n = sb_length(other);
	sb_reserve(sb, sb->count + n);
	sb_get_chars(other, n, sb->chars + sb->count);
	leave(other, 1);
	sb->count += n;
	pthread_mutex_unlock(&sb->lock);
}

static void sb_set_length(struct string_buffer *sb, int n)
{
	pthread_mutex_lock(&sb->lock);
	sb->count = n; /* BUG:b */
	pthread_mutex_unlock(&sb->lock);
}

static void *appender(void *arg)
{
	struct string_buffer *sb = sb_new("collected: ");
	int i;

	(void)arg;
	for (i = 0; i < rounds; i++)
		sb_append(sb, source);
	sb_free(sb);
	return NULL;
}

static void *eraser(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		sb_set_length(source, 0);
		sb_set_length(source, 3);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, e;

	rounds = argc > 1 ? atoi(argv[1]) : 4;
	if (rounds < 1 || rounds > 10000)
		return 2;
	source = sb_new("abcdefgh");
	pthread_create(&a, NULL, appender, NULL);
	pthread_create(&e, NULL, eraser, NULL);
	pthread_join(a, NULL);
	pthread_join(e, NULL);
	sb_free(source);
	return 0;
}
