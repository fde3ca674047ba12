/* rt/modes/ompt.c - what OpenMP orders, told by its runtime (OMPT, OpenMP 5.2 chapter 19).
 *
 * LLVM's libomp looks for ompt_start_tool() in the program and calls back at births of regions and
 * tasks, barriers, locks and dependences. All of it becomes the events `release` and `acquire`, as
 * the annotations do. The few declarations that are needed stand here, so that neither OpenMP nor
 * its headers are needed to build us. libgomp has no OMPT: what it orders by means we do not see
 * looks like a race, which then has a single order.
 *
 * Orders have no objects in memory, so their names are made up: the number of a region or task and
 * which of its orders is meant. The number is kept in the word that OMPT has for tools.
 *
 * Where two orders cannot be told apart the rule is to order more: that hides a race at worst. */
#include "rt/core/rt.h"
#include "rt/control/control.h"
#include "rt/modes/annotations.h"
#include "sched/tasks.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#define EXPORT PLAIT_EXPORT __attribute__((used, weak))
#pragma clang diagnostic ignored "-Wmissing-prototypes"

/* ---- the interface ---- */

typedef void (*ompt_function)(void);
typedef int (*set_callback_fn)(int event, ompt_function callback);
typedef ompt_function (*lookup_fn)(const char *name);

union ompt_data {
	uint64_t value;
	void *ptr;
};

struct start_tool_result {
	int (*initialize)(lookup_fn lookup, int device, union ompt_data *tool);
	void (*finalize)(union ompt_data *tool);
	union ompt_data tool;
};

struct dependence {
	union ompt_data variable;
	int type;
};

enum { BEGIN = 1, END = 2 };
enum {
	ON_PARALLEL_BEGIN = 3,
	ON_PARALLEL_END = 4,
	ON_TASK_CREATE = 5,
	ON_TASK_SCHEDULE = 6,
	ON_IMPLICIT_TASK = 7,
	ON_MUTEX_RELEASED = 17,
	ON_DEPENDENCES = 18,
	ON_SYNC_REGION = 23,
	ON_MUTEX_ACQUIRED = 27,
	ON_REDUCTION = 31,
};
enum { SYNC_TASKWAIT = 5, SYNC_TASKGROUP = 6, SYNC_REDUCTION = 7 };
enum { TASK_COMPLETE = 1, TASK_CANCEL = 3, TASK_WAIT_IS_OVER = 8 };
enum { TASK_EXPLICIT = 4, TASK_IS_WAIT = 16 };

/* ---- names of orders ---- */

enum order_of {
	FORK,	 /* a region: encountered -> begun */
	ROUND_0, /* a region: barriers, the even ones ... */
	ROUND_1, /* ... and the odd ones: who is late must not see the next round */
	JOIN,	 /* a region: ended -> gone on */
	CREATED, /* a task: created -> begun */
	WAITED,	 /* a task: its children ended -> its taskwait is over */
	TASKS,	 /* all tasks that ended -> barriers and task groups behind */
};

/* An address where no program has anything. */
#define NAME_OF(number, which) ((const void *)(0x6f0000000000ull | (number) << 4 | (which)))
#define SAY(kind, name)	       rt_record_sa_n(kind, rt_take_site(), (const void *)(name), 0)
#define RELEASE(number, which) SAY(PLAIT_EV_RELEASE, NAME_OF((uint64_t)(number), which))
#define ACQUIRE(number, which) SAY(PLAIT_EV_ACQUIRE, NAME_OF((uint64_t)(number), which))

/* A task's word: its number, its parent's, whether it waits for others, and the round of barriers. */
enum { NUMBER_BITS = 28, ROUND_BITS = 8, ROUND = 1, IS_WAITING = 2 };
static _Atomic uint32_t numbers;

static uint64_t new_number(void)
{
	return ++numbers & ((1u << NUMBER_BITS) - 1);
}

static uint64_t number_of(const union ompt_data *task)
{
	return task ? task->value >> (NUMBER_BITS + ROUND_BITS) : 0;
}

static uint64_t parent_of(const union ompt_data *task)
{
	return task->value >> ROUND_BITS & ((1u << NUMBER_BITS) - 1);
}

static void name_task(union ompt_data *task, uint64_t parent)
{
	task->value = new_number() << (NUMBER_BITS + ROUND_BITS) | parent << ROUND_BITS;
}

/* ---- regions ---- */

static void on_parallel_begin(union ompt_data *task, const void *frame, union ompt_data *region,
			      unsigned threads, int flags, const void *where)
{
	(void)task, (void)frame, (void)threads, (void)flags, (void)where;
	region->value = new_number();
	RELEASE(region->value, FORK);
}

static void on_parallel_end(union ompt_data *region, union ompt_data *task, int flags,
			    const void *where)
{
	(void)task, (void)flags, (void)where;
	ACQUIRE(region->value, JOIN);
	ACQUIRE(0, TASKS);
}

static void on_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
			     unsigned threads, unsigned index, int flags)
{
	(void)threads, (void)index, (void)flags;
	if (endpoint == BEGIN) {
		name_task(task, 0);
		if (region)
			ACQUIRE(region->value, FORK);
	} else if (region) {
		RELEASE(region->value, JOIN);
	}
}

/* The end of a region is a barrier whose end a worker sees when the next region begins, if ever: who
 * is ordered by then is ordered by JOIN. */
static void on_barrier(int endpoint, union ompt_data *region, union ompt_data *task)
{
	uint64_t odd = task->value & ROUND;

	if (!region)
		return;
	if (endpoint == BEGIN) {
		RELEASE(region->value, odd ? ROUND_1 : ROUND_0);
		RELEASE(region->value, JOIN);
	} else {
		ACQUIRE(region->value, odd ? ROUND_1 : ROUND_0);
		ACQUIRE(0, TASKS);
		task->value ^= ROUND;
	}
}

/* ---- waiting for tasks ---- */

/* Guarded by nothing: where several threads run at a time (mode full) only its dependences are looked
 * at, and a task's are there before anybody can run it. */
static struct tasks tasks;

enum { YIELDS_MOST = 1000 };

/* Under control a wait that has nothing to do lets others run first. False: it is of no use. */
static bool let_others_go_on(uint32_t times)
{
	if (rt_mode != PLAIT_MODE_CONTROL || times > YIELDS_MOST)
		return false;
	sched_yield();
	return true;
}

static void wait_for_children(const union ompt_data *task, uint64_t finishing)
{
	for (uint32_t i = 0; tasks_must_wait(&tasks, number_of(task), finishing); i++)
		if (!let_others_go_on(i))
			break;
}

static bool is_awaited(uint64_t number)
{
	const struct tasks_task *task = tasks_find(&tasks, number);

	return task && task->state == TASKS_AWAITED;
}

static void on_task_wait(int kind, int endpoint, union ompt_data *task)
{
	if (endpoint == BEGIN) {
		task->value |= IS_WAITING;
		wait_for_children(task, 0);
		control_waits_outside(true);
		return;
	}
	control_waits_outside(false);
	task->value &= ~(uint64_t)IS_WAITING;
	ACQUIRE(number_of(task), WAITED);
	if (kind == SYNC_TASKGROUP)
		ACQUIRE(0, TASKS);
}

static void on_sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
			   const void *where)
{
	(void)where;
	if (!task || kind == SYNC_REDUCTION)
		return;
	if (kind == SYNC_TASKWAIT || kind == SYNC_TASKGROUP)
		on_task_wait(kind, endpoint, task);
	else
		on_barrier(endpoint, region, task);
}

/* ---- tasks ---- */

/* What a dependence orders: who writes there comes before all others. It is named by its address;
 * readers are ordered with writers only, by the next address. */
static void order_dependences(uint64_t number, bool begins)
{
	const struct tasks_task *task = tasks_find(&tasks, number);

	for (uint32_t i = 0; task && i < task->n; i++) {
		const char *written = (const char *)task->on[i].variable, *read = written + 1;
		bool reads = task->on[i].type == TASKS_IN;

		if (begins) {
			SAY(PLAIT_EV_ACQUIRE, written);
			if (!reads)
				SAY(PLAIT_EV_ACQUIRE, read);
		} else {
			SAY(PLAIT_EV_RELEASE, reads ? read : written);
		}
	}
}

static void on_dependences(union ompt_data *task, const struct dependence *on, int n)
{
	uint64_t number = number_of(task);

	for (int i = 0; i < n; i++)
		tasks_depend(&tasks, number, on[i].variable.value, (uint32_t)on[i].type);
	for (uint32_t i = 0; is_awaited(number) && tasks_must_wait_for(&tasks, number); i++)
		if (!let_others_go_on(i))
			break;
	if (is_awaited(number))
		control_waits_outside(true);
}

static void on_task_create(union ompt_data *task, const void *frame, union ompt_data *new_task,
			   int flags, int has_dependences, const void *where)
{
	(void)frame, (void)has_dependences, (void)where;
	if (!new_task)
		return;
	name_task(new_task, number_of(task));
	tasks_create(&tasks, number_of(new_task), number_of(task),
		     flags & TASK_IS_WAIT    ? TASKS_AWAITED
		     : flags & TASK_EXPLICIT ? TASKS_CREATED
					     : TASKS_DONE);
	RELEASE(number_of(new_task), CREATED);
}

static void on_task_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
	bool ends = status == TASK_COMPLETE || status == TASK_CANCEL;

	if (prior && status == TASK_WAIT_IS_OVER) {
		control_waits_outside(false);
		order_dependences(number_of(prior), true);
	}
	if (prior && ends) {
		order_dependences(number_of(prior), false);
		RELEASE(parent_of(prior), WAITED);
		RELEASE(0, TASKS);
	}
	/* Whoever waits for it sees its end after this call only: the table as well, and here nobody
	 * waits but its parent. */
	if (next && next->value & IS_WAITING && ends && parent_of(prior) == number_of(next))
		wait_for_children(next, number_of(prior));
	if (prior && ends)
		tasks_set(&tasks, number_of(prior), TASKS_DONE);
	if (next)
		control_waits_outside(next->value & IS_WAITING);
	if (next && number_of(next)) {
		const struct tasks_task *task = tasks_find(&tasks, number_of(next));

		if (task && task->state == TASKS_CREATED)
			tasks_set(&tasks, number_of(next), TASKS_STARTED);
		ACQUIRE(number_of(next), CREATED);
		order_dependences(number_of(next), true);
	}
}

/* ---- locks, critical and ordered sections; reductions ---- */

static void on_mutex_acquired(int kind, uint64_t wait, const void *where)
{
	(void)kind, (void)where;
	SAY(PLAIT_EV_ACQUIRE, wait);
}

static void on_mutex_released(int kind, uint64_t wait, const void *where)
{
	(void)kind, (void)where;
	SAY(PLAIT_EV_RELEASE, wait);
}

/* Partial results are handed over inside the runtime. */
static void on_reduction(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
			 const void *where)
{
	(void)kind, (void)region, (void)task, (void)where;
	annotations_ignore(endpoint == BEGIN ? 1 : -1);
}

/* ---- the tool ---- */

static int initialize(lookup_fn lookup, int device, union ompt_data *tool)
{
	set_callback_fn set = (set_callback_fn)lookup("ompt_set_callback");

	(void)device, (void)tool;
	if (!set)
		return 0;
	set(ON_PARALLEL_BEGIN, (ompt_function)on_parallel_begin);
	set(ON_PARALLEL_END, (ompt_function)on_parallel_end);
	set(ON_TASK_CREATE, (ompt_function)on_task_create);
	set(ON_TASK_SCHEDULE, (ompt_function)on_task_schedule);
	set(ON_IMPLICIT_TASK, (ompt_function)on_implicit_task);
	set(ON_MUTEX_RELEASED, (ompt_function)on_mutex_released);
	set(ON_DEPENDENCES, (ompt_function)on_dependences);
	set(ON_SYNC_REGION, (ompt_function)on_sync_region);
	set(ON_MUTEX_ACQUIRED, (ompt_function)on_mutex_acquired);
	set(ON_REDUCTION, (ompt_function)on_reduction);
	return 1;
}

static void finalize(union ompt_data *tool)
{
	(void)tool;
}

/* Under control OpenMP's runtime was told that there is one processor (rt/interpose/passed.c). The
 * program hears the truth. */
EXPORT int omp_get_num_procs(void)
{
	int (*theirs)(void) = (int (*)(void))dlsym(RTLD_NEXT, "omp_get_num_procs");
	cpu_set_t set;

	CPU_ZERO(&set);
	if (theirs && rt_mode != PLAIT_MODE_CONTROL)
		return theirs();
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* NULL: no tool. With one, OpenMP's runtime takes other ways through its own code: under control it
 * is there in every run, whether anybody looks for races or not, so that schedules fit. */
EXPORT void *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct start_tool_result result = { initialize, finalize, { 0 } };

	(void)version, (void)runtime;
	return rt_mode == PLAIT_MODE_CONTROL || rt_mode == PLAIT_MODE_FULL ? &result : NULL;
}
