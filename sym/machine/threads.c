/* sym/machine/threads.c - threads are created, joined, put to sleep and ended.
 * Which one runs is schedule.c, what they wait for is sync.c. */
#include "sym/machine/threads.h"

#include "unplait/effects.h"

#include <errno.h>
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
	thread_wake(m, m->s->current + 1ull);
	for (uint32_t i = 0; i < m->s->nthreads; i++)
		if (m->s->threads[i].status != TH_DONE)
			return STOP_THREAD;
	m->outcome = (struct sym_outcome){ .kind = SYM_EXIT, .code = 0 };
	return STOP_END;
}

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
		return thread_block(m, WAIT_JOIN, thread + 1ull);
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

static enum stop sleep_for(struct machine *m, uint64_t ns, struct val *ret)
{
	struct thread *t = current_thread(m);

	if (m->guide->points) { /* a sleeping thread may be the next to run */
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

/* The event that a call is before it has done anything; 0: none, or none that is a scheduling
 * point in a native run. */
static uint8_t point_of(enum builtin id)
{
	static const uint8_t events[BI_COUNT] = {
		[BI_THREAD_CREATE] = PLAIT_EV_FORK,
		[BI_THREAD_JOIN] = PLAIT_EV_JOIN,
		[BI_YIELD] = PLAIT_EV_YIELD,
		[BI_SLEEP] = PLAIT_EV_SLEEP,
		[BI_MUTEX_INIT] = PLAIT_EV_LOCK_INIT,
		[BI_MUTEX_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_MUTEX_LOCK] = PLAIT_EV_LOCK,
		[BI_MUTEX_TIMEDLOCK] = PLAIT_EV_LOCK,
		[BI_MUTEX_TRYLOCK] = PLAIT_EV_TRYLOCK,
		[BI_MUTEX_UNLOCK] = PLAIT_EV_UNLOCK,
		[BI_COND_INIT] = PLAIT_EV_LOCK_INIT,
		[BI_COND_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_COND_WAIT] = PLAIT_EV_WAIT,
		[BI_COND_TIMEDWAIT] = PLAIT_EV_WAIT,
		[BI_COND_SIGNAL] = PLAIT_EV_SIGNAL,
		[BI_COND_BROADCAST] = PLAIT_EV_BROADCAST,
		[BI_SEM_INIT] = PLAIT_EV_SEM_INIT,
		[BI_SEM_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_SEM_WAIT] = PLAIT_EV_SEM_WAIT,
		[BI_SEM_TIMEDWAIT] = PLAIT_EV_SEM_WAIT,
		[BI_SEM_TRYWAIT] = PLAIT_EV_SEM_TRYWAIT,
		[BI_SEM_POST] = PLAIT_EV_SEM_POST,
		[BI_BARRIER_INIT] = PLAIT_EV_LOCK_INIT,
		[BI_BARRIER_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_BARRIER_WAIT] = PLAIT_EV_BARRIER_WAIT,
		[BI_RWLOCK_INIT] = PLAIT_EV_LOCK_INIT,
		[BI_RWLOCK_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_RWLOCK_RDLOCK] = PLAIT_EV_RDLOCK,
		[BI_RWLOCK_WRLOCK] = PLAIT_EV_WRLOCK,
		[BI_RWLOCK_TRYRDLOCK] = PLAIT_EV_TRYRDLOCK,
		[BI_RWLOCK_TRYWRLOCK] = PLAIT_EV_TRYWRLOCK,
		[BI_RWLOCK_UNLOCK] = PLAIT_EV_RWUNLOCK,
		[BI_SPIN_INIT] = PLAIT_EV_LOCK_INIT,
		[BI_SPIN_DESTROY] = PLAIT_EV_LOCK_DESTROY,
		[BI_SPIN_LOCK] = PLAIT_EV_LOCK,
		[BI_SPIN_TRYLOCK] = PLAIT_EV_TRYLOCK,
		[BI_SPIN_UNLOCK] = PLAIT_EV_UNLOCK,
		[BI_ONCE_BEGIN] = PLAIT_EV_ONCE_BEGIN,
		[BI_ONCE_END] = PLAIT_EV_ONCE_END,
	};

	return plait_is_point(events[id]) ? events[id] : 0;
}

/* Which mutex, which condition variable: every object that the pointer may mean is followed. */
static enum stop decide_objects(struct machine *m, enum builtin id, struct val *a)
{
	enum stop st;

	if (id == BI_SELF || id == BI_THREAD_CREATE || id == BI_THREAD_JOIN ||
	    id == BI_THREAD_EXIT || id == BI_THREAD_DETACH || id == BI_YIELD || id == BI_SLEEP)
		return STOP_NONE;
	st = machine_decide(m, &a[0], 64, "the address of a synchronisation object");
	if (!st && (id == BI_COND_WAIT || id == BI_COND_TIMEDWAIT))
		st = machine_decide(m, &a[1], 64, "the address of a mutex");
	return st;
}

enum stop call_thread_builtin(struct machine *m, struct frame *f, const struct op *o, struct val *a,
			      uint32_t n, struct val *ret)
{
	struct thread *t = current_thread(m);
	enum builtin id = (enum builtin)o->b;
	enum stop st;

	(void)f;
	(void)n;
	st = decide_objects(m, id, a);
	if (st)
		return st;
	if (m->guide->points && point_of(id)) {
		st = machine_point(m, point_of(id), 0);
		if (st)
			return st;
	}
	if (t->phase == 0 && id != BI_SELF && schedule_preempts(m))
		return STOP_THREAD;
	if (t->phase == 0 && id != BI_SELF && m->config->preemptions && m->s->nthreads > 1) {
		st = schedule_explores(m);
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
		*ret = (struct val){ 0 };
		return STOP_NONE;
	case BI_YIELD:
		return sleep_for(m, 0, ret);
	case BI_SLEEP:
		return sleep_for(m, machine_concretise(m, a[0], 64, "a sleep"), ret);
	default:
		return call_sync_builtin(m, id, a, ret);
	}
}
