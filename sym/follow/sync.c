/* sym/follow/sync.c - synchronisation on a recorded path.
 * Each call becomes a step. A result that depended on the schedule (trylock, a timed wait, which
 * thread runs the once routine) is in the recording. */
#include "sym/follow/follow.h"

#include <errno.h>
#include <string.h>

static uint64_t address_of(struct machine *m, struct val v)
{
	return machine_concretise(m, v, 64, "the address of a synchronisation object");
}

static void emit_sync(struct machine *m, uint8_t event, uint64_t address, uint64_t address2,
		      int64_t result, uint64_t n)
{
	follow_emit(m, (struct sym_step){ .kind = SYM_STEP_SYNC,
					  .event = event,
					  .address = address,
					  .address2 = address2,
					  .result = result,
					  .n = n });
}

/* The recorded result of the call under way, 0 when none is recorded. */
static int64_t take_result(struct machine *m)
{
	struct follow_thread *t = follow_thread(m);
	int64_t r = t->has_result ? (int32_t)t->result : 0;

	t->has_result = false;
	return r;
}

static enum stop next_mark(struct machine *m, uint8_t kind, struct rec_mark **ret)
{
	struct follow_thread *t = follow_thread(m);
	struct rec_thread *r = t->rec;

	*ret = NULL;
	if (r->mark >= r->marks.len)
		return r->ended ? STOP_NONE
				: follow_halt(m, SYM_RECORDING_END,
					      "the recording of this thread ends here");
	if (r->marks.data[r->mark].kind == kind)
		*ret = &r->marks.data[r->mark];
	return *ret ? follow_yield(m, (*ret)->clock) : STOP_NONE;
}

static enum stop on_create(struct machine *m, const struct val *a, struct val *ret)
{
	struct follow *fo = follow_of(m);
	struct rec_mark *mark;
	uint32_t child = m->s->nthreads;
	enum stop st = next_mark(m, PLAIT_EV_FORK, &mark);

	if (st)
		return st;
	if (!mark || mark->other >= fo->r.nthreads) {
		*ret = (struct val){ EAGAIN, 0 };
		return STOP_NONE;
	}
	st = thread_create(m, a, ret);
	if (st)
		return st;
	vec_push(&fo->threads, ((struct follow_thread){ .rec = &fo->r.threads[mark->other],
							.index = mark->other }));
	assert(fo->threads.len == child + 1);
	follow_thread(m)->rec->mark++;
	follow_emit(m, (struct sym_step){ .kind = SYM_STEP_SYNC,
					  .event = PLAIT_EV_FORK,
					  .other = mark->other });
	return STOP_NONE;
}

static enum stop on_join(struct machine *m, const struct val *a, struct val *ret)
{
	struct follow *fo = follow_of(m);
	struct rec_mark *mark;
	uint32_t child = UINT32_MAX;
	enum stop st;

	/* the record may be younger than the end of the thread we wait for: no yield */
	struct rec_thread *r = follow_thread(m)->rec;

	if (r->mark >= r->marks.len) {
		if (!r->ended)
			return follow_halt(m, SYM_RECORDING_END,
					   "the recording of this thread ends here");
		*ret = (struct val){ ESRCH, 0 };
		return STOP_NONE;
	}
	mark = &r->marks.data[r->mark];
	for (uint32_t i = 0; mark->kind == PLAIT_EV_JOIN && i < fo->threads.len; i++)
		if (fo->threads.data[i].index == mark->other)
			child = i;
	if (child == UINT32_MAX) {
		*ret = (struct val){ ESRCH, 0 };
		return STOP_NONE;
	}
	st = thread_join(m, child,
			 (struct val){ machine_concretise(m, a[1], 64, "a result's address"), 0 });
	if (st)
		return st;
	follow_thread(m)->rec->mark++;
	*ret = (struct val){ 0 };
	follow_emit(m, (struct sym_step){ .kind = SYM_STEP_SYNC,
					  .event = PLAIT_EV_JOIN,
					  .other = mark->other });
	return STOP_NONE;
}

/* Who runs the routine is recorded as a mark; without marks, the first we come across. */
static enum stop on_once(struct machine *m, uint64_t at, struct val *ret)
{
	struct rec_thread *r = follow_thread(m)->rec;
	struct rec_mark *mark = r->mark < r->marks.len ? &r->marks.data[r->mark] : NULL;
	uint32_t state = 0;
	bool runs;
	enum stop st;

	if (mark && (mark->kind == PLAIT_EV_ONCE_BEGIN || mark->kind == PLAIT_EV_ONCE_PASS)) {
		st = follow_yield(m, mark->clock);
		if (st)
			return st;
		r->mark++;
		runs = mark->kind == PLAIT_EV_ONCE_BEGIN;
	} else {
		st = mem_bytes(m, at, 4, (uint8_t *)&state);
		if (st)
			return st;
		runs = !(state & 2);
	}
	state = 2; /* glibc's "done" */
	st = mem_write(m, at, &state, 4);
	if (st)
		return st;
	emit_sync(m, runs ? PLAIT_EV_ONCE_BEGIN : PLAIT_EV_ONCE_PASS, at, 0, 0, 0);
	*ret = (struct val){ runs, 0 };
	return STOP_NONE;
}

static enum stop on_wait(struct machine *m, const struct val *a, struct val *ret)
{
	uint64_t cond = address_of(m, a[0]), mutex = address_of(m, a[1]);
	int64_t r = take_result(m);

	emit_sync(m, PLAIT_EV_WAIT, cond, mutex, 0, 0);
	emit_sync(m, PLAIT_EV_WOKEN, cond, mutex, r, 0);
	*ret = (struct val){ (uint32_t)r, 0 };
	return STOP_NONE;
}

/* Remember how many threads a barrier takes, in its first word, as glibc's users never look. */
static enum stop on_barrier(struct machine *m, enum builtin id, const struct val *a,
			    struct val *ret)
{
	uint64_t at = address_of(m, a[0]);
	uint32_t n = 0;
	int64_t r;
	enum stop st;

	if (id == BI_BARRIER_INIT) {
		n = (uint32_t)machine_concretise(m, a[2], 32, "a barrier's count");
		st = mem_write(m, at, &n, 4);
		if (!st)
			emit_sync(m, PLAIT_EV_LOCK_INIT, at, 0, 0, n);
		return st;
	}
	r = take_result(m);
	st = mem_bytes(m, at, 4, (uint8_t *)&n);
	if (st)
		return st;
	emit_sync(m, PLAIT_EV_BARRIER_WAIT, at, 0, 0, n);
	emit_sync(m, PLAIT_EV_BARRIER_LEAVE, at, 0, r, 0);
	*ret = (struct val){ (uint32_t)r, 0 };
	return STOP_NONE;
}

/* Calls that are one step with a result; 0 = not one of those. */
static uint8_t simple_event(enum builtin id)
{
	switch (id) {
	case BI_MUTEX_LOCK:
	case BI_MUTEX_TIMEDLOCK:
	case BI_SPIN_LOCK:
		return PLAIT_EV_LOCK;
	case BI_MUTEX_TRYLOCK:
	case BI_SPIN_TRYLOCK:
		return PLAIT_EV_TRYLOCK;
	case BI_MUTEX_UNLOCK:
	case BI_SPIN_UNLOCK:
		return PLAIT_EV_UNLOCK;
	case BI_RWLOCK_RDLOCK:
		return PLAIT_EV_RDLOCK;
	case BI_RWLOCK_WRLOCK:
		return PLAIT_EV_WRLOCK;
	case BI_RWLOCK_TRYRDLOCK:
		return PLAIT_EV_TRYRDLOCK;
	case BI_RWLOCK_TRYWRLOCK:
		return PLAIT_EV_TRYWRLOCK;
	case BI_RWLOCK_UNLOCK:
		return PLAIT_EV_RWUNLOCK;
	case BI_COND_SIGNAL:
		return PLAIT_EV_SIGNAL;
	case BI_COND_BROADCAST:
		return PLAIT_EV_BROADCAST;
	case BI_SEM_POST:
		return PLAIT_EV_SEM_POST;
	case BI_SEM_WAIT:
	case BI_SEM_TIMEDWAIT:
		return PLAIT_EV_SEM_WAIT;
	case BI_SEM_TRYWAIT:
		return PLAIT_EV_SEM_TRYWAIT;
	default:
		return 0;
	}
}

static enum stop on_init(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	uint64_t at = address_of(m, a[0]);

	*ret = (struct val){ 0 };
	switch (id) {
	case BI_MUTEX_INIT:
		emit_sync(m, PLAIT_EV_LOCK_INIT, at, 0, 0, 0);
		break;
	case BI_RWLOCK_INIT:
		emit_sync(m, PLAIT_EV_LOCK_INIT, at, 0, 0, 1);
		break;
	case BI_SPIN_INIT:
		emit_sync(m, PLAIT_EV_LOCK_INIT, at, 0, 0, 2);
		break;
	case BI_COND_INIT:
		emit_sync(m, PLAIT_EV_LOCK_INIT, at, 0, 0, 3);
		break;
	case BI_SEM_INIT:
		emit_sync(m, PLAIT_EV_SEM_INIT, at, 0, 0,
			  machine_concretise(m, a[2], 32, "a semaphore's value"));
		break;
	default: /* destroy */
		emit_sync(m, PLAIT_EV_LOCK_DESTROY, at, 0, 0, 0);
	}
	return STOP_NONE;
}

/* A block is given back. What models of libc free for themselves nobody else has; operator delete is
 * a model, and its caller frees. */
static enum stop on_free(struct machine *m, struct val block)
{
	const struct function *f = current_thread(m)->top->f;
	uint64_t at = machine_concretise(m, block, 64, "a pointer to free");
	const struct object *o = mem_find(m, at);

	if (o && !(f->is_model && strncmp(f->name, "_Zd", 3) != 0))
		emit_sync(m, PLAIT_EV_FREE, at, 0, 0, o->size);
	return STOP_NONE;
}

enum stop follow_builtin(struct machine *m, enum builtin id, struct val *a, struct val *ret,
			 bool *done)
{
	uint8_t event = simple_event(id);
	int64_t r;

	*done = true;
	if (event) {
		r = take_result(m);
		emit_sync(m, event, address_of(m, a[0]), 0, r, 0);
		*ret = (struct val){ (uint32_t)r, 0 };
		return STOP_NONE;
	}
	switch (id) {
	case BI_THREAD_CREATE:
		return on_create(m, a, ret);
	case BI_THREAD_JOIN:
		return on_join(m, a, ret);
	case BI_COND_WAIT:
	case BI_COND_TIMEDWAIT:
		return on_wait(m, a, ret);
	case BI_BARRIER_INIT:
	case BI_BARRIER_WAIT:
		return on_barrier(m, id, a, ret);
	case BI_ONCE_BEGIN:
		return on_once(m, address_of(m, a[0]), ret);
	case BI_ONCE_END:
		emit_sync(m, PLAIT_EV_ONCE_END, address_of(m, a[0]), 0, 0, 0);
		return STOP_NONE;
	case BI_MUTEX_INIT:
	case BI_RWLOCK_INIT:
	case BI_SPIN_INIT:
	case BI_COND_INIT:
	case BI_SEM_INIT:
	case BI_MUTEX_DESTROY:
	case BI_RWLOCK_DESTROY:
	case BI_SPIN_DESTROY:
	case BI_COND_DESTROY:
	case BI_SEM_DESTROY:
	case BI_BARRIER_DESTROY:
		return on_init(m, id, a, ret);
	case BI_SEM_GETVALUE:
		follow_gap(m, "the value of a semaphore");
		return mem_store(m, a[1], 32, follow_symbol(m, 32, "sem_getvalue", NULL));
	case BI_FREE: /* its contents stay: another thread may have used it before */
		*ret = (struct val){ 0 };
		return on_free(m, a[0]);
	case BI_REALLOC:
		*done = false;
		return on_free(m, a[0]);
	case BI_OUTPUT:
	case BI_YIELD:
	case BI_SLEEP:
	case BI_THREAD_DETACH:
		*ret = (struct val){ 0 };
		return STOP_NONE;
	default:
		*done = false;
		return STOP_NONE;
	}
}
