/* fluid - what fluidanimate computes: particles in the cells of a grid, forces between those of neighbouring cells
 * that are near enough (pressure and viscosity), and a lock for a cell at the border of a thread's part.
 * usage: fluid [cells=512] [steps=20] */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PARTICLES = 12 };
#define H	  0.05f
#define REST	  1000.0f
#define PRESSURE  1.5f
#define VISCOSITY 0.4f

struct vec {
	float x, y, z;
};

struct cell {
	pthread_mutex_t lock;
	struct vec p[PARTICLES], v[PARTICLES], a[PARTICLES];
	float density[PARTICLES];
};

static struct cell *cells;
static pthread_barrier_t barrier;
static int ncells, steps;

static float uniform(unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return (float)(*state >> 8) / (1 << 24);
}

static void densities(struct cell *c, struct cell *n)
{
	for (int i = 0; i < PARTICLES; i++)
		for (int k = 0; k < PARTICLES; k++) {
			float dx = c->p[i].x - n->p[k].x, dy = c->p[i].y - n->p[k].y, dz = c->p[i].z - n->p[k].z;
			float d = dx * dx + dy * dy + dz * dz;

			if (d < H * H) {
				float t = H * H - d;

				c->density[i] += t * t * t;
				n->density[k] += t * t * t;
			}
		}
}

static void forces(struct cell *c, struct cell *n)
{
	for (int i = 0; i < PARTICLES; i++)
		for (int k = 0; k < PARTICLES; k++) {
			float dx = c->p[i].x - n->p[k].x, dy = c->p[i].y - n->p[k].y, dz = c->p[i].z - n->p[k].z;
			float d = dx * dx + dy * dy + dz * dz;

			if (d < H * H) {
				float dist = sqrtf(fmaxf(d, 1e-12f)), hmr = H - dist;
				float di = c->density[i] + REST, dk = n->density[k] + REST;
				float push = PRESSURE * hmr * hmr / dist * (di + dk - 2 * REST), drag = VISCOSITY * hmr;
				float both = 1 / (di * dk);
				float ax = (dx * push + (n->v[k].x - c->v[i].x) * drag) * both;
				float ay = (dy * push + (n->v[k].y - c->v[i].y) * drag) * both;
				float az = (dz * push + (n->v[k].z - c->v[i].z) * drag) * both;

				c->a[i].x += ax;
				c->a[i].y += ay;
				c->a[i].z += az;
				n->a[k].x -= ax;
				n->a[k].y -= ay;
				n->a[k].z -= az;
			}
		}
}

static void with_neighbour(int i, int last, void (*what)(struct cell *, struct cell *))
{
	if (i + 1 >= ncells)
		return;
	if (i == last) /* the neighbour is another thread's */
		pthread_mutex_lock(&cells[i + 1].lock);
	what(&cells[i], &cells[i + 1]);
	if (i == last)
		pthread_mutex_unlock(&cells[i + 1].lock);
}

static void move(struct cell *c)
{
	for (int i = 0; i < PARTICLES; i++) {
		c->v[i].x += c->a[i].x * 0.005f;
		c->v[i].y += c->a[i].y * 0.005f;
		c->v[i].z += c->a[i].z * 0.005f;
		c->p[i].x += c->v[i].x * 0.005f;
		c->p[i].y += c->v[i].y * 0.005f;
		c->p[i].z += c->v[i].z * 0.005f;
		c->a[i] = (struct vec){ 0, -9.8f, 0 };
		c->density[i] = 0;
	}
}

static void *work(void *arg)
{
	int id = (int)(long)arg, from = id * ncells / THREADS, to = (id + 1) * ncells / THREADS;

	for (int s = 0; s < steps; s++) {
		for (int i = from; i < to; i++)
			with_neighbour(i, to - 1, densities);
		pthread_barrier_wait(&barrier);
		for (int i = from; i < to; i++)
			with_neighbour(i, to - 1, forces);
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
	unsigned state = 1;
	double sum = 0;

	ncells = argc > 1 ? atoi(argv[1]) : 512;
	steps = argc > 2 ? atoi(argv[2]) : 20;
	cells = calloc((size_t)ncells, sizeof(*cells));
	for (int i = 0; i < ncells; i++) {
		pthread_mutex_init(&cells[i].lock, NULL);
		for (int k = 0; k < PARTICLES; k++)
			cells[i].p[k] = (struct vec){ ((float)i + uniform(&state)) * H, uniform(&state) * H, uniform(&state) * H };
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < ncells; i++)
		sum += cells[i].p[0].x;
	printf("%.3f\n", sum);
	return 0;
}
