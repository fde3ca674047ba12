/* rewind/together.c - see together.h.
 *
 * One process is enough: a thread is a set of registers, and the process gets those of the thread whose turn it
 * is. Shared memory begins as it was before the threads. Each thread takes single steps up to its next
 * event in the order that was found; calls that were not entered are left out, with the result that the
 * order engine chose. At the end every known byte of the shared memory must be as the dump (or the walk back
 * of the first thread) says, each thread must be where the dump has it, and a thread that failed must
 * fail with the same signal. */
#include "rewind/together.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/rewind.h"
#include "rewind/trie.h"
#include "run/revive.h"

#include <stdlib.h>
#include <string.h>

enum { AREA = 1 << 14 };

struct context {
	struct user_regs_struct regs;
	uint8_t *vectors;
	uint32_t done; /* instructions */
	size_t calls;  /* of its track that are over */
};

struct stage {
	struct rewind *r;
	struct threads *t;
	struct revived *process;
	struct context *contexts; /* per mate */
	size_t current;		  /* whose registers the process has; SIZE_MAX = nobody's */
	size_t vectors_len;
	uint64_t *values; /* by symbol number */
	uint32_t nvalues;
	const char *why;
};

static uint64_t value_of(struct stage *s, expr_id e)
{
	struct exprs *x = &s->r->h.exprs;

	expr_eval_begin(x);
	return expr_eval(x, e, s->values, s->nvalues);
}

static void find_values(struct stage *s)
{
	const struct weave *w = &s->t->weave;

	s->nvalues = (uint32_t)s->r->h.exprs.symbols.len;
	s->values = xcalloc(s->nvalues + 1u, sizeof(*s->values));
	for (size_t i = 0; i < w->symbols.len; i++)
		if (w->symbols.entries[i].key < s->nvalues)
			s->values[w->symbols.entries[i].key] =
				term_eval(&w->m->terms, (term_id)w->symbols.entries[i].value,
					  w->answer.values);
}

/* ---- turns ---- */

static void take_off(struct stage *s)
{
	struct context *c;
	size_t len;

	if (s->current == SIZE_MAX)
		return;
	c = &s->contexts[s->current];
	if (!revived_registers(s->process, &c->regs) ||
	    !revived_extended(s->process, c->vectors, AREA, &len))
		s->why = "the process is gone";
	s->current = SIZE_MAX;
}

static void put_on(struct stage *s, size_t n)
{
	if (s->current == n)
		return;
	take_off(s);
	if (!revived_set_registers(s->process, &s->contexts[n].regs) ||
	    !revived_set_extended(s->process, s->contexts[n].vectors, s->vectors_len))
		s->why = "the registers cannot be set";
	s->current = n;
}

/* What a call that is not run wrote, memcpy for instance. */
static void write_for_call(struct stage *s, const struct track *t, uint32_t step)
{
	for (size_t i = 0; i < t->events.len; i++) {
		const struct ahead_event *e = &t->events.data[i];
		uint64_t v;

		if (e->step != step || e->kind != AHEAD_WRITE || e->future ||
		    (e->guard && !value_of(s, e->guard)))
			continue;
		v = value_of(s, e->value);
		if (!revived_write(s->process, e->address, &v, e->w / 8))
			s->why = "shared memory is not there";
	}
}

static void leave_out_call(struct stage *s, size_t n, const struct ahead_call *call)
{
	const struct track *t = s->t->chosen[n];
	struct user_regs_struct g;

	write_for_call(s, t, call->step);
	if (!revived_registers(s->process, &g)) {
		s->why = "the process is gone";
		return;
	}
	g.rax = value_of(s, call->result);
	g.rsp = value_of(s, call->sp);
	g.rip = call->back;
	if (!revived_set_registers(s->process, &g))
		s->why = "the registers cannot be set";
}

static void step_thread(struct stage *s, size_t n)
{
	const struct track *t = s->t->chosen[n];
	struct context *c = &s->contexts[n];
	struct user_regs_struct g;
	int signal;

	put_on(s, n);
	if (!revived_registers(s->process, &g) || g.rip != t->path.data[c->done])
		s->why = "a thread leaves its way";
	else if (c->calls < t->calls.len && t->calls.data[c->calls].step == c->done)
		leave_out_call(s, n, &t->calls.data[c->calls++]);
	else if (revived_step(s->process, &signal) != REVIVED_STEPPED)
		s->why = "a thread stops on its way";
	c->done++;
}

static void run_upto(struct stage *s, size_t n, uint32_t steps)
{
	while (!s->why && s->contexts[n].done < MIN(steps, (uint32_t)s->t->chosen[n]->path.len))
		step_thread(s, n);
}

/* ---- beginning and end ---- */

static void write_own(uint64_t key, uint64_t cell, void *arg)
{
	const expr_id *bytes = (const expr_id *)(uintptr_t)cell;
	struct stage *s = arg;
	const struct mate *m = vec_last(&s->t->mates);

	for (unsigned i = 0; i < 8; i++) {
		uint64_t at = key * 8 + i;
		uint8_t v;

		if (!bytes[i] || at < m->stack_low || at >= m->stack_high ||
		    map_find(&s->r->h.shared, at))
			continue;
		v = (uint8_t)value_of(s, past_simplify(&s->r->h, s->t->knows, bytes[i]));
		if (!revived_write(s->process, at, &v, 1))
			s->why = "the first thread's stack is not there";
	}
}

/* The first thread goes on in the midst of its run. */
static void set_first(struct stage *s, const struct mate *m, struct context *c)
{
	const expr_id *start = s->t->chosen[m - s->t->mates.data]->start;
	unsigned long long *const general[16] = {
		&c->regs.rax, &c->regs.rcx, &c->regs.rdx, &c->regs.rbx, &c->regs.rsp, &c->regs.rbp,
		&c->regs.rsi, &c->regs.rdi, &c->regs.r8,  &c->regs.r9,	&c->regs.r10, &c->regs.r11,
		&c->regs.r12, &c->regs.r13, &c->regs.r14, &c->regs.r15
	};

	for (unsigned i = 0; i < 16; i++)
		*general[i] = value_of(s, start[i]);
	c->regs.rip = m->from->pc;
	c->regs.eflags = 0x202;
	c->regs.fs_base = m->self;
	trie_each(m->from->memory, write_own, s);
}

static void set_beginning(struct stage *s)
{
	const struct weave *w = &s->t->weave;
	struct history *h = &s->r->h;

	for (size_t i = 0; i < w->units.len; i++) {
		const struct unit *u = &w->units.data[i];
		uint64_t v = value_of(
			s, past_simplify(h, s->t->knows,
					 past_load(h, s->t->begin, u->address, 8u * u->bytes)));

		if (!revived_write(s->process, u->address, &v, u->bytes))
			s->why = "shared memory is not there";
	}
	for (size_t n = 0; n < s->t->mates.len; n++) {
		const struct mate *m = &s->t->mates.data[n];
		struct context *c = &s->contexts[n];
		uint64_t home = s->t->chosen[n]->home;

		if (!revived_registers(s->process, &c->regs))
			s->why = "the process is gone";
		c->vectors = xcalloc(1, AREA);
		revived_extended(s->process, c->vectors, AREA, &s->vectors_len);
		if (m->from) {
			set_first(s, m, c);
			continue;
		}
		c->regs.rip = m->entry;
		c->regs.rdi = m->argument;
		c->regs.fs_base = m->self;
		c->regs.eflags = 0x202;
		if (!s->t->chosen[n]->path.len)
			continue;
		c->regs.rsp = value_of(s, s->t->chosen[n]->start[LIFT_RSP]);
		if (!revived_write(s->process, c->regs.rsp, &home, 8))
			s->why = "a thread's stack is not there";
	}
}

static void compare_memory(struct stage *s)
{
	const struct weave *w = &s->t->weave;
	struct history *h = &s->r->h;

	for (size_t i = 0; i < w->units.len && !s->why; i++)
		for (unsigned k = 0; k < w->units.data[i].bytes && !s->why; k++) {
			uint64_t at = w->units.data[i].address + k, want;
			uint8_t is;

			if (!past_value(h, s->t->knows, past_byte(h, s->t->end, at), &want))
				continue;
			if (!revived_read(s->process, at, &is, 1) || is != want)
				s->why = "shared memory differs at the end";
		}
}

/* Where the dump has it, and if it failed it fails again. */
static void compare_thread(struct stage *s, size_t n)
{
	const struct mate *m = &s->t->mates.data[n];
	const struct dump *d = &s->r->dump;
	int signal = 0;

	if (m->thread != s->r->thread || s->r->at_call)
		return;
	put_on(s, n);
	if (s->why)
		return;
	revived_registers(s->process, &s->contexts[n].regs);
	if (s->contexts[n].regs.rip != d->threads.data[m->thread].registers.rip ||
	    s->contexts[n].regs.rsp != d->threads.data[m->thread].registers.rsp)
		s->why = "a thread does not come to where the dump has it";
	else if (d->code > 0 &&
		 (revived_step(s->process, &signal) != REVIVED_SIGNAL || signal != d->signal))
		s->why = "the last instruction does not fail";
}

static void perform(struct stage *s)
{
	const struct weave *w = &s->t->weave;

	set_beginning(s);
	for (size_t i = 0; i < w->answer.len && !s->why; i++) {
		const struct woven *k = &w->woven.data[w->answer.order[i]];

		if (k->track != UINT32_MAX && weave_happens(w, w->answer.order[i]))
			run_upto(s, k->track,
				 s->t->chosen[k->track]->events.data[k->event].step + 1);
	}
	for (size_t n = 0; n < s->t->mates.len && !s->why; n++)
		run_upto(s, n, UINT32_MAX);
	compare_memory(s);
	for (size_t n = 0; n < s->t->mates.len && !s->why; n++)
		compare_thread(s, n);
}

void together_confirm(struct rewind *r)
{
	struct stage s = { .r = r, .t = &r->threads, .current = SIZE_MAX };
	struct err *err = revive(&r->dump, r->thread, &s.process);

	if (err) {
		err_free(err);
		r->threads.not_confirmed = "no process could be made";
		return;
	}
	s.contexts = xcalloc(r->threads.mates.len, sizeof(*s.contexts));
	find_values(&s);
	perform(&s);
	r->threads.not_confirmed = s.why;
	r->threads.confirmed = !s.why;
	revived_free(s.process);
	for (size_t n = 0; n < r->threads.mates.len; n++)
		free(s.contexts[n].vectors);
	free(s.contexts);
	free(s.values);
}
