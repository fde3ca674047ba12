/* explain/show/cause.c - the steps of the cause, to be shown whatever else is.
 *
 * Of a block: its ends, who broke into it, and what each intruder met there; of a block with a wait
 * in it, who woke it up; of an order, the two steps. At a deadlock: what every thread waits
 * for, and the last signals that somebody waits for in vain; else who wrote what it failed by. */
#include "explain/show/cause.h"

#include "unplait/abi.h"

enum {
	MAX_INTRUDERS = 6,
	FEW_INTRUDERS = 3,
	MAX_BLOCK = 64,
	MAX_MEANWHILE = 4096,
	MAX_SIGNALS = 2
};

struct marker {
	const struct steps *f, *g; /* failing, passing */
	const struct cure *c;
	struct projection *p;
	uint32_t sites[MAX_INTRUDERS]; /* places of intruders that are shown */
	uint32_t nsites;
};

/* On both sides. */
static void mark(struct projection *p, uint32_t i, unsigned why)
{
	p->show_failing[i] |= why;
	if (p->twin_of_failing[i] != STEP_NONE)
		p->show_passing[p->twin_of_failing[i]] |= why;
}

/* One past the last step of the block in the failing run; a critical section at its end belongs to
 * it. */
static uint32_t block_end(const struct marker *m)
{
	const struct step *d = m->f->data;
	uint32_t k = m->c->to, seen = 0;

	if (m->c->to_in_passing)
		return (uint32_t)m->f->len;
	for (; step_is_acquire(&d[m->c->to]) && k + 1 < m->f->len && seen < MAX_BLOCK; k++) {
		seen += d[k].thread == d[m->c->to].thread;
		if (d[k].thread == d[m->c->to].thread && step_is_release(&d[k]))
			break;
	}
	return k + 1;
}

/* The step of the block's thread, inside the block, that a step of another thread meets: the last
 * before it, else the first after it; STEP_NONE. */
static uint32_t meets_block(const struct marker *m, uint32_t i)
{
	const struct step *d = m->f->data, *e = &d[i];
	uint32_t from = m->c->from, met = STEP_NONE, seen = 0, end = block_end(m);

	for (uint32_t k = from;
	     k < end && seen < MAX_BLOCK && (k < i || met == STEP_NONE) && k < i + MAX_MEANWHILE;
	     k++) {
		if (d[k].thread != d[from].thread)
			continue;
		seen++;
		if (step_conflicts(e, &d[k]))
			met = k;
	}
	return met;
}

/* The passing run shows what the block had still to do: its end, and if that is a critical section,
 * what is done there. */
static bool meets_rest(const struct marker *m, const struct step *e)
{
	const struct step *d = m->g->data;
	uint32_t to = m->c->to, seen = 0;

	for (uint32_t k = to; k < m->g->len && seen < MAX_BLOCK; k++) {
		if (d[k].thread != d[to].thread)
			continue;
		seen++;
		if (step_conflicts(e, &d[k]))
			return true;
		if (!step_is_acquire(&d[to]) || step_is_release(&d[k]))
			return false;
	}
	return false;
}

/* Does it touch what the block begins or ends with? */
static bool meets_ends(const struct marker *m, const struct step *e)
{
	const struct step *from = &m->f->data[m->c->from];
	const struct step *to = m->c->to_in_passing ? &m->g->data[m->c->to] : &m->f->data[m->c->to];

	return step_conflicts(e, from) || step_conflicts(e, to) || e->address == from->address;
}

static bool is_known(const struct marker *m, uint32_t site)
{
	for (uint32_t k = 0; k < m->nsites; k++)
		if (m->sites[k] == site)
			return true;
	return false;
}

/* A block is broken by what others do to its objects meanwhile: each place of it once, and what it
 * meets. ends: only what touches the block's ends. */
static void mark_intruders(struct marker *m, bool ends, uint32_t most)
{
	uint32_t end = m->c->to_in_passing ? (uint32_t)m->f->len : m->c->to;

	end = MIN(end, m->c->from + MAX_MEANWHILE);
	for (uint32_t i = m->c->from; i < end && m->nsites < most; i++) {
		const struct step *e = &m->f->data[i];
		uint32_t met;

		if (!step_is_memory(e) || e->thread == m->f->data[m->c->from].thread ||
		    (ends && !meets_ends(m, e)) || is_known(m, e->site))
			continue;
		met = meets_block(m, i);
		if (met == STEP_NONE && !(m->c->to_in_passing && meets_rest(m, e)))
			continue;
		m->sites[m->nsites++] = e->site;
		mark(m->p, i, PROJECT_CAUSE);
		if (met != STEP_NONE)
			mark(m->p, met, PROJECT_CAUSE);
	}
}

static bool wakes(const struct step *e)
{
	return e->kind == PLAIT_EV_SIGNAL || e->kind == PLAIT_EV_BROADCAST;
}

/* A block with a wait in it is broken while its thread sleeps: who woke it up? */
static void mark_wakeups(const struct marker *m)
{
	const struct step *d = m->f->data;
	uint32_t end = block_end(m), seen = 0;

	for (uint32_t k = m->c->from; k < end && seen < MAX_BLOCK; k++) {
		uint32_t i = k;

		if (d[k].thread != d[m->c->from].thread)
			continue;
		seen++;
		if (d[k].kind != PLAIT_EV_WOKEN || d[k].pending)
			continue;
		mark(m->p, k, PROJECT_CAUSE);
		while (i-- > m->c->from && !(d[i].address == d[k].address && wakes(&d[i])))
			;
		if (i != UINT32_MAX && i >= m->c->from)
			mark(m->p, i, PROJECT_CAUSE);
	}
}

static void mark_block(struct marker *m)
{
	const struct cure *c = m->c;
	/* a block that begins with an access is about its ends, and a little about the rest */
	bool memory = step_is_memory(&m->f->data[c->from]);

	mark(m->p, c->intruder, PROJECT_CAUSE);
	if (memory)
		mark_intruders(m, true, MAX_INTRUDERS);
	mark_intruders(m, false, memory ? FEW_INTRUDERS : MAX_INTRUDERS);
	mark_wakeups(m);
	if (c->other_from == STEP_NONE)
		return;
	mark(m->p, c->other_from, PROJECT_CAUSE);
	if (c->other_to_in_passing)
		m->p->show_passing[c->other_to] |= PROJECT_CAUSE;
	else
		mark(m->p, c->other_to, PROJECT_CAUSE);
}

/* In a deadlock what every thread waits for matters, and what it holds meanwhile; to wait for the
 * end of one that waits for something else is no news. */
static void mark_waiting(const struct steps *f, struct projection *p)
{
	size_t others = 0;

	for (uint32_t i = 0; i < f->len; i++)
		others += f->data[i].pending && !f->data[i].missed &&
			  f->data[i].kind != PLAIT_EV_JOIN;
	for (uint32_t i = 0; i < f->len; i++) {
		uint32_t held;

		if (!f->data[i].pending || f->data[i].missed ||
		    (others && f->data[i].kind == PLAIT_EV_JOIN))
			continue;
		p->show_failing[i] |= PROJECT_FAILURE;
		held = step_is_acquire(&f->data[i]) ? cure_held(f, i) : STEP_NONE;
		for (uint32_t k = held; k < i; k++) /* it had it, and let go of it meanwhile */
			if (k == held || (step_is_release(&f->data[k]) &&
					  f->data[k].thread == f->data[i].thread &&
					  f->data[k].address == f->data[i].address))
				p->show_failing[k] |= PROJECT_CAUSE;
	}
}

/* The last few signals that a thread waits for in vain, and who got them. */
static void mark_signals(const struct steps *f, struct projection *p)
{
	unsigned shown = 0;
	uint64_t address = 0;

	for (uint32_t i = (uint32_t)f->len; i-- > 0 && shown < 2 * MAX_SIGNALS;) {
		const struct step *e = &f->data[i];

		if (e->pending && (e->kind == PLAIT_EV_WAIT || e->kind == PLAIT_EV_WOKEN))
			address = e->address;
		if (e->pending || !address || e->address != address ||
		    !(wakes(e) || e->kind == PLAIT_EV_WOKEN))
			continue;
		mark(p, i, PROJECT_CAUSE);
		shown++;
	}
}

/* Where the value came from that it failed by, if another thread wrote it. */
static void mark_source(const struct steps *f, struct projection *p)
{
	for (uint32_t i = 0; i < f->len; i++) {
		const struct step *e = &f->data[i];

		if (p->show_failing[i] & PROJECT_FAILURE && !e->pending && step_is_memory(e) &&
		    e->source != STEP_NONE && f->data[e->source].thread != e->thread)
			mark(p, e->source, PROJECT_CAUSE);
	}
}

void cause_mark(const struct steps *failing, const struct alternate *alternate,
		const struct cure *cure, struct projection *p)
{
	struct marker m = { .f = failing, .g = &alternate->passing, .c = cure, .p = p };

	mark_waiting(failing, p);
	mark_signals(failing, p);
	mark_source(failing, p);
	if (alternate->found) {
		mark(p, alternate->pair.first, PROJECT_REORDERED);
		mark(p, alternate->pair.second, PROJECT_REORDERED);
	}
	if (!cure)
		return;
	mark(p, cure->from, PROJECT_CAUSE);
	if (cure->to_in_passing)
		p->show_passing[cure->to] |= PROJECT_CAUSE;
	else
		mark(p, cure->to, PROJECT_CAUSE);
	if (cure->intruder != STEP_NONE)
		mark_block(&m);
}

void cause_mark_earlier(const struct steps *failing, const struct steps *passing,
			const struct cure *cure, struct projection *p)
{
	struct marker m = { .f = failing, .g = passing, .c = cure, .p = p };

	mark(p, cure->from, PROJECT_CAUSE);
	mark(p, cure->to, PROJECT_CAUSE);
	mark_block(&m);
}
