/* vector - a synchronised vector whose copy constructor is not.
 *
 * To copy a vector, the new one asks the old for its size, makes room, and asks it for the
 * elements. Each question is locked, the two together are not: with elements removed in
 * between, the copy has places that nobody filled.
 * Cure: copy under the source's lock.   usage: main [elements=10] [removals=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct vector {
	pthread_mutex_t lock;
	int *element;
	int size, capacity;
};

static int removals;

static struct vector *vector_new(int capacity)
{
	struct vector *v = calloc(1, sizeof(*v));

	assert(v);
	v->element = calloc(capacity > 0 ? capacity : 1, sizeof(*v->element));
	assert(v->element);
	v->capacity = capacity;
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

static void vector_free(struct vector *v)
{
	pthread_mutex_destroy(&v->lock);
	free(v->element);
	free(v);
}

static void vector_add(struct vector *v, int value)
{
	pthread_mutex_lock(&v->lock);
	assert(v->size < v->capacity);
	v->element[v->size++] = value;
	pthread_mutex_unlock(&v->lock);
}

static void vector_remove_last(struct vector *v)
{
	pthread_mutex_lock(&v->lock);
	if (v->size > 0)
		v->size--; /* BUG:b */
	pthread_mutex_unlock(&v->lock);
}

#ifdef FIXED
static struct vector *vector_copy(struct vector *from)
{
	struct vector *v;
	int i;

	pthread_mutex_lock(&from->lock);
	v = vector_new(from->size);
	for (i = 0; i < from->size; i++)
		v->element[v->size++] = from->element[i];
	pthread_mutex_unlock(&from->lock);
	return v;
}
#else
static int vector_size(struct vector *v)
{
	int n;

	pthread_mutex_lock(&v->lock);
	n = v->size; /* BUG:a */
	pthread_mutex_unlock(&v->lock);
	return n;
}

static void vector_to_array(struct vector *v, int *array, int room)
{
	int i;

	pthread_mutex_lock(&v->lock);
	for (i = 0; i < v->size && i < room; i++) /* BUG:c */
		array[i] = v->element[i];
	pthread_mutex_unlock(&v->lock);
}

static struct vector *vector_copy(struct vector *from)
{
	struct vector *v = vector_new(vector_size(from));

	vector_to_array(from, v->element, v->capacity);
	v->size = v->capacity;
	return v;
}
#endif

static void *copier(void *arg)
{
	struct vector *copy = vector_copy(arg);
	int i;

	for (i = 0; i < copy->size; i++)
		assert(copy->element[i] == i + 1);
	vector_free(copy);
	return NULL;
}

static void *remover(void *arg)
{
	int i;

	for (i = 0; i < removals; i++)
		vector_remove_last(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 10;
	struct vector *v;
	pthread_t c, r;

	removals = argc > 2 ? atoi(argv[2]) : 3;
	if (n < 1 || removals < 0)
		return 2;
	v = vector_new(n);
	for (i = 0; i < n; i++)
		vector_add(v, i + 1);
	pthread_create(&c, NULL, copier, v);
	pthread_create(&r, NULL, remover, v);
	pthread_join(c, NULL);
	pthread_join(r, NULL);
	vector_free(v);
	return 0;
}
