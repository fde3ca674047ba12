/* sym/machine/schedule.c - which thread runs next.
 *
 * A thread runs until it must wait, unless the configuration asks for more: with a seed, another
 * thread may go first at any synchronisation call (schedule_preempts); with a number of
 * preemptions, every other thread goes first in a fork of the state (schedule_explores); a guide
 * that explores schedules gets control back at each scheduling point (machine_point). When nobody
 * can run and nobody sleeps, that is a deadlock, and we know who waits for what. */
#include "sym/machine/threads.h"

#include "base/err.h"
#include "base/map.h"

#include <stdio.h>

void thread_wake(struct machine *m, uint64_t address)
{
	for (uint32_t i = 0; i < m->s->nthreads; i++) {
		struct thread *t = &m->s->threads[i];

		if (t->status == TH_BLOCKED && t->wait_address == address &&
		    t->wait_kind != WAIT_COND)
			t->status = TH_RUNNABLE;
	}
}

enum stop thread_block(struct machine *m, enum wait_kind kind, uint64_t address)
{
	struct thread *t = current_thread(m);

	t->status = TH_BLOCKED;
	t->wait_kind = (uint8_t)kind;
	t->wait_address = address;
	return STOP_THREAD;
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

uint64_t schedule_random(struct machine *m)
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
	pick = m->config->seed ? (uint32_t)(schedule_random(m) % ready) : 0;
	for (uint32_t k = 1; k <= s->nthreads; k++) {
		uint32_t i = (s->current + k) % s->nthreads;

		if (s->threads[i].status == TH_RUNNABLE && pick-- == 0) {
			s->current = i;
			return true;
		}
	}
	BUG("no thread to run");
}

/* With a random schedule: may another thread run first? */
bool schedule_preempts(struct machine *m)
{
	struct thread *t = current_thread(m);

	if (!m->config->seed || m->s->nthreads < 2)
		return false;
	if (t->saved == UINT32_MAX) { /* we already gave way at this call */
		t->saved = 0;
		return false;
	}
	if (schedule_random(m) % 4)
		return false;
	t->saved = UINT32_MAX;
	return true;
}

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
enum stop schedule_explores(struct machine *m)
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
