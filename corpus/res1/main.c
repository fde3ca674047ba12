/* res1 - two fillers and a shared index that loses an update.
 *
 * Each filler reserves a slot by reading and writing `used` without a lock. The table has exactly as
 * many slots as there are items, with a guard word and a function pointer behind it. A
 * lost update makes the compactor, which trusts the number of items, step one slot too far.
 * Cure: reserve under the lock.   usage: main [items=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 64 };

struct table {
	int used;
	int wanted;
	long *slot[MAX + 1]; /* unused ones are null */
};

static struct table *table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items;

static __attribute__((noinline)) int used_read(void)
{
	return table->used; /* BUG:a */
}

static __attribute__((noinline)) void used_write(int n)
{
	table->used = n; /* BUG:b */
}

static int reserve(void)
{
	int at;

#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	at = used_read();
	used_write(at + 1);
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	return at;
}

static void *filler(void *arg)
{
	long base = *(long *)arg;
	int i;

	for (i = 0; i < items; i++) {
		long *value = malloc(sizeof(*value));

		assert(value);
		*value = base + i;
		table->slot[reserve()] = value;
	}
	return NULL;
}

/* Add up everything that was filled in. */
static __attribute__((noinline)) long compact(void)
{
	long sum = 0;
	int i;

	for (i = 0; i < table->wanted; i++) {
		sum += *table->slot[i];
		free(table->slot[i]);
	}
	return sum;
}

int main(int argc, char **argv)
{
	long base[2] = { 100, 200 }, sum;
	pthread_t t[2];
	int i;

	(void)lock;
	items = argc > 1 ? atoi(argv[1]) : 3;
	if (items < 1 || 2 * items > MAX)
		return 2;
	table = calloc(1, sizeof(*table));
	assert(table);
	table->wanted = 2 * items;
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, filler, &base[i]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	sum = compact();
	assert(sum > 0);
	free(table);
	return 0;
}
