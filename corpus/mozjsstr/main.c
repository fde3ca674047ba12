/* mozjsstr - the string statistics of a script engine.
 *
 * Engine threads make strings in a shared runtime: each is interned in a hash table (locked per
 * bucket) and counted in two totals, the number of live strings and their length (locked too,
 * but one at a time). A statistics thread computes the mean length. All strings of this program
 * have the same length, so the mean is known; read between the two updates, it is wrong.
 * Cure: both totals in one critical section.   usage: main [engines=4] [strings=6] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 8, LENGTH = 6, MAX = 32 };

struct js_string {
	struct js_string *next;
	unsigned hash;
	int refs;
	char chars[LENGTH + 1];
};

struct bucket {
	pthread_mutex_t lock;
	struct js_string *first;
};

struct runtime {
	struct bucket bucket[BUCKETS];
	pthread_mutex_t stat_lock;
	long live_strings;
	long total_length;
	long atoms_shared; /* how often a string was there already */
};

static struct runtime *rt;
static int engines, strings;

static unsigned hash_chars(const char *s)
{
	unsigned h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

static void count_string(long n, long length)
{
	pthread_mutex_lock(&rt->stat_lock);
	rt->live_strings += n; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&rt->stat_lock);
	pthread_mutex_lock(&rt->stat_lock);
#endif
	rt->total_length += length;
	pthread_mutex_unlock(&rt->stat_lock);
}

static struct js_string *string_find(struct bucket *b, unsigned hash, const char *chars)
{
	struct js_string *s;

	for (s = b->first; s; s = s->next)
		if (s->hash == hash && !strcmp(s->chars, chars))
			return s;
	return NULL;
}

static void string_intern(const char *chars)
{
	unsigned hash = hash_chars(chars);
	struct bucket *b = &rt->bucket[hash % BUCKETS];
	struct js_string *s;
	int fresh = 0;

	pthread_mutex_lock(&b->lock);
	s = string_find(b, hash, chars);
	if (s) {
		s->refs++;
	} else {
		s = calloc(1, sizeof(*s));
		assert(s);
		memcpy(s->chars, chars, LENGTH);
		s->hash = hash;
		s->refs = 1;
		s->next = b->first;
		b->first = s;
		fresh = 1;
	}
	pthread_mutex_unlock(&b->lock);
	if (fresh)
		count_string(1, LENGTH);
}

/* Drop the dead strings of one bucket. */
static void sweep_bucket(struct bucket *b)
{
	struct js_string **link, *s;

	pthread_mutex_lock(&b->lock);
	for (link = &b->first; (s = *link);) {
		if (s->refs > 0) {
			link = &s->next;
			continue;
		}
		*link = s->next;
		free(s);
		count_string(-1, -LENGTH);
	}
	pthread_mutex_unlock(&b->lock);
}

static void *engine(void *arg)
{
	int i, id = *(int *)arg;
	char chars[LENGTH + 1];

	for (i = 0; i < strings; i++) {
		snprintf(chars, sizeof(chars), "v%02d%03d", i % 2 ? id : 0, i % 1000);
		string_intern(chars);
		if (i % 3 == 2)
			sweep_bucket(&rt->bucket[(id + i) % BUCKETS]);
	}
	return NULL;
}

static void *statistics(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 4; i++) {
		long n, length;

		pthread_mutex_lock(&rt->stat_lock);
		n = rt->live_strings; /* BUG:b */
		length = rt->total_length; /* BUG:c */
		pthread_mutex_unlock(&rt->stat_lock);
		assert(n == 0 || length / n == LENGTH);
	}
	return NULL;
}

static void runtime_free(void)
{
	int i;

	for (i = 0; i < BUCKETS; i++) {
		struct js_string *s, *next;

		for (s = rt->bucket[i].first; s; s = next) {
			next = s->next;
			free(s);
		}
	}
	free(rt);
}

int main(int argc, char **argv)
{
	pthread_t t[MAX + 1];
	int i, id[MAX];

	engines = argc > 1 ? atoi(argv[1]) : 4;
	strings = argc > 2 ? atoi(argv[2]) : 6;
	if (engines < 1 || engines > MAX || strings < 1)
		return 2;
	rt = calloc(1, sizeof(*rt));
	assert(rt);
	for (i = 0; i < BUCKETS; i++)
		pthread_mutex_init(&rt->bucket[i].lock, NULL);
	pthread_mutex_init(&rt->stat_lock, NULL);
	for (i = 0; i < engines; i++) {
		id[i] = i + 1;
		pthread_create(&t[i], NULL, engine, &id[i]);
	}
	pthread_create(&t[engines], NULL, statistics, NULL);
	for (i = 0; i <= engines; i++)
		pthread_join(t[i], NULL);
	runtime_free();
	return 0;
}
