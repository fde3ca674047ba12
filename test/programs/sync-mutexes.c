/* Threads that take mutexes of every kind. Each prints a number made of all it saw, so that another order prints
 * another number. Between rounds mutexes are copied and made anew; now and then the holder of one writes
 * over the words that libc does not use, as another process would that shares it.
 *
 *	sync-mutexes SEED THREADS STEPS [fork|slow]
 *
 * fork: before each round a child process uses them, too; slow: it takes its time, and the threads wait for
 * standard input before they begin a round. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 7, ROUNDS = 3, MAX_THREADS = 8 };

static struct object {
	pthread_mutex_t m;
	unsigned long order;
} objects[KINDS];
static pthread_barrier_t barrier;
static unsigned long seed, steps, saw[MAX_THREADS];
static bool slow;

static void make(int kind)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	switch (kind) {
	case 1: pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE); break;
	case 2: pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK); break;
	case 3: pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP); break;
	case 4: pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); break;
	case 5: pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT); break;
	case 6: pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED); break;
	}
	pthread_mutex_init(&objects[kind].m, &a);
}

static unsigned long mix(unsigned long h, unsigned long v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15ul + 1;
}

static void *work(void *arg)
{
	unsigned long me = (unsigned long)arg, x = mix(seed, me);

	for (int round = 0; round < ROUNDS; round++) {
		char byte;

		if (slow && read(0, &byte, 1) != 1)
			abort();
		pthread_barrier_wait(&barrier); /* main has made them */
		for (unsigned long i = 0; i < steps; i++) {
			int kind = (int)((x = mix(x, i)) >> 40) % KINDS;
			struct object *o = &objects[kind];

			pthread_mutex_lock(&o->m);
			o->order = mix(o->order, me);
			saw[me] = mix(saw[me], o->order);
			if (kind < 4 && (x >> 50) % 64 == 1)
				memset(&o->m.__data.__list, (int)i, sizeof(o->m.__data.__list));
			pthread_mutex_unlock(&o->m);
		}
		pthread_barrier_wait(&barrier); /* they are free */
	}
	return NULL;
}

/* What a child does to its copy is nothing to its parent. */
static void fork_and_use(void)
{
	pid_t child = fork();

	if (child == 0) {
		for (volatile long i = 0; slow && i < 50000000; i++)
			;
		for (int k = 0; k < KINDS; k++) {
			pthread_mutex_lock(&objects[k].m);
			pthread_mutex_unlock(&objects[k].m);
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	unsigned long threads = strtoul(argv[2], NULL, 10);
	pthread_t t[MAX_THREADS];

	if (argc < 4 || threads > MAX_THREADS)
		return 2;
	seed = strtoul(argv[1], NULL, 10);
	steps = strtoul(argv[3], NULL, 10);
	slow = argc > 4 && strcmp(argv[4], "slow") == 0;
	pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
	for (int k = 0; k < KINDS; k++)
		make(k);
	for (unsigned long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int round = 0; round < ROUNDS; round++) {
		if (argc > 4)
			fork_and_use();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		objects[2].m = objects[1].m; /* a copy of another kind, and with what was left in it */
		pthread_mutex_destroy(&objects[3].m);
		make(3);
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (unsigned long i = 0; i < threads; i++)
		printf("saw %lx\n", saw[i]);
}
