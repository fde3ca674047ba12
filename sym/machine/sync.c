/* sym/machine/sync.c - mutexes, condition variables, semaphores, barriers, read-write and spin
 * locks, once. A call that would block marks its thread and gives up the processor; when the object
 * changes, the waiting threads run the same call again. The decisions are those of sched/sync.c, on
 * the same objects in the program's memory that the runtime uses in a native run. */
#include "sym/machine/threads.h"

#include "sched/sync.h"

#include <errno.h>

static uint32_t self(struct machine *m)
{
	return m->s->current + 1;
}

/* The synchronisation object at this address, in the program's own memory, ours to change. */
static void *object_at(struct machine *m, struct val address, uint32_t size, enum stop *st)
{
	uint64_t at = machine_concretise(m, address, 64, "the address of a synchronisation object");
	struct object *o;
	uint32_t off;

	*st = mem_resolve(m, at, size, true, &o, &off);
	if (*st)
		return NULL;
	o = memory_own(&m->s->memory, o->id);
	cache_clear(m);
	for (uint32_t i = 0; o->sym && i < size; i++)
		o->sym[off + i] = 0;
	return o->bytes + off;
}

static uint64_t address_of(struct machine *m, struct val v)
{
	return machine_concretise(m, v, 64, "the address of a synchronisation object");
}

static uint64_t deadline_of(struct machine *m, struct val at)
{
	uint64_t when[2] = { 0, 0 };

	if (mem_bytes(m, machine_concretise(m, at, 64, "a time-out"), 16, (uint8_t *)when))
		return m->s->clock;
	return when[0] * 1000000000ull + when[1];
}

static void answer(struct val *ret, int r)
{
	*ret = (struct val){ (uint32_t)r, 0 };
}

static enum stop lock_mutex(struct machine *m, struct val at, struct val *ret)
{
	enum stop st;
	struct sync_mutex *x = object_at(m, at, 40, &st);

	if (st)
		return st;
	if (!sync_mutex_ready(x, self(m)))
		return thread_block(m, WAIT_MUTEX, address_of(m, at));
	answer(ret, sync_mutex_lock(x, self(m)));
	return STOP_NONE;
}

static enum stop mutex(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	struct thread *t = current_thread(m);
	enum stop st;
	struct sync_mutex *x = object_at(m, a[0], 40, &st);

	if (st)
		return st;
	switch (id) {
	case BI_MUTEX_INIT:
		*x = (struct sync_mutex){ .kind = (int32_t)machine_concretise(m, a[1], 32,
									      "a mutex kind") };
		answer(ret, 0);
		return STOP_NONE;
	case BI_MUTEX_DESTROY:
		answer(ret, sync_mutex_destroy(x));
		return STOP_NONE;
	case BI_MUTEX_TRYLOCK:
		answer(ret, sync_mutex_trylock(x, self(m)));
		return STOP_NONE;
	case BI_MUTEX_UNLOCK:
		answer(ret, sync_mutex_unlock(x, self(m)));
		thread_wake(m, address_of(m, a[0]));
		return STOP_NONE;
	case BI_MUTEX_TIMEDLOCK:
		if (t->timed_out) {
			t->timed = t->timed_out = false;
			answer(ret, ETIMEDOUT);
			return STOP_NONE;
		}
		if (!t->timed) {
			t->timed = true;
			t->wake_time = deadline_of(m, a[1]);
		}
		st = lock_mutex(m, a[0], ret);
		if (!st)
			t->timed = false;
		return st;
	default:
		return lock_mutex(m, a[0], ret);
	}
}

/* Two steps: give up the mutex and wait; after a signal, take the mutex again. */
static enum stop cond_wait(struct machine *m, const struct val *a, bool timed, struct val *ret)
{
	struct thread *t = current_thread(m);
	struct sync_mutex *x;
	enum stop st;

	object_at(m, a[0], 48, &st);
	if (st)
		return st;
	x = object_at(m, a[1], 40, &st);
	if (st)
		return st;
	if (t->phase == 0) {
		if (x->owner != (int32_t)self(m) &&
		    (x->kind & SYNC_MUTEX_TYPE) != SYNC_MUTEX_NORMAL) {
			answer(ret, EPERM);
			return STOP_NONE;
		}
		t->saved = sync_mutex_release_all(x);
		thread_wake(m, address_of(m, a[1]));
		t->phase = 1;
		t->timed = timed;
		t->timed_out = false;
		if (timed)
			t->wake_time = deadline_of(m, a[2]);
		return thread_block(m, WAIT_COND, address_of(m, a[0]));
	}
	t->timed = false;
	if (x->lock)
		return thread_block(m, WAIT_MUTEX, address_of(m, a[1]));
	sync_mutex_restore(x, self(m), t->saved);
	t->phase = 0;
	t->saved = 0;
	answer(ret, t->timed_out ? ETIMEDOUT : 0);
	t->timed_out = false;
	return STOP_NONE;
}

static void cond_signal(struct machine *m, uint64_t cond, bool all)
{
	uint32_t n = m->s->nthreads, skip = 0, waiting = 0;

	for (uint32_t i = 0; i < n; i++)
		waiting += m->s->threads[i].status == TH_BLOCKED &&
			   m->s->threads[i].wait_kind == WAIT_COND &&
			   m->s->threads[i].wait_address == cond;
	if (!all && waiting && m->config->seed)
		skip = (uint32_t)(schedule_random(m) % waiting);
	if (!all && m->guide->points) {
		skip = m->choice;
		m->nchoices = waiting;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct thread *t = &m->s->threads[i];

		if (t->status != TH_BLOCKED || t->wait_kind != WAIT_COND || t->wait_address != cond)
			continue;
		if (!all && skip-- > 0)
			continue;
		t->status = TH_RUNNABLE;
		t->timed = false;
		if (!all)
			return;
	}
}

static enum stop cond(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	enum stop st;

	if (id == BI_COND_WAIT || id == BI_COND_TIMEDWAIT)
		return cond_wait(m, a, id == BI_COND_TIMEDWAIT, ret);
	object_at(m, a[0], 48, &st);
	if (st)
		return st;
	if (id == BI_COND_SIGNAL || id == BI_COND_BROADCAST)
		cond_signal(m, address_of(m, a[0]), id == BI_COND_BROADCAST);
	answer(ret, 0);
	return STOP_NONE;
}

static enum stop barrier(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	struct thread *t = current_thread(m);
	enum stop st;
	struct sync_barrier *b = object_at(m, a[0], 32, &st);

	if (st)
		return st;
	answer(ret, 0);
	if (id == BI_BARRIER_INIT) {
		uint32_t count = (uint32_t)machine_concretise(m, a[2], 32, "a barrier's count");

		*b = (struct sync_barrier){ .count = count };
		answer(ret, count ? 0 : EINVAL);
		return STOP_NONE;
	}
	if (id == BI_BARRIER_DESTROY)
		return STOP_NONE;
	if (t->phase == 0) {
		uint32_t round;

		if (!sync_barrier_arrive(b, &round)) {
			t->phase = 1;
			t->saved = round;
			return thread_block(m, WAIT_BARRIER, address_of(m, a[0]));
		}
		thread_wake(m, address_of(m, a[0]));
		answer(ret, -1); /* PTHREAD_BARRIER_SERIAL_THREAD */
		return STOP_NONE;
	}
	if (!sync_barrier_passed(b, t->saved))
		return thread_block(m, WAIT_BARRIER, address_of(m, a[0]));
	t->phase = 0;
	t->saved = 0;
	return STOP_NONE;
}

/* The semaphore functions return -1 with errno set; the models' wrappers do the latter. */
static enum stop semaphore(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	struct thread *t = current_thread(m);
	enum stop st;
	struct sync_sem *s = object_at(m, a[0], 32, &st);
	uint32_t value;

	if (st)
		return st;
	answer(ret, 0);
	switch (id) {
	case BI_SEM_INIT:
		*s = (struct sync_sem){ .value = (uint32_t)machine_concretise(
						m, a[2], 32, "a semaphore's value") };
		return STOP_NONE;
	case BI_SEM_POST:
		answer(ret, sync_sem_post(s) ? -1 : 0);
		thread_wake(m, address_of(m, a[0]));
		return STOP_NONE;
	case BI_SEM_GETVALUE:
		value = s->value;
		return mem_write(m, address_of(m, a[1]), &value, 4);
	case BI_SEM_TRYWAIT:
		answer(ret, sync_sem_trywait(s) ? -1 : 0);
		return STOP_NONE;
	case BI_SEM_DESTROY:
		return STOP_NONE;
	default:
		break;
	}
	if (sync_sem_ready(s)) {
		t->timed = t->timed_out = false;
		sync_sem_trywait(s);
		return STOP_NONE;
	}
	if (t->timed_out) {
		t->timed = t->timed_out = false;
		answer(ret, -1);
		return STOP_NONE;
	}
	if (id == BI_SEM_TIMEDWAIT && !t->timed) {
		t->timed = true;
		t->wake_time = deadline_of(m, a[1]);
	}
	return thread_block(m, WAIT_SEM, address_of(m, a[0]));
}

static bool writer_waits(struct machine *m, uint64_t at)
{
	for (uint32_t i = 0; i < m->s->nthreads; i++) {
		struct thread *t = &m->s->threads[i];

		if (t->status == TH_BLOCKED && t->wait_kind == WAIT_RWLOCK &&
		    t->wait_address == at && t->phase == 2)
			return true;
	}
	return false;
}

static enum stop rwlock(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	struct thread *t = current_thread(m);
	uint64_t at = address_of(m, a[0]);
	enum stop st;
	struct sync_rwlock *l = object_at(m, a[0], 56, &st);
	bool ready = true, writes = id == BI_RWLOCK_WRLOCK;

	if (st)
		return st;
	switch (id) {
	case BI_RWLOCK_INIT:
		*l = (struct sync_rwlock){ 0 };
		answer(ret, 0);
		return STOP_NONE;
	case BI_RWLOCK_DESTROY:
		answer(ret, 0);
		return STOP_NONE;
	case BI_RWLOCK_TRYRDLOCK:
		answer(ret, sync_rwlock_rdlock(l, self(m)) ? EBUSY : 0);
		return STOP_NONE;
	case BI_RWLOCK_TRYWRLOCK:
		answer(ret, sync_rwlock_wrlock(l, self(m)) ? EBUSY : 0);
		return STOP_NONE;
	case BI_RWLOCK_UNLOCK:
		answer(ret, sync_rwlock_unlock(l, self(m)));
		thread_wake(m, at);
		return STOP_NONE;
	default:
		break;
	}
	if (!(l->writers && l->writer == (int32_t)self(m)))
		ready = writes ? sync_rwlock_write_ready(l)
			       : sync_rwlock_read_ready(l, writer_waits(m, at));
	if (!ready) {
		t->phase = writes ? 2 : 0;
		return thread_block(m, WAIT_RWLOCK, at);
	}
	t->phase = 0;
	answer(ret, writes ? sync_rwlock_wrlock(l, self(m)) : sync_rwlock_rdlock(l, self(m)));
	return STOP_NONE;
}

static enum stop spin(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	enum stop st;
	int *lock = object_at(m, a[0], 4, &st);

	if (st)
		return st;
	answer(ret, 0);
	if (id == BI_SPIN_INIT) {
		*lock = 1;
	} else if (id == BI_SPIN_TRYLOCK) {
		answer(ret, sync_spin_trylock(lock));
	} else if (id == BI_SPIN_LOCK) {
		if (!sync_spin_ready(lock)) /* waiting for one is waiting */
			return thread_block(m, WAIT_MUTEX, address_of(m, a[0]));
		sync_spin_trylock(lock);
	} else if (id == BI_SPIN_UNLOCK) {
		sync_spin_unlock(lock);
		thread_wake(m, address_of(m, a[0]));
	}
	return STOP_NONE;
}

static enum stop once(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	enum stop st;
	int *control = object_at(m, a[0], 4, &st);

	if (st)
		return st;
	answer(ret, 0);
	if (id == BI_ONCE_END) {
		sync_once_done(control);
		thread_wake(m, address_of(m, a[0]));
		return STOP_NONE;
	}
	if (!sync_once_ready(control))
		return thread_block(m, WAIT_ONCE, address_of(m, a[0]));
	answer(ret, sync_once_begin(control));
	return STOP_NONE;
}

enum stop call_sync_builtin(struct machine *m, enum builtin id, const struct val *a,
			    struct val *ret)
{
	switch (id) {
	case BI_COND_INIT:
	case BI_COND_DESTROY:
	case BI_COND_WAIT:
	case BI_COND_TIMEDWAIT:
	case BI_COND_SIGNAL:
	case BI_COND_BROADCAST:
		return cond(m, id, a, ret);
	case BI_BARRIER_INIT:
	case BI_BARRIER_DESTROY:
	case BI_BARRIER_WAIT:
		return barrier(m, id, a, ret);
	case BI_ONCE_BEGIN:
	case BI_ONCE_END:
		return once(m, id, a, ret);
	default:
		if (id >= BI_MUTEX_INIT && id <= BI_MUTEX_UNLOCK)
			return mutex(m, id, a, ret);
		if (id >= BI_SEM_INIT && id <= BI_SEM_GETVALUE)
			return semaphore(m, id, a, ret);
		if (id >= BI_RWLOCK_INIT && id <= BI_RWLOCK_UNLOCK)
			return rwlock(m, id, a, ret);
		return spin(m, id, a, ret);
	}
}
