/* loader: a module is loaded twice.
 *
 * Each of ten loaders needs two modules, its own and the one before. Whoever needs a module that is not there yet loads it:
 * the look is outside the lock, the loading inside, and nobody looks again. Two loaders that look at the same time
 * both load, on a path that other runs take for one of them only.
 *
 * usage: loader [LOADERS] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_LOADERS 32
#define MODULE_SIZE 6

struct module {
	int loaded;
	int loads; /* how often; must become 1 */
	int word[MODULE_SIZE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module module[MAX_LOADERS];
static int next_address; /* where the next module goes */
static int loaders = 10;

static __attribute__((noinline)) int is_loaded(const struct module *m)
{
	return m->loaded; /* BUG:a */
}

/* The caller holds the lock. */
static void load(struct module *m, int number)
{
	for (int i = 0; i < MODULE_SIZE; i++)
		m->word[i] = number * 100 + i;
	next_address += MODULE_SIZE;
	m->loads++;    /* BUG:c */
	m->loaded = 1; /* BUG:b */
}

static void need(int number)
{
	struct module *m = &module[number];

#ifdef FIXED
	pthread_mutex_lock(&lock);
	if (!is_loaded(m))
		load(m, number);
	pthread_mutex_unlock(&lock);
#else
	if (!is_loaded(m)) {
		pthread_mutex_lock(&lock);
		load(m, number);
		pthread_mutex_unlock(&lock);
	}
#endif
}

/* Use a module: it must be whole. */
static void call(int number)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MODULE_SIZE; i++)
		assert(module[number].word[i] == number * 100 + i);
	pthread_mutex_unlock(&lock);
}

static void *loader(void *arg)
{
	int me = *(int *)arg;

	if (me > 0) {
		need(me - 1);
		call(me - 1);
	}
	need(me);
	call(me);
	return NULL;
}

int main(int argc, char **argv)
{
	int number[MAX_LOADERS];
	pthread_t thread[MAX_LOADERS];

	loaders = argc > 1 ? atoi(argv[1]) : loaders;
	if (loaders < 1 || loaders > MAX_LOADERS) {
		fprintf(stderr, "usage: loader [LOADERS(1-%d)]\n", MAX_LOADERS);
		return 2;
	}
	for (int i = 0; i < loaders; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, loader, &number[i]);
	}
	for (int i = 0; i < loaders; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < loaders; i++)
		assert(module[i].loads == 1);
	assert(next_address == loaders * MODULE_SIZE);
	return 0;
}
