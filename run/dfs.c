/* run/dfs.c - see dfs.h.
 *
 * Sleep sets (Godefroid): after an alternative was explored at a choice, its thread is asleep in
 * the subtrees of the later alternatives until something dependent on its next step happens;
 * scheduling it before would only repeat an equivalent schedule. With a bound on preemptions they
 * would cut off schedules that are not covered elsewhere, so they are used only without one. */
#include "run/dfs.h"

#include "base/err.h"

static void node_deinit(struct dfs_node *n)
{
	for (size_t i = 0; i < n->options.len; i++)
		vec_deinit(&n->options.data[i].after);
	vec_deinit(&n->options);
	vec_deinit(&n->asleep);
	vec_deinit(&n->after);
}

void dfs_deinit(struct dfs *d)
{
	while (d->path.len)
		node_deinit(&d->path.data[--d->path.len]);
	vec_deinit(&d->path);
	vec_deinit(&d->decisions);
}

void dfs_request(const struct dfs *d, struct run_request *req)
{
	*req = (struct run_request){ .strategy = PLAIT_STRATEGY_DFS,
				     .points = PLAIT_POINTS_ALL,
				     .flags = PLAIT_CONTROL_LOG | PLAIT_CONTROL_PREFIX |
					      PLAIT_CONTROL_AGAIN | PLAIT_CONTROL_EAGER |
					      PLAIT_CONTROL_RACES,
				     .decisions = d->decisions.data,
				     .ndecisions = d->decisions.len };
}

/* Do the accesses of a at `object` and of b overlap? Words are compared: a lock has the size of one. */
static bool overlap(uint64_t object, uint32_t size, const struct plait_choice *b)
{
	uint64_t end = object + (size ? size - 1 : 0),
		 b_end = b->object + (b->size ? b->size - 1 : 0);

	return object / 8 <= b_end / 8 && b->object / 8 <= end / 8;
}

static bool is_wait(const struct plait_choice *c)
{
	return c->kind == PLAIT_EV_WAIT || c->kind == PLAIT_EV_WOKEN;
}

/* Does the order of the two matter? */
static bool dependent(const struct plait_choice *a, const struct plait_choice *b)
{
	if (a->thread == b->thread || (a->flags | b->flags) & PLAIT_CHOICE_ANYTHING)
		return true;
	/* the order of what is printed can be seen */
	if (a->kind == PLAIT_EV_OUTPUT && b->kind == PLAIT_EV_OUTPUT)
		return true;
	/* creating, ending, joining and leaving touch everything */
	if (!a->object || !b->object)
		return a->kind == PLAIT_EV_PROCESS_EXIT || b->kind == PLAIT_EV_PROCESS_EXIT;
	if (!((a->flags | b->flags) & PLAIT_CHOICE_WRITES))
		return false;
	/* a wait for a condition touches its mutex too, a use of a descriptor the state of all of them */
	return overlap(a->object, a->size, b) || (a->mutex && overlap(a->mutex, 0, b)) ||
	       (b->mutex && overlap(b->mutex, 0, a)) ||
	       (a->mutex && a->mutex == b->mutex && is_wait(a) && is_wait(b));
}

static bool is_asleep(const struct dfs_node *n, uint32_t thread)
{
	size_t i;

	for (i = 0; i < n->asleep.len; i++)
		if (n->asleep.data[i].thread == thread)
			return true;
	return false;
}

static bool wakes(const struct dfs_node *n, const struct plait_choice *sleeper)
{
	size_t i;

	if (dependent(sleeper, &n->options.data[n->chosen].op))
		return true;
	for (i = 0; i < n->after.len; i++)
		if (dependent(sleeper, &n->after.data[i]))
			return true;
	return false;
}

static bool is_thread_choice(const struct dfs_node *n)
{
	return !(n->options.data[0].op.flags & PLAIT_CHOICE_ALTERNATIVE);
}

/* The run itself went on with a thread that sleeps here: what follows repeats other schedules, but
 * the other options of this choice do not. */
static bool chose_sleeper(const struct dfs_node *n)
{
	return is_thread_choice(n) && is_asleep(n, n->options.data[n->chosen].op.thread);
}

/* Does the thread's whole step, of which these are operations, stay independent of what was done?
 */
static bool sleeps_on(const struct dfs_node *n, const struct dfs_ops *ops, uint32_t thread)
{
	for (size_t i = 0; i < ops->len; i++)
		if (ops->data[i].thread == thread && wakes(n, &ops->data[i]))
			return false;
	return true;
}

/* Who sleeps after `from`'s choice was executed. A step is more than the operation it was chosen
 * for: a thread that also released a lock is woken by a thread that wants it. */
static void inherit_sleep(const struct dfs_node *from, struct dfs_node *to)
{
	for (size_t i = 0; i < from->asleep.len; i++)
		if (sleeps_on(from, &from->asleep, from->asleep.data[i].thread))
			vec_push(&to->asleep, from->asleep.data[i]);
	for (size_t i = 0; is_thread_choice(from) && i < from->options.len; i++) {
		const struct dfs_option *o = &from->options.data[i];

		if (i == from->chosen || !o->tried || wakes(from, &o->op) ||
		    !sleeps_on(from, &o->after, o->op.thread))
			continue;
		vec_push(&to->asleep, o->op);
		for (size_t k = 0; k < o->after.len; k++)
			if (o->after.data[k].thread == o->op.thread)
				vec_push(&to->asleep, o->after.data[k]);
	}
}

static uint32_t cost(const struct dfs_node *n, size_t option)
{
	size_t i;

	if (n->options.data[option].op.flags & (PLAIT_CHOICE_RUNNING | PLAIT_CHOICE_ALTERNATIVE))
		return 0;
	for (i = 0; i < n->options.len; i++)
		if (n->options.data[i].op.flags & PLAIT_CHOICE_RUNNING)
			return 1;
	return 0;
}

/* One group of the log: the chosen option first, then the others. */
static size_t read_group(const struct run_result *r, size_t at, struct dfs_node *n)
{
	size_t i = at;

	do {
		vec_push(&n->options, ((struct dfs_option){ .op = r->choices[i] }));
		i++;
	} while (i < r->nchoices &&
		 !(r->choices[i].flags & (PLAIT_CHOICE_CHOSEN | PLAIT_CHOICE_EXECUTED)));
	n->options.data[0].tried = true;
	while (i < r->nchoices && (r->choices[i].flags & PLAIT_CHOICE_EXECUTED))
		vec_push(&n->after, r->choices[i++]);
	return i;
}

/* Count the decisions that came before this choice, and step over its own. */
static size_t decisions_before(const struct run_result *r, const struct plait_choice *chosen,
			       size_t *next)
{
	const struct decisions *d = &r->schedule.decisions;
	size_t before;

	while (*next < d->len && d->data[*next].step < chosen->step)
		++*next;
	before = *next;
	if (*next < d->len && d->data[*next].step == chosen->step &&
	    d->data[*next].value == chosen->thread)
		++*next;
	return before;
}

static struct err *extend(struct dfs *d, const struct run_result *r)
{
	size_t at = 0, depth = 0, next = 0;

	while (at < r->nchoices && (r->choices[at].flags & PLAIT_CHOICE_EXECUTED))
		at++;
	while (at < r->nchoices) {
		struct dfs_node n = { 0 };

		at = read_group(r, at, &n);
		n.ndecisions = decisions_before(r, &n.options.data[0].op, &next);
		if (depth < d->path.len) {
			const struct dfs_node *old = &d->path.data[depth];
			const struct plait_choice *o = &old->options.data[old->chosen].op;
			bool same = o->step == n.options.data[0].op.step &&
				    o->thread == n.options.data[0].op.thread;

			/* what follows the choice is new when the choice is */
			vec_deinit(&d->path.data[depth].after);
			d->path.data[depth].after.data = n.after.data;
			d->path.data[depth].after.len = n.after.len;
			d->path.data[depth].after.cap = n.after.cap;
			memset(&n.after, 0, sizeof(n.after));
			node_deinit(&n);
			if (!same)
				return err_new(
					ERR_INCONCLUSIVE,
					"the target is not deterministic: choice %zu differs",
					depth);
		} else {
			if (d->path.len) {
				const struct dfs_node *up = vec_last(&d->path);

				n.preemptions = up->preemptions + cost(up, up->chosen);
				n.redundant = up->redundant || chose_sleeper(up);
				if (d->bound == PLAIT_ANY)
					inherit_sleep(up, &n);
			}
			vec_push(&d->path, n);
		}
		depth++;
	}
	return NULL;
}

static bool next_option(struct dfs *d, struct dfs_node *n, size_t *ret)
{
	size_t i;

	for (i = 0; !n->redundant && i < n->options.len; i++) {
		const struct dfs_option *o = &n->options.data[i];

		if (o->tried || (is_thread_choice(n) && is_asleep(n, o->op.thread)))
			continue;
		if (d->bound != PLAIT_ANY && n->preemptions + cost(n, i) > d->bound)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

struct err *dfs_advance(struct dfs *d, const struct run_result *r, bool *more)
{
	struct err *err = extend(d, r);
	size_t i, next;

	if (err)
		return err;
	for (; d->path.len; node_deinit(&d->path.data[--d->path.len])) {
		struct dfs_node *n = vec_last(&d->path);
		const struct plait_choice *op;

		if (!next_option(d, n, &next))
			continue;
		vec_deinit(&n->options.data[n->chosen].after);
		n->options.data[n->chosen].after = n->after;
		n->after = (struct dfs_ops){ 0 };
		n->chosen = next;
		n->options.data[n->chosen].tried = true;
		op = &n->options.data[n->chosen].op;
		vec_clear(&d->decisions);
		for (i = 0; i < n->ndecisions; i++)
			vec_push(&d->decisions, r->schedule.decisions.data[i]);
		vec_push(&d->decisions,
			 (struct decision){ .step = op->step,
					    .kind = op->flags & PLAIT_CHOICE_ALTERNATIVE
							    ? DECISION_CHOICE
							    : DECISION_SWITCH,
					    .value = op->thread });
		*more = true;
		return NULL;
	}
	*more = false;
	return NULL;
}
