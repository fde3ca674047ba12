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
#include "rt/modes/annotations.h"

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
enum { DEPENDS_IN = 1 };
enum { TASK_COMPLETE = 1, TASK_CANCEL = 3 };

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

/* A task's word: its number, its parent's, and how many barriers it has passed. */
enum { NUMBER_BITS = 28, ROUND_BITS = 8 };
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
	uint64_t odd = task->value & 1;

	if (!region)
		return;
	if (endpoint == BEGIN) {
		RELEASE(region->value, odd ? ROUND_1 : ROUND_0);
		RELEASE(region->value, JOIN);
	} else {
		ACQUIRE(region->value, odd ? ROUND_1 : ROUND_0);
		ACQUIRE(0, TASKS);
		task->value ^= 1;
	}
}

static void on_sync_region(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
			   const void *where)
{
	(void)where;
	if (!task || kind == SYNC_REDUCTION)
		return;
	if (kind != SYNC_TASKWAIT && kind != SYNC_TASKGROUP) {
		on_barrier(endpoint, region, task);
	} else if (endpoint == END) {
		ACQUIRE(number_of(task), WAITED);
		if (kind == SYNC_TASKGROUP)
			ACQUIRE(0, TASKS);
	}
}

/* ---- tasks ---- */

enum { MOST_TASKS = 512, MOST_DEPENDENCES = 6 };

/* What the latest tasks depend on, by number. A task that is forgotten is ordered with nobody. */
static struct {
	uint64_t task;
	int n;
	struct dependence on[MOST_DEPENDENCES];
} depends[MOST_TASKS];

static void on_dependences(union ompt_data *task, const struct dependence *on, int n)
{
	uint64_t number = number_of(task);

	depends[number % MOST_TASKS].task = number;
	depends[number % MOST_TASKS].n = n < MOST_DEPENDENCES ? n : MOST_DEPENDENCES;
	for (int i = 0; i < depends[number % MOST_TASKS].n; i++)
		depends[number % MOST_TASKS].on[i] = on[i];
}

/* A dependence is named by its address: who writes there comes before all others. Readers are
 * ordered with writers only, by the next address. */
static void order_dependences(uint64_t number, bool begins)
{
	if (!number || depends[number % MOST_TASKS].task != number)
		return;
	for (int i = 0; i < depends[number % MOST_TASKS].n; i++) {
		const struct dependence *d = &depends[number % MOST_TASKS].on[i];
		const char *written = d->variable.ptr, *read = written + 1;
		bool reads = d->type == DEPENDS_IN;

		if (begins) {
			SAY(PLAIT_EV_ACQUIRE, written);
			if (!reads)
				SAY(PLAIT_EV_ACQUIRE, read);
		} else {
			SAY(PLAIT_EV_RELEASE, reads ? read : written);
		}
	}
}

static void on_task_create(union ompt_data *task, const void *frame, union ompt_data *new_task,
			   int flags, int has_dependences, const void *where)
{
	(void)frame, (void)flags, (void)has_dependences, (void)where;
	if (!new_task)
		return;
	name_task(new_task, number_of(task));
	RELEASE(number_of(new_task), CREATED);
}

static void on_task_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
	if (prior && (status == TASK_COMPLETE || status == TASK_CANCEL)) {
		order_dependences(number_of(prior), false);
		RELEASE(parent_of(prior), WAITED);
		RELEASE(0, TASKS);
	}
	if (next && number_of(next)) {
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

/* NULL: no tool. With one, OpenMP's runtime takes other ways through its own code: under control it
 * is there in every run, whether anybody looks for races or not, so that schedules fit. */
EXPORT void *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct start_tool_result result = { initialize, finalize, { 0 } };

	(void)version, (void)runtime;
	return rt_mode == PLAIT_MODE_CONTROL || rt_mode == PLAIT_MODE_FULL ? &result : NULL;
}
