/* garage: the manager opens the gate before all tasks are on the board.
 *
 * Workers arrive in the garage and wait for the manager, who waits for them, distributes tasks and opens. Everybody waits
 * busily. A worker that finds no task on the board when the garage opens goes home. The manager opens before the
 * last tasks are up, because they go up one after the other; each step is locked, all of them together are not. In a run
 * that fails, a worker leaves by a door that it uses in no other run.
 *
 * The cure opens after the last task.
 *
 * usage: garage [WORKERS] */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 32

enum task { NO_TASK, WASH, REPAIR, PAINT, REFUEL, TASKS };

static const char *const task_name[TASKS] = {"nothing", "wash", "repair", "paint", "refuel"};

struct status {
	pthread_mutex_t lock;
	int workers_arrived;
	int manager_arrived;
	int open;
	enum task board[MAX_WORKERS];
	int tasks_posted, tasks_done, workers_idle;
	int done[TASKS];
};

static struct status status = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int workers = 5;

static int read_locked(const int *what)
{
	int n;

	pthread_mutex_lock(&status.lock);
	n = *what;
	pthread_mutex_unlock(&status.lock);
	return n;
}

static void wait_until(const int *what, int at_least)
{
	while (read_locked(what) < at_least)
		sched_yield();
}

static void arrive(int *who)
{
	pthread_mutex_lock(&status.lock);
	(*who)++;
	pthread_mutex_unlock(&status.lock);
}

static void post_task(int worker, enum task task)
{
	pthread_mutex_lock(&status.lock);
	status.board[worker] = task; /* BUG:c */
	status.tasks_posted++;
	pthread_mutex_unlock(&status.lock);
}

static void open_garage(void)
{
	pthread_mutex_lock(&status.lock);
	status.open = 1; /* BUG:a */
	pthread_mutex_unlock(&status.lock);
}

static void *manager(void *arg)
{
	arrive(&status.manager_arrived);
	wait_until(&status.workers_arrived, workers);
#ifndef FIXED
	open_garage();
#endif
	for (int i = 0; i < workers; i++)
		post_task(i, (enum task)(1 + i % (TASKS - 1)));
#ifdef FIXED
	open_garage();
#endif
	return arg;
}

static enum task take_task(int me)
{
	enum task task;

	pthread_mutex_lock(&status.lock);
	task = status.board[me]; /* BUG:b */
	status.board[me] = NO_TASK;
	pthread_mutex_unlock(&status.lock);
	return task;
}

static void perform(enum task task)
{
	pthread_mutex_lock(&status.lock);
	status.done[task]++;
	status.tasks_done++;
	pthread_mutex_unlock(&status.lock);
}

static void go_home_idle(void)
{
	pthread_mutex_lock(&status.lock);
	status.workers_idle++;
	pthread_mutex_unlock(&status.lock);
}

static void *worker(void *arg)
{
	int me = *(int *)arg;
	enum task task;

	wait_until(&status.manager_arrived, 1);
	arrive(&status.workers_arrived);
	wait_until(&status.open, 1);
	task = take_task(me);
	if (task == NO_TASK)
		go_home_idle();
	else
		perform(task);
	return NULL;
}

int main(int argc, char **argv)
{
	int number[MAX_WORKERS];
	pthread_t thread[MAX_WORKERS], boss;

	workers = argc > 1 ? atoi(argv[1]) : workers;
	if (workers < 1 || workers > MAX_WORKERS) {
		fprintf(stderr, "usage: garage [WORKERS(1-%d)]\n", MAX_WORKERS);
		return 2;
	}
	pthread_create(&boss, NULL, manager, NULL);
	for (int i = 0; i < workers; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, worker, &number[i]);
	}
	for (int i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);
	pthread_join(boss, NULL);

	for (int i = 1; i < TASKS; i++)
		printf("%s: %d\n", task_name[i], status.done[i]);
	assert(status.workers_idle == 0);
	assert(status.tasks_done == status.tasks_posted);
	return 0;
}
