/* Locks in memory that was another lock's before, and locks that are destroyed as early as POSIX allows: nothing is
 * wrong with any of them. */
#include <alloca.h>
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

struct box {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int done;
};

static void *fill(void *arg)
{
	struct box *b = arg;

	pthread_mutex_lock(&b->mutex);
	b->done = 1;
	pthread_cond_signal(&b->cond);
	pthread_mutex_unlock(&b->mutex);
	return NULL;
}

static void await(struct box *b)
{
	pthread_mutex_lock(&b->mutex);
	while (!b->done)
		pthread_cond_wait(&b->cond, &b->mutex);
	pthread_mutex_unlock(&b->mutex);
}

/* The frame of one call after the other, initialised without a call; the other thread uses it first. */
static void initialised(void)
{
	struct box b = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	pthread_t t;

	pthread_create(&t, NULL, fill, &b);
	await(&b);
	pthread_detach(t);
}

/* Another frame in the same place, with another layout. */
static void __attribute__((noinline)) moved(void)
{
	char before[40];
	struct box b = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	pthread_t t;

	memset(before, 1, sizeof(before));
	pthread_create(&t, NULL, fill, &b);
	pthread_join(t, NULL);
	await(&b);
	assert(before[39]);
}

static jmp_buf back;

static void __attribute__((noinline)) leaves(void)
{
	struct box b = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	pthread_t t;

	pthread_create(&t, NULL, fill, &b);
	await(&b);
	pthread_detach(t);
	longjmp(back, 1);
}

static void __attribute__((noinline)) by_alloca(void)
{
	struct box *b = alloca(sizeof(*b));
	pthread_t t;

	pthread_mutex_init(&b->mutex, NULL);
	pthread_cond_init(&b->cond, NULL);
	b->done = 0;
	pthread_create(&t, NULL, fill, b);
	await(b);
	pthread_join(t, NULL);
}

/* It ends inside a function that has a lock; its stack becomes another thread's. */
static void *ends(void *arg)
{
	struct box b = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
	pthread_t t;

	pthread_create(&t, NULL, fill, &b);
	await(&b);
	pthread_join(t, NULL);
	pthread_exit(arg);
}

static ucontext_t here, there;

static void on_fiber(void)
{
	initialised();
	swapcontext(&there, &here);
	moved();
	swapcontext(&there, &here);
}

static void on_fibers(void)
{
	char *stack = malloc(256 << 10);

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = 256 << 10;
	there.uc_link = &here;
	makecontext(&there, on_fiber, 0);
	swapcontext(&here, &there);
	initialised();
	swapcontext(&here, &there);
	free(stack);
}

/* The last one to leave destroys it; a variable whose waiters have all been woken; made of zeros anew. */
static void *unlocks(void *arg)
{
	struct box *b = arg;
	int last;

	pthread_mutex_lock(&b->mutex);
	last = ++b->done == 2;
	pthread_mutex_unlock(&b->mutex);
	if (!last)
		return NULL;
	pthread_mutex_destroy(&b->mutex);
	pthread_cond_destroy(&b->cond);
	memset(b, 0, sizeof(*b));
	pthread_mutex_lock(&b->mutex);
	pthread_cond_broadcast(&b->cond);
	pthread_mutex_unlock(&b->mutex);
	free(b);
	return NULL;
}

static void last_one(void)
{
	struct box *b = calloc(1, sizeof(*b));
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, unlocks, b);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static pthread_barrier_t barrier;

static void *meets(void *arg)
{
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		pthread_barrier_destroy(&barrier); /* waits for the other to have left */
	return arg;
}

static void at_barrier(void)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, meets, NULL);
	meets(NULL);
	pthread_join(t, NULL);
}

static void *posts(void *sem)
{
	sem_post(sem);
	return NULL;
}

/* Who was woken destroys it. */
static void by_semaphore(void)
{
	sem_t sem;
	pthread_t t;

	sem_init(&sem, 0, 0);
	pthread_create(&t, NULL, posts, &sem);
	sem_wait(&sem);
	sem_destroy(&sem);
	pthread_join(t, NULL);
}

static void forked(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		initialised();
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert(status == 0);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (strcmp(argv[1], "frames") == 0) {
		initialised();
		initialised();
		moved();
	} else if (strcmp(argv[1], "jumps") == 0) {
		if (!setjmp(back))
			leaves();
		by_alloca();
		initialised();
	} else if (strcmp(argv[1], "threads") == 0) {
		for (int i = 0; i < 2; i++) {
			pthread_create(&t, NULL, ends, NULL);
			pthread_join(t, NULL);
		}
	} else if (strcmp(argv[1], "fibers") == 0) {
		on_fibers();
	} else if (strcmp(argv[1], "early") == 0) {
		last_one();
		at_barrier();
		by_semaphore();
	} else {
		initialised();
		forked();
		initialised();
	}
	return argc - 2;
}
