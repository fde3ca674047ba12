/* What the programs of race-kinds.txt share. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct two_ints {
	int a, b;
};
struct node {
	struct node *volatile next;
};
static volatile int x, y, z = 3, flag, done, array[8];
static volatile long l;
static volatile char c;
static volatile double d;
static atomic_int a;
static volatile struct two_ints pair;
static struct two_ints pair_copy;
static volatile int *volatile p = array, *volatile p2;
static volatile int *volatile heap;
static struct node *volatile head;
static char text[8];
static int fds[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, m2 = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t only_once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t no_sem, two_sem;

static void set_x(void)
{
	x = 9;
}

static void set_up(void)
{
	heap = calloc(4, sizeof(*heap));
	sem_init(&no_sem, 0, 0);
	sem_init(&two_sem, 0, 2);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	if (pipe(fds))
		abort();
}
