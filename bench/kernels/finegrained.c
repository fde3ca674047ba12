/* finegrained - like fluidanimate: cells of a grid, a lock each; every step a thread moves something
 * between neighbouring cells, across the borders of the threads' parts too.
 * usage: finegrained [cells=4096] [steps=60] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, WIDTH = 8 };

struct cell {
	pthread_mutex_t lock;
	double density[WIDTH], force[WIDTH];
};

static struct cell *cells;
static pthread_barrier_t barrier;
static int ncells, steps;

static void interact(struct cell *a, struct cell *b)
{
	pthread_mutex_lock(&a->lock);
	if (a != b)
		pthread_mutex_lock(&b->lock);
	for (int i = 0; i < WIDTH; i++)
		for (int k = 0; k < WIDTH; k++) {
			double d = (a->density[i] - b->density[k]) * 0.01;

			a->force[i] -= d;
			b->force[k] += d;
		}
	if (a != b)
		pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
}

static void move(struct cell *c)
{
	for (int i = 0; i < WIDTH; i++) {
		c->density[i] += c->force[i] * 0.1;
		c->force[i] = 0;
	}
}

static void *work(void *arg)
{
	int id = (int)(long)arg, from = id * ncells / THREADS, to = (id + 1) * ncells / THREADS;

	for (int s = 0; s < steps; s++) {
		for (int i = from; i < to; i++)
			if (i + 1 < ncells)
				interact(&cells[i], &cells[i + 1]);
		pthread_barrier_wait(&barrier);
		for (int i = from; i < to; i++)
			move(&cells[i]);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	double sum = 0;

	ncells = argc > 1 ? atoi(argv[1]) : 4096;
	steps = argc > 2 ? atoi(argv[2]) : 60;
	cells = calloc((size_t)ncells, sizeof(*cells));
	for (int i = 0; i < ncells; i++) {
		pthread_mutex_init(&cells[i].lock, NULL);
		cells[i].density[i % WIDTH] = i % 10;
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < ncells; i++)
		sum += cells[i].density[0];
	printf("%.3f\n", sum);
	return 0;
}
