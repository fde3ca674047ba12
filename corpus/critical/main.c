/* critical: two threads enter a section that should hold one.
 *
 * The section is guarded by a variable that names its owner, and taking it is a look and a store, not one step. Whoever finds
 * company inside notes a violation. Non-failing runs never take that branch.
 *
 * usage: critical [ROUNDS] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int owner;     /* 0: nobody */
static int inside;    /* threads in the section */
static int violation; /* somebody was not alone */
static int rounds = 1;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static __attribute__((noinline)) int try_enter(int me)
{
	if (owner != 0) /* BUG:a */
		return 0;
	owner = me; /* BUG:b */
	return 1;
}

static __attribute__((noinline)) void arrive(void)
{
	int n = inside; /* BUG:d */

	if (n > 0)
		violation = 1;
	inside = n + 1; /* BUG:c */
}

static __attribute__((noinline)) void leave(void)
{
	inside--;
	owner = 0;
}

static void *section(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < rounds; i++) {
#ifdef FIXED
		pthread_mutex_lock(&lock);
#endif
		if (try_enter(me)) {
			arrive();
			leave();
		}
#ifdef FIXED
		pthread_mutex_unlock(&lock);
#endif
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int one = 1, two = 2;
	pthread_t t1, t2;

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	pthread_create(&t1, NULL, section, &one);
	pthread_create(&t2, NULL, section, &two);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	assert(!violation);
	return 0;
}
