/* sym/machine/threads.c - threads and what they synchronise with, modelled exactly: a call that would block
 * marks its thread and gives up the processor; when the object changes, the waiting threads run the
 * same call again. When nobody can run and nobody sleeps, that is a deadlock, and we know who waits
 * for what. The decisions themselves are those of sched/sync.c, on the same objects in the
 * program's memory that the runtime uses in a native run. */
#include "sched/sync.h"
#include "sym/machine/machine.h"
#include "unplait/effects.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void thread_make_tls(struct machine *m, struct thread *t)
{
	t->tls_first = 0;
	for (size_t i = 0; i < m->ir->globals.len; i++) {
		struct global *g = &m->ir->globals.data[i];
		struct object *o;

		if (!g->tls)
			continue;
		o = memory_new(&m->s->memory, OBJ_TLS, (uint32_t)g->size);
		o->name = g->name;
		if (g->init)
			memcpy(o->bytes, g->init, g->size);
		if (!t->tls_first)
			t->tls_first = o->id;
	}
}

enum stop push_call(struct machine *m, struct function *callee, const struct val *args,
		    uint32_t nargs, int32_t ret, uint8_t nret)
{
	struct thread *t = current_thread(m);
	struct frame *g;

	ir_lower(m->ir, callee);
	if (nargs < callee->nparams)
		return machine_fault(m, SYM_UNSUPPORTED,
				     "a call of %s with %u arguments instead of %u", callee->name,
				     nargs, callee->nparams);
	if (t->top && t->top->depth >= 100000)
		return machine_fault(m, SYM_STACK, "recursion deeper than %u calls", t->top->depth);
	g = frame_new(callee);
	for (uint32_t i = 0; i < callee->nparams; i++)
		set_reg(m, g, (int32_t)i, args[i]);
	if (callee->variadic)
		set_reg(m, g, (int32_t)callee->nparams, args[nargs - 1]);
	g->caller = t->top;
	g->depth = t->top ? t->top->depth + 1 : 1;
	g->ret = ret;
	g->nret = nret;
	t->top = g;
	return STOP_NONE;
}

/* --- who runs --- */

static void wake(struct machine *m, uint64_t address)
{
	for (uint32_t i = 0; i < m->s->nthreads; i++) {
		struct thread *t = &m->s->threads[i];

		if (t->status == TH_BLOCKED && t->wait_address == address &&
		    t->wait_kind != WAIT_COND)
			t->status = TH_RUNNABLE;
	}
}

static bool deadlock(struct machine *m)
{
	static const char *const what[] = { "a thread to end", "a mutex",   "a condition variable",
					    "a semaphore",     "a barrier", "a read-write lock",
					    "a once" };
	char text[256] = "", name[32], where[160];
	size_t len = 0;
	uint32_t saved = m->s->current;

	for (uint32_t i = 0; i < m->s->nthreads && len < sizeof(text); i++) {
		struct thread *t = &m->s->threads[i];
		struct frame *f = t->top;
		int n;

		if (t->status != TH_BLOCKED)
			continue;
		while (f && f->f->is_model && f->caller)
			f = f->caller;
		m->s->current = i;
		thread_name(m->s, i, name, sizeof(name));
		n = snprintf(text + len, sizeof(text) - len, "%sthread %s waits for %s at %s",
			     len ? "; " : "", name, what[t->wait_kind],
			     f ? ir_where(m->ir, f->f, f == t->top ? f->pc : f->pc - 1, where,
					  sizeof(where))
			       : "?");
		len += n > 0 ? (size_t)n : 0;
		saved = i;
	}
	m->s->current = saved;
	machine_fault(m, SYM_DEADLOCK, "%s", text);
	return false;
}

static uint64_t next_random(struct machine *m)
{
	m->rng = m->rng * 6364136223846793005ull + 1442695040888963407ull;
	return hash_u64(m->rng);
}

/* Nobody is runnable: let time pass until the first sleeper or time-out. */
static bool pass_time(struct machine *m)
{
	struct thread *first = NULL;

	for (uint32_t i = 0; i < m->s->nthreads; i++) {
		struct thread *t = &m->s->threads[i];

		if (t->status != TH_SLEEPING && !(t->status == TH_BLOCKED && t->timed))
			continue;
		if (!first || t->wake_time < first->wake_time)
			first = t;
	}
	if (!first)
		return false;
	if (m->s->clock < first->wake_time)
		m->s->clock = first->wake_time;
	first->timed_out = first->status == TH_BLOCKED;
	first->status = TH_RUNNABLE;
	return true;
}

bool schedule(struct machine *m)
{
	struct state *s = m->s;
	uint32_t ready = 0, pick;

	for (;;) {
		for (uint32_t i = 0; i < s->nthreads; i++)
			ready += s->threads[i].status == TH_RUNNABLE;
		if (ready)
			break;
		if (!pass_time(m))
			return deadlock(m);
	}
	pick = m->config->seed ? (uint32_t)(next_random(m) % ready) : 0;
	for (uint32_t k = 1; k <= s->nthreads; k++) {
		uint32_t i = (s->current + k) % s->nthreads;

		if (s->threads[i].status == TH_RUNNABLE && pick-- == 0) {
			s->current = i;
			return true;
		}
	}
	BUG("no thread to run");
}

/* A point where another thread may run first, when the schedule is random. */
/* Exploring schedules: every other thread that could run here does so in a fork. */
void fork_schedules(struct machine *m, bool preemption)
{
	struct state *s = m->s;
	uint32_t me = s->current;

	if (preemption && s->preemptions >= m->config->preemptions)
		return;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		struct state *c;

		if (i == me || s->threads[i].status != TH_RUNNABLE)
			continue;
		c = state_fork(s, m->next_state++);
		c->current = i;
		c->preemptions += preemption;
		m->stats.forks++;
		cache_clear(m);
		m->guide->forked(m, c);
	}
}

/* The forks share our frame: own it again and run the operation once more. */
static enum stop explore_point(struct machine *m)
{
	struct thread *t = current_thread(m);
	uint64_t forks = m->stats.forks;

	if (t->saved == UINT32_MAX) {
		t->saved = 0;
		return STOP_NONE;
	}
	t->saved = UINT32_MAX; /* in the forks, too */
	fork_schedules(m, true);
	if (m->stats.forks == forks) {
		t->saved = 0;
		return STOP_NONE;
	}
	frame_own(&t->top);
	return STOP_SWITCH;
}

enum stop machine_point(struct machine *m, uint8_t kind, uint32_t site)
{
	struct thread *t = current_thread(m);

	if (!m->stops)
		return STOP_NONE;
	if (m->pass) {
		m->pass = false;
		return STOP_NONE;
	}
	t->point = kind;
	t->point_site = site;
	return STOP_POINT;
}

/* The event that a call is before it has done anything; 0: none, or none that is a scheduling
 * point in a native run. */
static uint8_t point_of(enum builtin id)
{
	static const uint8_t events[BI_COUNT] = {
		[BI_THREAD_CREATE] = PLAIT_EV_FORK,
		[BI_THREAD_JOIN] = PLAIT_EV_JOIN,
		[BI_YIELD] = PLAIT_EV_YIELD,
		[BI_SLEEP] = PLAIT_EV_SLEEP,
		[BI_MUTEX_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_MUTEX_LOCK] = PLAIT_EV_LOCK,
		[BI_MUTEX_TIMEDLOCK] = PLAIT_EV_LOCK,
		[BI_MUTEX_TRYLOCK] = PLAIT_EV_TRYLOCK,
		[BI_MUTEX_UNLOCK] = PLAIT_EV_UNLOCK,
		[BI_COND_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_COND_WAIT] = PLAIT_EV_WAIT,
		[BI_COND_TIMEDWAIT] = PLAIT_EV_WAIT,
		[BI_COND_SIGNAL] = PLAIT_EV_SIGNAL,
		[BI_COND_BROADCAST] = PLAIT_EV_BROADCAST,
		[BI_SEM_WAIT] = PLAIT_EV_SEM_WAIT,
		[BI_SEM_TIMEDWAIT] = PLAIT_EV_SEM_WAIT,
		[BI_SEM_TRYWAIT] = PLAIT_EV_SEM_TRYWAIT,
		[BI_SEM_POST] = PLAIT_EV_SEM_POST,
		[BI_BARRIER_WAIT] = PLAIT_EV_BARRIER_WAIT,
		[BI_RWLOCK_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_RWLOCK_RDLOCK] = PLAIT_EV_RDLOCK,
		[BI_RWLOCK_WRLOCK] = PLAIT_EV_WRLOCK,
		[BI_RWLOCK_TRYRDLOCK] = PLAIT_EV_TRYRDLOCK,
		[BI_RWLOCK_TRYWRLOCK] = PLAIT_EV_TRYWRLOCK,
		[BI_RWLOCK_UNLOCK] = PLAIT_EV_RWUNLOCK,
		[BI_SPIN_LOCK] = PLAIT_EV_LOCK,
		[BI_SPIN_TRYLOCK] = PLAIT_EV_TRYLOCK,
		[BI_SPIN_UNLOCK] = PLAIT_EV_UNLOCK,
		[BI_ONCE_BEGIN] = PLAIT_EV_ONCE_BEGIN,
		[BI_ONCE_END] = PLAIT_EV_ONCE_END,
	};

	return plait_is_point(events[id]) ? events[id] : 0;
}

static bool preempted(struct machine *m)
{
	struct thread *t = current_thread(m);

	if (!m->config->seed || m->s->nthreads < 2)
		return false;
	if (t->saved == UINT32_MAX) { /* we already gave way at this call */
		t->saved = 0;
		return false;
	}
	if (next_random(m) % 4)
		return false;
	t->saved = UINT32_MAX;
	return true;
}

static enum stop block(struct machine *m, enum wait_kind kind, uint64_t address)
{
	struct thread *t = current_thread(m);

	t->status = TH_BLOCKED;
	t->wait_kind = (uint8_t)kind;
	t->wait_address = address;
	return STOP_THREAD;
}

enum stop thread_finish(struct machine *m, struct val result)
{
	struct thread *t = current_thread(m);
	struct frame *f = t->top;

	while (f) { /* pthread_exit may leave several */
		struct frame *own = frame_own(&f);

		mem_release_to(m, own, 0);
		f = own->caller;
		own->caller = NULL;
		frame_unref(own);
	}
	t->top = NULL;
	t->status = TH_DONE;
	t->result = result.c;
	t->result_x = result.x;
	wake(m, m->s->current + 1ull);
	for (uint32_t i = 0; i < m->s->nthreads; i++)
		if (m->s->threads[i].status != TH_DONE)
			return STOP_THREAD;
	m->outcome = (struct sym_outcome){ .kind = SYM_EXIT, .code = 0 };
	return STOP_END;
}

/* --- the calls --- */

enum stop thread_create(struct machine *m, const struct val *a, struct val *ret)
{
	struct state *s = m->s;
	uint64_t entry = machine_concretise(m, a[2], 64, "a thread's function");
	struct function *f = ir_function_at(m->ir, entry);
	uint32_t me = s->current, id = s->nthreads;
	struct val arg = a[3];
	uint64_t handle = id + 1ull;
	enum stop st;

	if (!f || f->declared_only)
		return machine_fault(m, SYM_UNSUPPORTED,
				     "a thread that starts in code without bitcode");
	if (m->guide->points && id >= MAX_EXPLORED_THREADS)
		return machine_fault(m, SYM_UNSUPPORTED, "more than %u threads",
				     MAX_EXPLORED_THREADS);
	st = mem_write(m, machine_concretise(m, a[0], 64, "a thread handle"), &handle, 8);
	if (st)
		return st;
	s->threads = xreallocarray(s->threads, s->nthreads + 1, sizeof(*s->threads));
	s->threads[id] = (struct thread){ .parent = me, .birth = ++s->threads[me].children };
	s->threads[id].fresh = true;
	m->stops = true;
	s->nthreads++;
	s->current = id;
	thread_make_tls(m, &s->threads[id]);
	st = push_call(m, f, &arg, 1, 0, 0);
	s->current = me;
	*ret = (struct val){ 0 };
	return st;
}

enum stop thread_join(struct machine *m, uint32_t thread, struct val out)
{
	struct thread *t = &m->s->threads[thread];

	if (t->status != TH_DONE)
		return block(m, WAIT_JOIN, thread + 1ull);
	t->joined = true;
	return out.c ? mem_store(m, out, 64, (struct val){ t->result, t->result_x }) : STOP_NONE;
}

static enum stop join(struct machine *m, const struct val *a, struct val *ret)
{
	uint64_t handle = machine_concretise(m, a[0], 64, "a thread handle");
	uint64_t out = machine_concretise(m, a[1], 64, "a result's address");

	if (handle == 0 || handle > m->s->nthreads || m->s->threads[handle - 1].detached) {
		*ret = (struct val){ ESRCH, 0 };
		return STOP_NONE;
	}
	if (handle == m->s->current + 1ull) {
		*ret = (struct val){ EDEADLK, 0 };
		return STOP_NONE;
	}
	*ret = (struct val){ 0 };
	return thread_join(m, (uint32_t)handle - 1, (struct val){ out, 0 });
}

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
		return block(m, WAIT_MUTEX, address_of(m, at));
	answer(ret, sync_mutex_lock(x, self(m)));
	return STOP_NONE;
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
		wake(m, address_of(m, a[1]));
		t->phase = 1;
		t->timed = timed;
		t->timed_out = false;
		if (timed)
			t->wake_time = deadline_of(m, a[2]);
		return block(m, WAIT_COND, address_of(m, a[0]));
	}
	t->timed = false;
	if (x->lock)
		return block(m, WAIT_MUTEX, address_of(m, a[1]));
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
		skip = (uint32_t)(next_random(m) % waiting);
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
			return block(m, WAIT_BARRIER, address_of(m, a[0]));
		}
		wake(m, address_of(m, a[0]));
		answer(ret, -1); /* PTHREAD_BARRIER_SERIAL_THREAD */
		return STOP_NONE;
	}
	if (!sync_barrier_passed(b, t->saved))
		return block(m, WAIT_BARRIER, address_of(m, a[0]));
	t->phase = 0;
	t->saved = 0;
	return STOP_NONE;
}

static enum stop sleep_for(struct machine *m, uint64_t ns, struct val *ret)
{
	struct thread *t = current_thread(m);

	if (m->guide->points) { /* whoever sleeps may be the next to run */
		m->s->clock += ns;
		*ret = (struct val){ 0 };
		return STOP_NONE;
	}
	if (t->phase == 0) {
		t->phase = 1;
		t->status = ns ? TH_SLEEPING : TH_RUNNABLE;
		t->wake_time = m->s->clock + ns;
		return STOP_THREAD;
	}
	t->phase = 0;
	*ret = (struct val){ 0 };
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
		wake(m, address_of(m, a[0]));
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
	return block(m, WAIT_SEM, address_of(m, a[0]));
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
		wake(m, at);
		return STOP_NONE;
	default:
		break;
	}
	if (!(l->writers && l->writer == (int32_t)self(m)))
		ready = writes ? sync_rwlock_write_ready(l)
			       : sync_rwlock_read_ready(l, writer_waits(m, at));
	if (!ready) {
		t->phase = writes ? 2 : 0;
		return block(m, WAIT_RWLOCK, at);
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
			return block(m, WAIT_MUTEX, address_of(m, a[0]));
		sync_spin_trylock(lock);
	} else if (id == BI_SPIN_UNLOCK) {
		sync_spin_unlock(lock);
		wake(m, address_of(m, a[0]));
	}
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
		wake(m, address_of(m, a[0]));
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

static enum stop once(struct machine *m, enum builtin id, const struct val *a, struct val *ret)
{
	enum stop st;
	int *control = object_at(m, a[0], 4, &st);

	if (st)
		return st;
	answer(ret, 0);
	if (id == BI_ONCE_END) {
		sync_once_done(control);
		wake(m, address_of(m, a[0]));
		return STOP_NONE;
	}
	if (!sync_once_ready(control))
		return block(m, WAIT_ONCE, address_of(m, a[0]));
	answer(ret, sync_once_begin(control));
	return STOP_NONE;
}

enum stop call_thread_builtin(struct machine *m, struct frame *f, const struct op *o, struct val *a,
			      uint32_t n, struct val *ret)
{
	struct thread *t = current_thread(m);
	enum builtin id = (enum builtin)o->b;
	enum stop st;

	(void)f;
	(void)n;
	if (m->guide->points && point_of(id)) {
		st = machine_point(m, point_of(id), 0);
		if (st)
			return st;
	}
	if (t->phase == 0 && id != BI_SELF && preempted(m))
		return STOP_THREAD;
	if (t->phase == 0 && id != BI_SELF && m->config->preemptions && m->s->nthreads > 1) {
		st = explore_point(m);
		if (st)
			return st;
	}
	switch (id) {
	case BI_SELF:
		*ret = (struct val){ m->s->current + 1ull, 0 };
		return STOP_NONE;
	case BI_THREAD_CREATE:
		return thread_create(m, a, ret);
	case BI_THREAD_JOIN:
		return join(m, a, ret);
	case BI_THREAD_EXIT:
		return thread_finish(m, a[0]);
	case BI_THREAD_DETACH:
		if (a[0].c && a[0].c <= m->s->nthreads)
			m->s->threads[a[0].c - 1].detached = true;
		answer(ret, 0);
		return STOP_NONE;
	case BI_YIELD:
		return sleep_for(m, 0, ret);
	case BI_SLEEP:
		return sleep_for(m, machine_concretise(m, a[0], 64, "a sleep"), ret);
	case BI_COND_INIT:
	case BI_COND_DESTROY:
		object_at(m, a[0], 48, &st);
		answer(ret, 0);
		return st;
	case BI_COND_WAIT:
		return cond_wait(m, a, false, ret);
	case BI_COND_TIMEDWAIT:
		return cond_wait(m, a, true, ret);
	case BI_COND_SIGNAL:
	case BI_COND_BROADCAST:
		object_at(m, a[0], 48, &st);
		if (st)
			return st;
		cond_signal(m, address_of(m, a[0]), id == BI_COND_BROADCAST);
		answer(ret, 0);
		return STOP_NONE;
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
