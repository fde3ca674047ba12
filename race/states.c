/* race/states.c - do the two orders of a race lead to the same state?
 *
 * The accesses are adjacent, so all that can differ afterwards is what they read and what is at
 * the address. Both orders are run once and recorded; the values of the two events tell. Equal
 * means: every continuation is a continuation of both orders, and the race cannot matter from
 * here on. Accesses of different bytes, and ranges whose values are not recorded, count as
 * different unless nothing says so: that only costs runs. */
#include "race/study.h"

#include "base/err.h"
#include "trace/trace.h"

/* What one of the accesses did. */
struct deed {
	bool found, has_value;
	uint64_t address, size;
	uint64_t before, after; /* what it read, what it left; by kind */
	bool reads, writes;
};

static void take(struct deed *d, const struct event *ev)
{
	d->found = true;
	d->address = ev->address;
	d->size = ev->n;
	d->reads = plait_reads(ev->kind);
	d->writes = event_is_write(ev);
	d->has_value = ev->kind == PLAIT_EV_READ || ev->kind == PLAIT_EV_WRITE ||
		       ev->kind == PLAIT_EV_ATOMIC_READ || ev->kind == PLAIT_EV_ATOMIC_WRITE ||
		       ev->kind == PLAIT_EV_ATOMIC_RMW;
	d->has_value &= ev->n <= 8;
	d->before = ev->value;
	d->after = ev->kind == PLAIT_EV_ATOMIC_RMW ? ev->value2 : ev->value;
}

/* The deeds of the racing threads in one order: [0] of the first access, [1] of the second. */
static struct err *deeds_of(struct study *s, uint32_t input, const struct meeting *m, int order,
			    struct deed ret[2])
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY,
				   .points = PLAIT_POINTS_ALL,
				   .flags = PLAIT_CONTROL_PREFIX,
				   .decisions = m->way[order].data,
				   .ndecisions = m->way[order].len,
				   .point_budget = s->budget };
	struct run_result r = { 0 };
	struct trace *t = NULL;
	const struct event *ev;
	struct cursor cur;
	struct err *err = study_record(s, input, &req, &r, &t);

	memset(ret, 0, 2 * sizeof(*ret));
	run_result_deinit(&r);
	if (err)
		return err;
	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev && ev->clock <= m->step + 1)
		for (int i = 0; i < 2; i++)
			if (ev->clock >= m->step && ev->thread == m->thread[i] &&
			    plait_is_access(ev->kind))
				take(&ret[i], ev);
	cursor_deinit(&cur);
	trace_close(t);
	return err;
}

static bool same_bytes(const struct deed *a, const struct deed *b)
{
	return a->address == b->address && a->size == b->size;
}

struct err *race_states(struct study *s, uint32_t input, const struct meeting *m,
			enum race_states *ret)
{
	struct deed one[2], other[2];
	struct err *err = deeds_of(s, input, m, 0, one);
	bool same = true;

	*ret = RACE_STATES_DIFFER;
	if (!err)
		err = deeds_of(s, input, m, 1, other);
	if (err)
		return err;
	for (int i = 0; i < 2; i++) {
		same &= one[i].found && other[i].found && one[i].has_value && other[i].has_value;
		same &= same_bytes(&one[i], &other[i]);
		same &= !one[i].reads || one[i].before == other[i].before;
		same &= one[i].writes == other[i].writes;
		same &= !one[i].writes || one[i].after == other[i].after;
	}
	/* the last writer's value stays: with two writers it must be the same */
	if (same && one[0].writes && one[1].writes)
		same = same_bytes(&one[0], &one[1]) && one[0].after == one[1].after;
	*ret = same ? RACE_STATES_SAME : RACE_STATES_DIFFER;
	return NULL;
}
