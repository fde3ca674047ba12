/* listing41 - a deadlock behind two inputs.
 *
 * Two threads enter a critical section with two locks. If the first character typed is an `m` and
 * the environment variable `mode` begins with Y, a thread lets go of the first lock inside and
 * takes it again, which reverses the lock order.
 * Cure: let go of both.   usage: echo m | mode=Y main */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum mode { MOD_Z, MOD_Y };

static pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m2 = PTHREAD_MUTEX_INITIALIZER;
static int idx;
static enum mode mode;
static int visits;

static void *critical_section(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&m1);
	pthread_mutex_lock(&m2); /* BUG:b */
	visits++;
	if (mode == MOD_Y && idx == 1) {
#ifdef FIXED
		pthread_mutex_unlock(&m2);
		pthread_mutex_unlock(&m1);
		pthread_mutex_lock(&m1);
		pthread_mutex_lock(&m2);
#else
		pthread_mutex_unlock(&m1); /* BUG:a */
		pthread_mutex_lock(&m1); /* BUG:c */
#endif
		visits--;
	}
	pthread_mutex_unlock(&m2);
	pthread_mutex_unlock(&m1);
	return NULL;
}

int main(void)
{
	const char *value = getenv("mode");
	pthread_t a, b;

	if (getchar() == 'm')
		idx++;
	if (value && value[0] == 'Y')
		mode = MOD_Y;
	else
		mode = MOD_Z;
	pthread_create(&a, NULL, critical_section, NULL);
	pthread_create(&b, NULL, critical_section, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
