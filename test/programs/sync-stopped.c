/* Two threads hand a mutex, semaphores and an atomic on and on, and one sends the other how far it is. A debugger stops one of them
 * between the record of a hand-over and its operation (test/e2e/2272-record-sync-stopped.sh). */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t turns[2];
static _Atomic int shared;
static int total, ends[2];

static void *work(void *arg)
{
	int me = arg != NULL;

	for (int i = 0; i < 200; i++) {
		sem_wait(&turns[me]);
		pthread_mutex_lock(&lock);
		total = total * 3 + me;
		pthread_mutex_unlock(&lock);
		atomic_fetch_add(&shared, 1);
		if (i % 8 == 0 && (me ? read(ends[0], &total, sizeof(total))
				      : write(ends[1], &total, sizeof(total))) < 0)
			_exit(1);
		sem_post(&turns[!me]);
	}
	return NULL;
}

int main(void)
{
	pthread_t t;

	if (pipe(ends))
		return 1;
	sem_init(&turns[0], 0, 1);
	sem_init(&turns[1], 0, 0);
	pthread_create(&t, NULL, work, &t);
	work(NULL);
	pthread_join(t, NULL);
	return 0;
}
