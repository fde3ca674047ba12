/* Which lock main takes depends on races: a worker sets a flag while main computes, and main looks at it without a
 * lock. What main saw goes to a file that is mapped, so no recording and no replay has it; the program always
 * ends the same way. sync-choices FILE */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 8, WORK = 3000000 };

static pthread_mutex_t seen = PTHREAD_MUTEX_INITIALIZER, not_seen = PTHREAD_MUTEX_INITIALIZER;
static int flags[ROUNDS];
static sem_t go, done;

static void *worker(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&go);
		flags[i] = 1;
		sem_post(&done);
	}
	return arg;
}

static void compute(void)
{
	for (volatile int i = 0; i < WORK;)
		i++;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	char *said;
	pthread_t t;

	if (fd < 0 || ftruncate(fd, ROUNDS) != 0)
		return 1;
	said = mmap(NULL, ROUNDS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, worker, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_t *m;

		sem_post(&go);
		if (i % 3)
			compute();
		m = flags[i] ? &seen : &not_seen;
		said[i] = m == &seen ? '1' : '0';
		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
		sem_wait(&done);
	}
	pthread_join(t, NULL);
	return 0;
}
