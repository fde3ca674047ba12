/* explain/show/focus.c - less to read.
 *
 * When two runs part they differ in nearly everything that follows: who gets the next task, which
 * node of a list is whose. The projection shows all of it, which is right as long as the cause is
 * not known. When it is - it was enforced, and it goes with the failure - most of that is
 * consequence. What stays:
 *
 * - the steps of the cause and of the failure (PROJECT_CAUSE, PROJECT_FAILURE);
 * - data flow that differs, through the objects of these steps, or of the critical sections that
 * they begin: each place of the program once per thread, the last time before the failure;
 * - the history of short runs, but for what was there before the second thread;
 * - the first step of each of their threads that the other run does not have. */
#include "explain/show/focus.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

enum { SECTION = 40 }; /* steps of a critical section that are looked at */
enum { SHORT_RUN = 40, MAX_HISTORY = 2 };
enum { KEPT = PROJECT_CAUSE | PROJECT_FAILURE | PROJECT_ONLY_HERE };

struct focused {
	const struct steps *s;
	uint8_t *show;
	bool *threads;	    /* [thread]: has a step of the cause */
	struct map objects; /* addresses of the cause */
	struct map used;    /* address -> the first thread that uses it in a section of the cause */
	struct map shared;  /* addresses that two threads use there */
	struct map places;  /* (thread, site) already shown */
};

/* What two threads use in the sections of the cause is shared there. */
static void note_use(struct focused *f, const struct step *e)
{
	uint64_t *user = map_put(&f->used, e->address, e->thread);

	if (*user != e->thread)
		map_put(&f->shared, e->address, 1);
}

/* A critical section stands for what is done in it. */
static void note_section(struct focused *f, uint32_t lock)
{
	const struct step *d = f->s->data;

	for (uint32_t k = lock + 1, seen = 0; k < f->s->len && seen < SECTION; k++) {
		if (d[k].thread != d[lock].thread)
			continue;
		seen++;
		if (step_is_release(&d[k]) && d[k].address == d[lock].address)
			break;
		if (step_is_memory(&d[k]))
			note_use(f, &d[k]);
	}
}

static void note_cause(struct focused *f)
{
	f->threads = xcalloc(f->s->nthreads + 1, sizeof(*f->threads));
	for (uint32_t i = 0; i < f->s->len; i++) {
		const struct step *e = &f->s->data[i];

		if (!(f->show[i] & (PROJECT_CAUSE | PROJECT_FAILURE)))
			continue;
		f->threads[e->thread] = true;
		if (step_is_memory(e))
			map_put(&f->objects, e->address, 1);
		if (step_is_acquire(e))
			note_section(f, i);
	}
	/* what it fails by is shared there: the rest (a counter of calls) is beside the point */
	for (uint32_t i = 0; i < f->s->len; i++)
		if (f->show[i] & PROJECT_FAILURE && step_is_memory(&f->s->data[i]) &&
		    map_find(&f->shared, f->s->data[i].address))
			map_clear(&f->shared);
}

static bool is_about(const struct focused *f, const struct step *e)
{
	return map_find(&f->objects, e->address) || map_find(&f->shared, e->address);
}

/* Of the same place in the same thread the last stays. */
static bool is_new_place(struct focused *f, const struct step *e)
{
	uint64_t *known = map_put(&f->places, (uint64_t)e->thread << 32 | e->site, 0);

	return !(*known)++;
}

/* Where control flow parts first, per thread of the cause. */
static void keep_partings(struct focused *f)
{
	bool *parted = xcalloc(f->s->nthreads + 1, sizeof(*parted));

	for (uint32_t i = 0; i < f->s->len; i++) {
		const struct step *e = &f->s->data[i];

		if (!(f->show[i] & PROJECT_ONLY_HERE))
			continue;
		if (!f->threads[e->thread] || parted[e->thread])
			f->show[i] &= (uint8_t)~PROJECT_ONLY_HERE;
		parted[e->thread] = true;
	}
	free(parted);
}

/* Only flows through the cause's objects; each run shows its own. */
static void keep_flows(struct focused *f, const struct projection *p, bool failing)
{
	for (uint32_t i = 0; i < f->s->len; i++)
		f->show[i] &= (uint8_t)~PROJECT_FLOW;
	for (size_t i = 0; i < p->nflows; i++) {
		const struct projection_flow *flow = &p->flows[i];

		if (flow->failing != failing || !is_about(f, &f->s->data[flow->to]))
			continue;
		f->show[flow->to] |= PROJECT_FLOW;
		if (flow->from != STEP_NONE)
			f->show[flow->from] |= PROJECT_FLOW;
	}
}

/* Steps of the main thread before any other's: how things were set up. */
static uint32_t prologue(const struct steps *s)
{
	uint32_t n = 0;

	while (n < s->len && s->data[n].thread == 0)
		n++;
	return n;
}

/* In a short run there is room for a little of what differs elsewhere: the last values that threads
 * of the cause had from each other. */
static void keep_history(struct focused *f, const uint8_t *before)
{
	uint32_t begin = prologue(f->s), shown = 0;

	if (f->s->len > SHORT_RUN)
		return;
	for (uint32_t i = (uint32_t)f->s->len; i-- > begin && shown < MAX_HISTORY;) {
		const struct step *e = &f->s->data[i];
		bool known = f->show[i] && !is_new_place(f, e);

		if (!before[i] || known || f->show[i] & KEPT || !step_is_memory(e) ||
		    !step_reads(e) || !f->threads[e->thread] || e->source == STEP_NONE ||
		    e->source < begin || f->s->data[e->source].thread == e->thread)
			continue;
		f->show[i] |= PROJECT_HISTORY;
		f->show[e->source] |= PROJECT_HISTORY;
		shown++;
	}
	map_clear(&f->places);
}

static void drop_rest(struct focused *f)
{
	uint32_t begin = prologue(f->s);

	for (uint32_t i = (uint32_t)f->s->len; i-- > 0;) {
		const struct step *e = &f->s->data[i];
		bool known = f->show[i] && !is_new_place(f, e);
		unsigned why = f->show[i];

		if (!why || why & KEPT)
			continue;
		if (why & PROJECT_FLOW && !known)
			continue;
		if (why & PROJECT_HISTORY && i >= begin &&
		    (e->source == STEP_NONE || e->source >= begin || !step_reads(e) ||
		     is_about(f, e)))
			continue;
		f->show[i] = 0;
	}
}

static void focused_deinit(struct focused *f)
{
	free(f->threads);
	map_deinit(&f->objects);
	map_deinit(&f->used);
	map_deinit(&f->shared);
	map_deinit(&f->places);
}

static void focus_run(struct focused *f, const struct projection *p, bool failing)
{
	_cleanup_(xfreep) uint8_t *before = xmemdup(f->show, f->s->len);

	note_cause(f);
	keep_partings(f);
	keep_flows(f, p, failing);
	keep_history(f, before);
	drop_rest(f);
	focused_deinit(f);
}

static size_t count_shown(const uint8_t *show, size_t n)
{
	size_t shown = 0;

	for (size_t i = 0; i < n; i++)
		shown += show[i] != 0;
	return shown;
}

size_t focus(const struct steps *failing, const struct steps *passing, struct projection *p)
{
	struct focused f = { .s = failing, .show = p->show_failing };
	struct focused g = { .s = passing, .show = p->show_passing };
	size_t all = count_shown(p->show_failing, failing->len);

	focus_run(&f, p, true);
	focus_run(&g, p, false);
	/* what one run shows, the other shows too where it has it */
	for (uint32_t i = 0; i < failing->len; i++)
		if (p->show_failing[i] && p->twin_of_failing[i] != STEP_NONE)
			p->show_passing[p->twin_of_failing[i]] |= PROJECT_FLOW;
	return all - count_shown(p->show_failing, failing->len);
}
