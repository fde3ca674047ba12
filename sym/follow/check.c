/* sym/follow/check.c - compare a symbolic trace with a full recording of the same schedule.
 *
 * Each step must be the next recorded event of its thread: same kind, same site, same size, same
 * place where the place is known in both. What a read really returned becomes the value of its
 * symbol; so what a write stores, and the condition of a branch, can be computed and must agree
 * with the recording. */
#include "sym/follow/follow.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_MISMATCHES 20

static bool differs(struct machine *m, const struct sym_step *s, const char *fmt, ...)
{
	struct sym_follow_result *r = follow_of(m)->ret;
	va_list ap;
	char what[160], text[400];

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "thread %s at %s: %s",
		 follow_of(m)->r.meta->threads[s->thread].name, s->where, what);
	if (r->mismatches.len < MAX_MISMATCHES)
		names_intern(&r->mismatches, text);
	return false;
}

static void set_value(struct machine *m, uint32_t symbol, uint64_t value, bool sure)
{
	struct follow *fo = follow_of(m);

	while (fo->values.len <= symbol) {
		vec_push(&fo->values, 0);
		vec_push(&fo->is_known, false);
	}
	fo->values.data[symbol] = value;
	fo->is_known.data[symbol] = sure;
	m->known = fo->values.data;
	m->nknown = (uint32_t)fo->values.len;
}

/* Does the expression depend on a symbol that stands for no recorded event (what a function
 * without bitcode did)? Then nobody can say what its value should be. */
static bool is_open(struct machine *m, uint32_t x)
{
	struct follow *fo = follow_of(m);
	const uint32_t *set = expr_symbols(&m->exprs, x);

	for (uint32_t i = 1; i <= set[0]; i++)
		if (set[i] >= fo->is_known.len || !fo->is_known.data[set[i]]) {
			fo->ret->open++;
			return true;
		}
	return false;
}

/* A thread's handle is its number here and an address there: learned when it is first seen, held
 * to afterwards. */
static bool same_handle(struct machine *m, uint64_t ours, uint64_t theirs)
{
	struct follow *fo = follow_of(m);

	if (!ours || ours > m->s->nthreads || !(theirs >> 32))
		return false;
	while (fo->handles.len < ours)
		vec_push(&fo->handles, 0);
	for (size_t i = 0; i < fo->handles.len; i++)
		if (fo->handles.data[i] == theirs)
			return i + 1 == ours;
	if (fo->handles.data[ours - 1])
		return false;
	fo->handles.data[ours - 1] = theirs;
	return true;
}

/* A value of the machine against one of the recording: equal, or the same pointer or thread. */
static bool same_value(struct machine *m, uint64_t ours, uint64_t theirs, unsigned w)
{
	struct follow *fo = follow_of(m);

	if (((ours ^ theirs) & mask_of(w)) == 0)
		return true;
	if (w < 64)
		return false;
	if ((ours & ADDR_TAG || ours & FUNC_TAG) && !(ours >> 63)) {
		uint64_t native = addrmap_native(&fo->n, ours);

		return !native || addrmap_is(&fo->n, ours, theirs);
	}
	return same_handle(m, ours, theirs);
}

static uint64_t real_value(struct machine *m, uint32_t x)
{
	struct follow *fo = follow_of(m);

	expr_eval_begin(&m->exprs);
	return expr_eval(&m->exprs, x, fo->values.data, (uint32_t)fo->values.len);
}

/* A word of a range has no recorded value. What our memory holds is most likely right, as the
 * threads run in the recorded order: good enough to go on with, not to compare with. */
static void guess(struct machine *m, const struct sym_step *s)
{
	if (s->kind == SYM_STEP_READ && s->symbol != UINT32_MAX)
		set_value(m, s->symbol, s->known ? s->concrete : real_value(m, s->held), false);
}

static bool compare_access(struct machine *m, const struct sym_step *s, const struct event *ev)
{
	uint64_t n = s->kind == SYM_STEP_RANGE ? s->n : (s->w + 7u) / 8, v;

	if (ev->n != n)
		return differs(m, s, "%llu bytes, recorded %llu", (unsigned long long)n,
			       (unsigned long long)ev->n);
	if (s->native && !addrmap_is(&follow_of(m)->n, s->address, ev->address))
		return differs(m, s, "%s of another place", event_kind_name(ev->kind));
	if (s->kind == SYM_STEP_READ || s->kind == SYM_STEP_RMW) {
		uint64_t value = ev->value;

		if (s->known)
			value = s->concrete;
		else if (s->w == 64)
			value = follow_translate(m, ev->value, ev->clock, ev->clock,
						 (struct val){ 0 });
		set_value(m, s->symbol, value, true);
		if (s->known && !same_value(m, s->concrete, ev->value, s->w))
			return differs(m, s, "read 0x%llx, recorded 0x%llx",
				       (unsigned long long)s->concrete,
				       (unsigned long long)ev->value);
	}
	if (s->kind != SYM_STEP_WRITE && s->kind != SYM_STEP_RMW)
		return true;
	v = real_value(m, s->value);
	if (!same_value(m, v, s->kind == SYM_STEP_RMW ? ev->value2 : ev->value, s->w) &&
	    !is_open(m, s->value))
		return differs(
			m, s, "wrote 0x%llx, recorded 0x%llx", (unsigned long long)v,
			(unsigned long long)(s->kind == SYM_STEP_RMW ? ev->value2 : ev->value));
	return true;
}

static bool compare(struct machine *m, const struct sym_step *s, const struct event *ev)
{
	if (ev->kind != s->event)
		return differs(m, s, "%s, recorded %s", event_kind_name(s->event),
			       event_kind_name(ev->kind));
	if (ev->site != s->site)
		return differs(m, s, "%s at site %u, recorded at site %u",
			       event_kind_name(ev->kind), s->site, ev->site);
	switch (s->kind) {
	case SYM_STEP_BRANCH:
		if (ev->n != s->n)
			return differs(m, s, "another way");
		if (!real_value(m, s->value) && !is_open(m, s->value))
			return differs(m, s, "the condition is false for what was really read");
		return true;
	case SYM_STEP_SYNC:
		if ((ev->kind == PLAIT_EV_FORK || ev->kind == PLAIT_EV_JOIN) &&
		    ev->other != s->other)
			return differs(m, s, "%s of another thread", event_kind_name(ev->kind));
		if (s->native && ev->address && s->native != ev->address)
			return differs(m, s, "%s of another object", event_kind_name(ev->kind));
		return true;
	default:
		return compare_access(m, s, ev);
	}
}

void follow_check(struct machine *m, const struct sym_step *s)
{
	struct follow *fo = follow_of(m);
	struct rec_thread *t = &fo->r.threads[s->thread];

	if (s->part) {
		guess(m, s);
		return;
	}
	if (!recorded_is_checked(s->event))
		return;
	if (s->kind == SYM_STEP_BRANCH && !fo->r.branch_events) {
		if (!real_value(m, s->value) && !is_open(m, s->value))
			differs(m, s, "the condition is false for what was really read");
		return;
	}
	if (t->event >= t->events.len) {
		if (t->ended)
			differs(m, s, "%s after the recorded end", event_kind_name(s->event));
		return;
	}
	fo->ret->agree += compare(m, s, &t->events.data[t->event++]);
}

void follow_check_end(struct machine *m, uint32_t thread)
{
	struct follow *fo = follow_of(m);
	const struct rec_thread *t = &fo->r.threads[thread];

	fo->ret->events += t->events.len;
}
