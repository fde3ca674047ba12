/* Four threads that lock, wait, post, try, read clocks, write to a pipe and have a spinlock of their own, for ever. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4 };

static pthread_mutex_t locks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static long values[3], total, passed, failed;
static int ends[2], spin;
static long spun;

static void pass_on(int me)
{
	char b[600];

	memset(b, 'a' + me, sizeof(b));
	if (me % 2 ? write(ends[1], b, 1 + (size_t)values[0] % 500) < 0 : read(ends[0], b, sizeof(b)) < 0)
		exit(3);
}

static void *work(void *arg)
{
	int me = (int)(long)arg;

	for (long i = 0;; i++) {
		struct timespec ts;
		int mine;

		pthread_mutex_lock(&locks[i % 3]);
		values[i % 3] += me;
		if (i % 7 == 0)
			pthread_cond_signal(&cond);
		pthread_mutex_unlock(&locks[i % 3]);
		if (pthread_mutex_trylock(&locks[1]) == 0) {
			values[1]++;
			pthread_mutex_unlock(&locks[1]);
		} else {
			__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
		}
		clock_gettime(CLOCK_MONOTONIC, &ts);
		if (i % 5 == 0) {
			pthread_rwlock_wrlock(&shared);
			total += ts.tv_nsec % 10;
			pthread_rwlock_unlock(&shared);
		} else {
			pthread_rwlock_rdlock(&shared);
			passed = total > 5 ? total : 0;
			pthread_rwlock_unlock(&shared);
		}
		if (me == 3 && i % 11 == 0) {
			clock_gettime(CLOCK_REALTIME, &ts);
			ts.tv_nsec += 100000;
			ts.tv_sec += ts.tv_nsec / 1000000000;
			ts.tv_nsec %= 1000000000;
			pthread_mutex_lock(&locks[0]);
			if (pthread_cond_timedwait(&cond, &locks[0], &ts) == 0)
				values[0]++;
			pthread_mutex_unlock(&locks[0]);
		}
		while (__atomic_exchange_n(&spin, 1, __ATOMIC_ACQUIRE))
			;
		mine = spun++ % 29 == me;
		__atomic_store_n(&spin, 0, __ATOMIC_RELEASE);
		if (mine && __atomic_load_n(&failed, __ATOMIC_RELAXED) % 3 == 0)
			pthread_cond_signal(&cond);
		if (me == 0)
			sem_post(&sem);
		if (me == 2 && sem_trywait(&sem) == 0)
			values[2] += 0;
		if (i % 17 == me)
			pass_on(me);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	if (pipe(ends))
		return 3;
	sem_init(&sem, 0, 0);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
