/* Steps that another thread can notice, one by name: transitions NAME. Each fails in some schedule. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static volatile int shared;

static struct timespec soon(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 1000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *write_local(void *local)
{
	*(volatile int *)local = 1;
	return NULL;
}

static void main_stack(void)
{
	volatile int here = 0;
	pthread_t t;
	int was;

	pthread_create(&t, NULL, write_local, (void *)&here);
	was = here;
	assert(was == here);
	pthread_join(t, NULL);
}

static void *go_on(void *unused)
{
	shared = 1;
	assert(!shared);
	return unused;
}

static void main_ends(void)
{
	pthread_t t;

	pthread_create(&t, NULL, go_on, NULL);
	exit(0);
}

static void *use_mutex(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void destroyed(void)
{
	pthread_t t;

	pthread_create(&t, NULL, use_mutex, NULL);
	pthread_mutex_destroy(&mutex); /* the tool's own oracle: nothing is asserted */
	pthread_join(t, NULL);
}

static void *use_rwlock(void *unused)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

static void timed_read(void)
{
	struct timespec t = soon();
	pthread_t other;

	pthread_create(&other, NULL, use_rwlock, NULL);
	assert(!pthread_rwlock_timedrdlock(&rwlock, &t));
	pthread_rwlock_unlock(&rwlock);
	pthread_join(other, NULL);
}

static void timed_write(void)
{
	struct timespec t = soon();
	pthread_t other;

	pthread_create(&other, NULL, use_rwlock, NULL);
	assert(!pthread_rwlock_timedwrlock(&rwlock, &t));
	pthread_rwlock_unlock(&rwlock);
	pthread_join(other, NULL);
}

static void *set(void *unused)
{
	shared = 1;
	return unused;
}

static void timed_join(void)
{
	struct timespec t = soon();
	pthread_t other;

	pthread_create(&other, NULL, set, NULL);
	assert(!pthread_timedjoin_np(other, NULL, &t));
}

static int use_c11(void *unused)
{
	(void)unused;
	mtx_lock(&c11);
	mtx_unlock(&c11);
	return 0;
}

static void c11_try(void)
{
	thrd_t t;

	mtx_init(&c11, mtx_plain);
	thrd_create(&t, use_c11, NULL);
	assert(mtx_trylock(&c11) == thrd_success);
	mtx_unlock(&c11);
	thrd_join(t, NULL);
}

static void c11_timed(void)
{
	struct timespec at = soon();
	thrd_t t;

	mtx_init(&c11, mtx_timed);
	thrd_create(&t, use_c11, NULL);
	assert(mtx_timedlock(&c11, &at) == thrd_success);
	mtx_unlock(&c11);
	thrd_join(t, NULL);
}

static void *draw(void *unused)
{
	rand();
	return unused;
}

static void numbers(void)
{
	pthread_t t;
	int first;

	srand(1);
	first = rand();
	srand(1);
	pthread_create(&t, NULL, draw, NULL);
	assert(rand() == first);
	pthread_join(t, NULL);
}

static void *other_day(void *unused)
{
	time_t year = 86400l * 365;

	localtime(&year);
	return unused;
}

static void days(void)
{
	struct tm *day;
	time_t zero = 0;
	pthread_t t;

	pthread_create(&t, NULL, other_day, NULL);
	day = localtime(&zero);
	assert(day->tm_year == 70);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "main-stack", main_stack }, { "main-ends", main_ends },
		{ "destroyed", destroyed },   { "timed-read", timed_read },
		{ "timed-write", timed_write }, { "timed-join", timed_join },
		{ "c11-try", c11_try },	      { "c11-timed", c11_timed },
		{ "numbers", numbers },	      { "days", days },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(argv[1], all[i].name))
			all[i].run();
	return 0;
}
