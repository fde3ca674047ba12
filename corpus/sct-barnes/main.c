/* barnes - the tree building phase of an n-body simulation, in one dimension.
 *
 * Threads insert their bodies into a shared binary tree over [0, 1). An insertion that finds an
 * empty child puts its body there; the look is made before the cell is locked and not repeated
 * after. One of two bodies that look at the same empty place disappears.
 * Cure: look under the lock.   usage: main [threads=3] [bodies=4] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 16, CELLS = 4096 };

struct cell {
	pthread_mutex_t lock;
	struct cell *child[2];
	int body; /* number + 1 in a leaf, 0 in an inner cell */
};

static struct cell *cell;
static int cells, threads, bodies;
static pthread_mutex_t alloc_lock = PTHREAD_MUTEX_INITIALIZER;
static double *position;

static struct cell *cell_new(int body)
{
	struct cell *c;

	pthread_mutex_lock(&alloc_lock);
	assert(cells < CELLS);
	c = &cell[cells++];
	pthread_mutex_unlock(&alloc_lock);
	c->body = body;
	return c;
}

static __attribute__((noinline)) struct cell *child_of(struct cell *c, int side)
{
	return c->child[side]; /* BUG:a */
}

static __attribute__((noinline)) void child_set(struct cell *c, int side, struct cell *child)
{
	c->child[side] = child; /* BUG:b */
}

/* Push a leaf one level down below a new inner cell that halves [low, high). */
static struct cell *split(struct cell *leaf, double low, double high)
{
	struct cell *inner = cell_new(0);

	inner->child[position[leaf->body - 1] >= (low + high) / 2] = leaf;
	return inner;
}

static void insert(int body)
{
	double low = 0, high = 1, x = position[body];
	struct cell *at = &cell[0];

	for (;;) {
		double middle = (low + high) / 2;
		int side = x >= middle;
		struct cell *next;

#ifdef FIXED
		pthread_mutex_lock(&at->lock);
		next = child_of(at, side);
#else
		next = child_of(at, side);
		pthread_mutex_lock(&at->lock);
#endif
		if (side)
			low = middle;
		else
			high = middle;
		if (!next) {
			child_set(at, side, cell_new(body + 1));
			pthread_mutex_unlock(&at->lock);
			return;
		}
		if (next->body) {
			next = split(next, low, high);
			child_set(at, side, next);
		}
		pthread_mutex_unlock(&at->lock);
		at = next;
	}
}

static void *build(void *arg)
{
	int i, id = *(int *)arg;

	for (i = 0; i < bodies; i++)
		insert(i * threads + id);
	return NULL;
}

static int count(const struct cell *c)
{
	if (!c)
		return 0;
	return c->body ? 1 : count(c->child[0]) + count(c->child[1]);
}

int main(int argc, char **argv)
{
	pthread_t t[MAX];
	int i, id[MAX];

	threads = argc > 1 ? atoi(argv[1]) : 3;
	bodies = argc > 2 ? atoi(argv[2]) : 4;
	if (threads < 1 || threads > MAX || bodies < 1 || threads * bodies > 128)
		return 2;
	cell = calloc(CELLS, sizeof(*cell));
	position = calloc(threads * bodies, sizeof(*position));
	assert(cell && position);
	for (i = 0; i < CELLS; i++)
		pthread_mutex_init(&cell[i].lock, NULL);
	cells = 1; /* the root */
	for (i = 0; i < threads * bodies; i++)
		position[i] = (i * 37 % 128) / 128.0;
	for (i = 0; i < threads; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, build, &id[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	assert(count(&cell[0]) == threads * bodies);
	free(cell);
	free(position);
	return 0;
}
