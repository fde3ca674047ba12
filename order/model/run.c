/* order/model/run.c - executing and undoing events; see run.h. */
#include "order/model/run.h"

enum {
	UNDO_MEM,
	UNDO_OWNER,
	UNDO_READERS,
	UNDO_WAITS,
	UNDO_BROADCAST,
	UNDO_SIGNAL_USED,
	UNDO_SIGNAL_NEW,
	UNDO_TOUCHED
};

void run_init(struct run *r, const struct problem *p)
{
	size_t nobj = p->nlocks + 1; /* locks and condition variables are numbered as objects */

	*r = (struct run){ .p = p };
	eval_init(&r->ev, &p->terms, p->nsymbols);
	r->pos = xcalloc(p->nt + 1, sizeof(*r->pos));
	r->mem = xcalloc(p->ncells + 1, sizeof(*r->mem));
	r->owner = xcalloc(nobj, sizeof(*r->owner));
	r->readers = xcalloc(nobj, sizeof(*r->readers));
	r->waits_since = xcalloc(p->nt + 1, sizeof(*r->waits_since));
	r->broadcast = xcalloc(nobj, sizeof(*r->broadcast));
	r->signals = xcalloc(nobj, sizeof(*r->signals));
	r->touched = xcalloc(p->ncells + 2 * nobj, sizeof(*r->touched));
	r->step_of = xcalloc(p->ne + 1, sizeof(*r->step_of));
	r->hashed = xcalloc(p->ncells + 1, 1);
	run_reset(r);
}

void run_deinit(struct run *r)
{
	eval_deinit(&r->ev);
	for (uint32_t i = 0; i < r->p->nlocks; i++)
		vec_deinit(&r->signals[i]);
	free(r->pos);
	free(r->mem);
	free(r->owner);
	free(r->readers);
	free(r->waits_since);
	free(r->broadcast);
	free(r->signals);
	free(r->touched);
	free(r->step_of);
	free(r->hashed);
	free(r->classes.first);
	free(r->classes.item);
	vec_deinit(&r->log);
	vec_deinit(&r->order);
}

void run_reset(struct run *r)
{
	const struct problem *p = r->p;

	eval_undo(&r->ev, 0);
	for (uint32_t i = 0; i < p->nsymbols; i++)
		if (p->reader[i] == NONE)
			eval_set(&r->ev, i, p->input[i]);
	memset(r->pos, 0, p->nt * sizeof(*r->pos));
	memcpy(r->mem, p->initial, p->ncells * sizeof(*r->mem));
	for (uint32_t t = 0; t < p->nt; t++)
		r->waits_since[t] = -1;
	for (uint32_t i = 0; i < p->nlocks; i++) {
		r->owner[i] = NONE;
		r->readers[i] = 0;
		r->broadcast[i] = -1;
		r->signals[i].len = 0;
	}
	for (uint32_t i = 0; i < p->ncells + 2 * p->nlocks; i++)
		r->touched[i] = NONE;
	r->log.len = r->order.len = 0;
	r->hash = 0;
	r->step = 0;
}

static void remember(struct run *r, uint8_t what, uint32_t index, uint32_t index2, uint64_t old)
{
	vec_push(&r->log, (struct run_undo){ what, index, index2, old });
}

static void touch(struct run *r, uint32_t key)
{
	if (r->touched[key] == r->step)
		return;
	remember(r, UNDO_TOUCHED, key, 0, r->touched[key]);
	r->touched[key] = r->step;
}

/* Two values of a cell that no condition can tell apart count as one. */
static uint64_t cell_hash(const struct run *r, uint32_t cell, uint64_t value)
{
	const struct lists *l = &r->classes;

	if (l->first && l->first[cell] < l->first[cell + 1]) {
		uint64_t class = 0;
		for (uint32_t i = l->first[cell]; i < l->first[cell + 1]; i++)
			class = 2 * class + unary_eval(r->p, l->item[i], value);
		value = class;
	}
	return hash_u64(((uint64_t)cell << 40) ^ value * UINT64_C(0x9E3779B97F4A7C15));
}

static uint64_t place_hash(uint32_t thread, uint32_t pos)
{
	return hash_u64(((uint64_t)(thread + 1) << 44) + pos);
}

static void store(struct run *r, uint32_t cell, uint64_t value)
{
	remember(r, UNDO_MEM, cell, 0, r->mem[cell]);
	if (r->hashed[cell])
		r->hash ^= cell_hash(r, cell, r->mem[cell]) ^ cell_hash(r, cell, value);
	r->mem[cell] = value;
	touch(r, cell);
}

static bool earlier_done(const struct run *r, uint32_t e)
{
	const struct problem *p = r->p;
	const int32_t *clock = p->clock + (size_t)e * p->nt;

	for (uint32_t t = 0; t < p->nt; t++)
		if (clock[t] > (int32_t)r->pos[t] && t != p->ev[e].thread)
			return false;
	return true;
}

/* Oldest unused signal after the wait: no other waiter could make better use of it. */
static int64_t *find_signal(struct run *r, uint32_t cond, uint32_t thread)
{
	struct signals *s = &r->signals[cond];
	int64_t *found = NULL;

	/* newest last; used ones are -1, so go back while they are used or new enough */
	for (size_t i = s->len; i-- > 0;) {
		if (s->data[i] < 0)
			continue;
		if (s->data[i] <= r->waits_since[thread])
			break;
		found = &s->data[i];
	}
	return found;
}

bool run_signalled(struct run *r, uint32_t e)
{
	const struct ev *v = &r->p->ev[e];

	return r->broadcast[v->cond] > r->waits_since[v->thread] ||
	       find_signal(r, v->cond, v->thread);
}

static enum run_result check_locks(struct run *r, const struct ev *v)
{
	if (v->opens != NONE) {
		const struct section *s = &r->p->sections.data[v->opens];
		if (r->owner[s->lock] != NONE || (!s->shared && r->readers[s->lock])) {
			r->blamed = s->lock;
			return RUN_LOCKED;
		}
	}
	if (v->cond_part == COND_WAKE && !run_signalled(r, (uint32_t)(v - r->p->ev))) {
		r->blamed = v->cond;
		return RUN_UNSIGNALLED;
	}
	return RUN_OK;
}

static void lock_part(struct run *r, const struct ev *v)
{
	uint32_t id = v->opens != NONE ? v->opens : v->closes;

	if (id == NONE)
		return;
	const struct section *s = &r->p->sections.data[id];
	if (s->shared) {
		remember(r, UNDO_READERS, s->lock, 0, r->readers[s->lock]);
		r->readers[s->lock] += v->opens != NONE ? 1 : UINT32_MAX;
	} else {
		remember(r, UNDO_OWNER, s->lock, 0, r->owner[s->lock]);
		r->owner[s->lock] = v->opens != NONE ? v->thread : NONE;
	}
	if (v->opens != NONE)
		touch(r, touch_lock(r, s->lock));
}

static void cond_part(struct run *r, const struct ev *v)
{
	int64_t now = (int64_t)r->order.len;

	if (v->cond_part == COND_NOTHING)
		return;
	touch(r, touch_cond(r, v->cond));
	switch (v->cond_part) {
	case COND_WAIT:
		remember(r, UNDO_WAITS, v->thread, 0, (uint64_t)r->waits_since[v->thread]);
		r->waits_since[v->thread] = now;
		break;
	case COND_WAKE:
		if (r->broadcast[v->cond] <= r->waits_since[v->thread]) {
			int64_t *s = find_signal(r, v->cond, v->thread);
			if (!s)
				break; /* forced */
			remember(r, UNDO_SIGNAL_USED, v->cond,
				 (uint32_t)(s - r->signals[v->cond].data), (uint64_t)*s);
			*s = -1;
		}
		break;
	case COND_SIGNAL:
		vec_push(&r->signals[v->cond], now);
		remember(r, UNDO_SIGNAL_NEW, v->cond, 0, 0);
		break;
	case COND_BROADCAST:
		remember(r, UNDO_BROADCAST, v->cond, 0, (uint64_t)r->broadcast[v->cond]);
		r->broadcast[v->cond] = now;
		break;
	}
}

/* Conditions that become known with this read. */
static bool conditions_hold(struct run *r, uint32_t e)
{
	const struct problem *p = r->p;
	uint64_t v;

	for (uint32_t i = p->checks.first[e]; i < p->checks.first[e + 1]; i++) {
		uint32_t c = p->checks.item[i];
		if (eval_get(&r->ev, p->conditions.data[c].term, &v) && !v) {
			r->blamed = c;
			return false;
		}
	}
	return true;
}

enum run_result run_event(struct run *r, uint32_t e)
{
	const struct problem *p = r->p;
	const struct ev *v = &p->ev[e];
	enum run_result res;

	if (!earlier_done(r, e))
		return RUN_EARLIER;
	res = check_locks(r, v);
	if (res != RUN_OK && r->force < 2)
		return res;
	if (v->symbol != NONE) {
		size_t mark = eval_mark(&r->ev);
		eval_set(&r->ev, v->symbol, r->mem[v->cell]);
		if (!conditions_hold(r, e) && !r->force) {
			eval_undo(&r->ev, mark);
			return RUN_CONDITION;
		}
	}
	if (v->value != TERM_NONE) {
		uint64_t value = 0;
		bool known = eval_get(&r->ev, v->value, &value);
		assert(known);
		(void)known;
		store(r, v->cell, value);
	}
	lock_part(r, v);
	cond_part(r, v);
	r->step_of[e] = r->step;
	r->hash ^= place_hash(v->thread, r->pos[v->thread]);
	r->pos[v->thread]++;
	r->hash ^= place_hash(v->thread, r->pos[v->thread]);
	vec_push(&r->order, e);
	return RUN_OK;
}

static void undo_one(struct run *r, const struct run_undo *u)
{
	switch (u->what) {
	case UNDO_MEM:
		r->mem[u->index] = u->old;
		break;
	case UNDO_OWNER:
		r->owner[u->index] = (uint32_t)u->old;
		break;
	case UNDO_READERS:
		r->readers[u->index] = (uint32_t)u->old;
		break;
	case UNDO_WAITS:
		r->waits_since[u->index] = (int64_t)u->old;
		break;
	case UNDO_BROADCAST:
		r->broadcast[u->index] = (int64_t)u->old;
		break;
	case UNDO_SIGNAL_USED:
		r->signals[u->index].data[u->index2] = (int64_t)u->old;
		break;
	case UNDO_SIGNAL_NEW:
		r->signals[u->index].len--;
		break;
	case UNDO_TOUCHED:
		r->touched[u->index] = (uint32_t)u->old;
		break;
	}
}

void run_undo(struct run *r, struct run_mark mark)
{
	while (r->log.len > mark.log) {
		struct run_undo u = vec_pop(&r->log);
		undo_one(r, &u);
	}
	while (r->order.len > mark.order)
		r->pos[r->p->ev[vec_pop(&r->order)].thread]--;
	eval_undo(&r->ev, mark.eval);
	r->hash = mark.hash;
}
