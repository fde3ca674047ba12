/* rt/control/meet.c - two threads at the two sides of a race, at once.
 *
 * PLAIT_CONSTRAINT_MEET holds a thread back whose next event matches `a` until another thread is
 * about to execute an event that matches `b` and conflicts with it. That is the racing state: from
 * there the first runs its access, then the second (REVERSED: the other way round), and nobody
 * else in between. With BOTH, threads that come to `b` first are held back as well; when all of
 * them are held and no two conflict, one of them goes on past its event.
 *
 *	HOLDING   somebody may be held back; nobody has met
 *	MET       both are pending; the one that is to be first goes on
 *	BETWEEN   it has made its access; the other goes on
 *	OVER      both have, or it was given up; nobody is held back any more
 *
 * While somebody is held back and nobody else is ready, sleepers wake, then those who wait busily
 * go on. A loop that comes back to the same state (registers and stack, and nobody has written
 * anything) will do so until the held thread goes on, whether it sleeps in between or not, unless
 * somebody looks at the clock. When all of them are there, the other side cannot be reached:
 * IMPOSSIBLE. A loop whose state never comes back, such as one that counts, gets
 * PATIENCE points without anybody's write; then the meeting is given up, which proves nothing. */
#include "rt/control/meet.h"

#include "rt/control/constraints.h"
#include "rt/control/engine.h"

enum stage { OVER, HOLDING, MET, BETWEEN };
enum { PATIENCE = 20000 };

static enum stage stage;
static uint32_t number; /* of the constraint */
static struct control_thread *order[2];
static uint64_t idle_writes, idle; /* points since control.writes has changed */
static bool slept;		   /* since then: somebody's deadline has passed */
static uint64_t looks;		   /* control.clock_looks at that time */
static bool let_one;		   /* BOTH: one of those who are held back goes on */
static uint32_t given_way;
static uint32_t passed; /* events matching b since the strategy decides */

static const struct plait_constraint *wanted(void)
{
	return &control.area->constraints[number];
}

void meet_begin(void)
{
	stage = OVER;
	idle = 0;
	idle_writes = 0;
	slept = false;
	passed = given_way = 0;
	let_one = false;
	for (number = 0; number < control.area->nconstraints; number++)
		if (wanted()->kind == PLAIT_CONSTRAINT_MEET) {
			stage = HOLDING;
			return;
		}
}

bool meet_is_on(void)
{
	return stage != OVER;
}

static void end(enum plait_fate fate)
{
	stage = OVER;
	control.area->constraint_fate[number] = (uint8_t)fate;
}

static bool is_at(const struct plait_pattern *p, const struct control_thread *t)
{
	return plait_is_memory(t->op.kind) && constraints_match(p, t, t->events + 1);
}

static bool may_meet(const struct control_thread *a, const struct control_thread *b)
{
	return sched_conflict(&a->task.op, &b->task.op);
}

/* b.nth says how many must have passed, and not how many exactly: the n-th or any later one. */
static bool is_at_b(const struct control_thread *t)
{
	const struct plait_pattern *b = &wanted()->b;

	return (b->nth == PLAIT_ANY || passed + 1 >= b->nth) && is_at(b, t);
}

/* Are both sides pending? */
static bool find_both(void)
{
	const struct plait_constraint *c = wanted();

	for (size_t i = 0; i < control.nalive; i++) {
		struct control_thread *a = control_alive[i];

		if (!is_at(&c->a, a))
			continue;
		for (size_t k = 0; k < control.nalive; k++) {
			struct control_thread *b = control_alive[k];
			bool reversed = c->flags & PLAIT_CONSTRAINT_REVERSED;

			if (b == a || !is_at_b(b) || !may_meet(a, b))
				continue;
			order[0] = reversed ? b : a;
			order[1] = reversed ? a : b;
			control.area->meet_thread[0] = a->task.id;
			control.area->meet_thread[1] = b->task.id;
			return true;
		}
	}
	return false;
}

static bool is_held(const struct control_thread *t)
{
	const struct plait_constraint *c = wanted();

	return is_at(&c->a, t) || (c->flags & PLAIT_CONSTRAINT_BOTH && is_at_b(t));
}

/* A run in which only sleepers and busy waits move, and nobody writes, comes to nothing. */
static bool is_patient(void)
{
	if (idle_writes != control.writes) {
		idle_writes = control.writes;
		idle = 0;
		slept = false;
		looks = control.clock_looks;
	}
	return ++idle <= PATIENCE;
}

size_t meet_filter(struct sched_task **tasks, size_t n)
{
	size_t kept = 0;

	if (stage == HOLDING && find_both())
		stage = MET;
	if (stage == MET || stage == BETWEEN) {
		tasks[0] = &order[stage == BETWEEN]->task;
		return 1;
	}
	if (let_one) {
		let_one = false;
		return n;
	}
	for (size_t i = 0; i < n; i++)
		if (!is_held((struct control_thread *)tasks[i]))
			tasks[kept++] = tasks[i];
	if (kept || is_patient())
		return kept;
	end(PLAIT_FATE_GIVEN_UP);
	return n;
}

size_t meet_spinners(struct control_thread **spinners, size_t n, struct sched_task **ret)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++)
		if (spinners[i]->repeats != control.writes && !is_held(spinners[i]))
			ret[open++] = &spinners[i]->task;
	return open;
}

size_t meet_sleepers(struct control_thread **sleepers, size_t n)
{
	size_t open = 0;

	for (size_t i = 0; i < n; i++)
		if (sleepers[i]->repeats != control.writes)
			sleepers[open++] = sleepers[i];
	slept |= open > 0;
	return open;
}

void meet_give_way(void)
{
	if (wanted()->flags & PLAIT_CONSTRAINT_BOTH && ++given_way < PATIENCE) {
		let_one = true;
		return;
	}
	/* who sleeps and looks at the clock may find that enough time has gone by */
	end(slept && looks != control.clock_looks ? PLAIT_FATE_GIVEN_UP : PLAIT_FATE_IMPOSSIBLE);
}

void meet_executed(struct control_thread *me)
{
	if (stage == HOLDING && !control.fixed && constraints_match(&wanted()->b, me, me->events))
		passed++;
	if (stage == MET && me == order[0]) {
		/* what follows the access in its thread may end the run before the other's */
		stage = BETWEEN;
		control.area->constraint_fate[number] = PLAIT_FATE_MET;
		control.area->meet_step = rt_steps;
	} else if (stage == BETWEEN && me == order[1]) {
		end(PLAIT_FATE_MET);
	}
}

__attribute__((noinline)) void meet_spins(struct control_thread *me, unsigned site)
{
	if (spin_repeats(me, site))
		me->repeats = control.writes;
}
