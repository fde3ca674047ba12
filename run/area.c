/* run/area.c - see area.h. */
#include "run/area.h"

#include "base/err.h"
#include "sched/counts.h"
#include "sched/pairs.h"
#include "sched/strategy.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EVENTS_PER_POINT = 250 }; /* most accesses are not points */

struct err *area_open(struct area *a)
{
	a->fd = memfd_create("unplait-control", MFD_CLOEXEC);
	if (a->fd < 0 || ftruncate(a->fd, (off_t)PLAIT_CONTROL_SIZE) < 0)
		return err_errno(errno, "the control area");
	a->control = mmap(NULL, PLAIT_CONTROL_SIZE, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_NORESERVE, a->fd, 0);
	if (a->control == MAP_FAILED) {
		a->control = NULL;
		return err_errno(errno, "the control area");
	}
	snprintf(a->path, sizeof(a->path), "/proc/%d/fd/%d", (int)getpid(), a->fd);
	memcpy(a->control->magic, PLAIT_CONTROL_MAGIC, 8);
	a->control->version = PLAIT_CONTROL_VERSION;
	a->control->size = sizeof(*a->control);
	return NULL;
}

void area_close(struct area *a)
{
	if (a->control)
		munmap(a->control, PLAIT_CONTROL_SIZE);
	if (a->fd > 0)
		close(a->fd);
	*a = (struct area){ .fd = -1 };
}

static void *region(const struct area *a, uint64_t offset)
{
	assert(a->control && offset < PLAIT_CONTROL_SIZE);
	return (char *)a->control + offset;
}

/* ---- the request ---- */

static struct err *write_decisions(struct area *a, const struct run_request *req)
{
	uint8_t *start = region(a, PLAIT_CONTROL_REPLAY), *p = start;
	uint64_t last = 0;

	for (size_t i = 0; i < req->ndecisions; i++) {
		if ((uint64_t)(p - start) + DECISION_MAX_BYTES > PLAIT_CONTROL_REPLAY_SIZE)
			return err_new(ERR_ENV, "the schedule is too long");
		p = decision_write(p, &req->decisions[i], last);
		last = req->decisions[i].step;
	}
	a->control->replay_len = (uint64_t)(p - start);
	return NULL;
}

/* Those of the request come first: their fates are told by number. */
static void write_constraints(struct plait_control *c, const struct target *t,
			      const struct run_request *req)
{
	c->nconstraints = (uint32_t)(req->nconstraints + t->nrules);
	if (req->nconstraints)
		memcpy(c->constraints, req->constraints,
		       req->nconstraints * sizeof(c->constraints[0]));
	if (t->nrules)
		memcpy(c->constraints + req->nconstraints, t->rules,
		       t->nrules * sizeof(c->constraints[0]));
}

static struct err *write_arrays(struct area *a, const struct target *t,
				const struct run_request *req)
{
	struct plait_control *c = a->control;

	if (req->nconstraints + t->nrules > PLAIT_MAX_CONSTRAINTS)
		return err_new(ERR_ENV, "more than %d constraints", PLAIT_MAX_CONSTRAINTS);
	if (req->nturns > PLAIT_CONTROL_TURNS_MAX)
		return err_new(ERR_ENV, "the schedule is too long");
	if (req->vectors_len > PLAIT_CONTROL_VECTORS_SIZE)
		return err_new(ERR_ENV, "the access vectors are too long to replay");
	write_constraints(c, t, req);
	assert(req->nfocus <= PLAIT_MAX_FOCUS && req->nweights <= PLAIT_MAX_THREADS);
	c->nfocus = (uint32_t)req->nfocus;
	c->nweights = (uint32_t)req->nweights;
	if (req->nfocus)
		memcpy(c->focus, req->focus, req->nfocus * sizeof(c->focus[0]));
	if (req->nweights)
		memcpy(region(a, PLAIT_CONTROL_WEIGHTS), req->weights,
		       req->nweights * sizeof(req->weights[0]));
	c->turns_len = req->nturns;
	if (req->nturns)
		memcpy(region(a, PLAIT_CONTROL_TURNS), req->turns,
		       req->nturns * sizeof(req->turns[0]));
	c->vectors_len = req->vectors_len;
	if (req->vectors_len)
		memcpy(region(a, PLAIT_CONTROL_VECTORS), req->vectors, req->vectors_len);
	return write_decisions(a, req);
}

static void empty_result(struct plait_control *c)
{
	memset(&c->pid, 0,
	       offsetof(struct plait_control, text) - offsetof(struct plait_control, pid));
	c->text[0] = 0;
	c->hash = 0xcbf29ce484222325ull;
}

struct err *area_write_request(struct area *a, const struct target *t,
			       const struct run_request *req, uint32_t extra, uint64_t run_number)
{
	struct plait_control *c = a->control;

	assert(req->strategy < PLAIT_STRATEGY_COUNT);
	assert(req->points <= PLAIT_POINTS_ALL);
	assert(!req->ndecisions || req->decisions);
	assert(req->strategy != PLAIT_STRATEGY_FOLLOW || !req->nturns || req->turns);
	c->strategy = req->strategy;
	c->points = req->points;
	c->timeouts = t->timeouts;
	c->flags = req->flags | extra | (t->spurious ? PLAIT_CONTROL_SPURIOUS : 0);
	if (t->fresh)
		c->flags &= ~(uint32_t)PLAIT_CONTROL_AGAIN;
	c->depth = req->depth;
	c->aim = req->aim;
	c->noise = req->noise;
	c->prefix_steps = req->prefix_steps;
	c->seed = req->seed;
	c->length = req->length;
	c->point_budget = t->point_budget ? t->point_budget : req->point_budget;
	c->event_budget = req->event_budget ? req->event_budget
			  : t->event_budget ? t->event_budget
					    : c->point_budget * EVENTS_PER_POINT;
	c->gate = t->gate;
	c->run_number = run_number;
	snprintf(c->dir, sizeof(c->dir), "%s", req->record_dir ? req->record_dir : "");
	empty_result(c);
	return write_arrays(a, t, req);
}

/* ---- the result ---- */

static void read_counters(const struct plait_control *c, struct run_result *r)
{
	r->end = c->end;
	r->diverged = c->end == PLAIT_END_DIVERGED;
	r->diverged_step = c->diverged_step;
	r->left_thread = c->left_thread;
	r->left_from = c->left_from;
	r->left_to = c->left_to;
	r->marks_met = c->marks_met;
	r->left_step = c->left_step;
	r->log_done = c->log_done;
	r->log_clock = c->log_clock;
	r->steps = c->steps;
	r->points = c->points_taken;
	r->switches = c->switches;
	r->preemptions = c->preemptions;
	r->hash = c->hash;
	r->nthreads = c->nthreads;
	r->max_alive = c->max_alive;
	r->uncontrolled = c->uncontrolled;
	r->new_pairs = c->new_pairs;
	r->new_points = c->new_points;
	r->reads_met = c->reads_met;
	memcpy(r->constraint_fate, c->constraint_fate, sizeof(r->constraint_fate));
	r->meet_step = c->meet_step;
	memcpy(r->meet_thread, c->meet_thread, sizeof(r->meet_thread));
	r->limits = c->limits;
	r->vectors_dropped = c->vectors_dropped;
	r->gate = c->gate_used;
	r->stopped = c->stopped;
}

static void read_schedule(const struct area *a, const struct run_request *req, struct schedule *s)
{
	const struct plait_control *c = a->control;
	struct decision_reader reader;
	struct decision d;

	decision_reader_init(&reader, region(a, PLAIT_CONTROL_DECISIONS), c->decisions_len);
	while (decision_read(&reader, &d))
		vec_push(&s->decisions, d);
	s->steps = c->steps;
	s->hash = c->hash;
	s->flags =
		c->flags & (PLAIT_CONTROL_NO_POISON | PLAIT_CONTROL_EARLY | PLAIT_CONTROL_SPURIOUS);
	if (c->end == PLAIT_END_LOG)
		s->flags |= PLAIT_CONTROL_CUT;
	s->seed = req->seed;
	snprintf(s->strategy, sizeof(s->strategy), "%s", sched_strategy_name(req->strategy));
}

void area_read_result(const struct area *a, const struct run_request *req, struct run_result *r)
{
	const struct plait_control *c = a->control;
	const struct plait_blocked *b = region(a, PLAIT_CONTROL_BLOCKED);

	assert(r->blocked.len == 0 && r->schedule.decisions.len == 0);
	read_counters(c, r);
	read_schedule(a, req, &r->schedule);
	for (uint32_t i = 0; i < c->nblocked && i < PLAIT_CONTROL_BLOCKED_MAX; i++)
		vec_push(&r->blocked, b[i]);
	if (req->flags & PLAIT_CONTROL_LOG) {
		r->choices = region(a, PLAIT_CONTROL_CHOICES);
		r->nchoices = c->choices_len;
	}
	if (req->flags & PLAIT_CONTROL_RACES) {
		const struct plait_races *races = area_races(a);

		r->races = races->race;
		r->nraces = races->n <= PLAIT_CONTROL_RACES_MAX ? races->n : 0;
	}
}

/* ---- what was learned ---- */

const struct plait_run *area_process(const struct area *a)
{
	return region(a, PLAIT_CONTROL_RUN);
}

struct plait_inputs *area_inputs(const struct area *a)
{
	return region(a, PLAIT_CONTROL_INPUTS);
}

struct plait_log_place *area_log(const struct area *a)
{
	return region(a, PLAIT_CONTROL_LOG_AT);
}

struct plait_predicate *area_predicate(const struct area *a)
{
	return region(a, PLAIT_CONTROL_PREDICATE_AT);
}

const struct plait_stack *area_stacks(const struct area *a)
{
	return region(a, PLAIT_CONTROL_STACKS);
}

const struct plait_races *area_races(const struct area *a)
{
	return region(a, PLAIT_CONTROL_RACES_AT);
}

const struct plait_prints *area_prints(const struct area *a)
{
	return region(a, PLAIT_CONTROL_PRINTS_AT);
}

struct knowledge area_knowledge(const struct area *a)
{
	return (struct knowledge){ .pairs = pairs_of(a->control),
				   .points = region(a, PLAIT_CONTROL_POINTS),
				   .sync = region(a, PLAIT_CONTROL_SYNC),
				   .counts = counts_of(a->control),
				   .parents = region(a, PLAIT_CONTROL_PARENTS) };
}

static bool has_bit(const uint8_t *bits, uint64_t bytes, uint32_t site)
{
	uint64_t bit = site % (bytes * 8);

	return bits[bit / 8] >> bit % 8 & 1;
}

bool knowledge_is_point(const struct knowledge *k, uint32_t site)
{
	return has_bit(k->points, PLAIT_CONTROL_POINTS_SIZE, site);
}

bool knowledge_is_sync(const struct knowledge *k, uint32_t site)
{
	return has_bit(k->sync, PLAIT_CONTROL_SYNC_SIZE, site);
}

/* Pairs keep the larger count: the sessions saw different runs, but adding up would count the
 * shared past twice. */
static uint32_t merge_pairs(struct area *to, const struct plait_pairs *from)
{
	uint32_t fresh = 0;

	for (uint32_t i = 0; i < from->n && i < PLAIT_CONTROL_PAIRS_MAX; i++) {
		const struct plait_pair *p = &from->pair[i];
		struct plait_pair *q = pairs_get(to->control, p->write_site, p->read_site);

		if (!q || q->count >= p->count)
			continue;
		fresh += !q->count;
		q->count = p->count;
	}
	return fresh;
}

/* Counts are estimates: any run's will do. */
static void merge_counts(struct area *to, const struct area *from)
{
	const struct plait_count *c = counts_of(from->control);
	const uint32_t *parents = region(from, PLAIT_CONTROL_PARENTS);
	uint32_t *own = region(to, PLAIT_CONTROL_PARENTS);

	for (size_t i = 0; i < PLAIT_CONTROL_COUNTS_MAX; i++) {
		struct plait_count *q =
			c[i].thread ? counts_get(to->control, c[i].thread - 1, c[i].site) : NULL;

		if (!q)
			continue;
		q->count = c[i].count;
		own[c[i].thread - 1] = parents[c[i].thread - 1];
	}
}

static void merge_bits(struct area *to, const struct area *from, uint64_t at, uint64_t bytes)
{
	uint64_t *bits = region(to, at);
	const uint64_t *more = region(from, at);

	for (size_t i = 0; i < bytes / sizeof(*bits); i++)
		if (more[i]) /* what is not written stays a hole */
			bits[i] |= more[i];
}

enum { POINT_WORDS = PLAIT_CONTROL_POINTS_SIZE / sizeof(uint64_t) };

uint32_t area_learn(struct area *a, const struct area *from)
{
	assert(a != from);
	merge_bits(a, from, PLAIT_CONTROL_POINTS, PLAIT_CONTROL_POINTS_SIZE);
	merge_bits(a, from, PLAIT_CONTROL_SYNC, PLAIT_CONTROL_SYNC_SIZE);
	merge_counts(a, from);
	return merge_pairs(a, pairs_of(from->control));
}

void area_add_point(struct area *a, uint32_t site)
{
	uint8_t *bits = region(a, PLAIT_CONTROL_POINTS);
	uint64_t bit = site % (PLAIT_CONTROL_POINTS_SIZE * 8);

	bits[bit / 8] |= (uint8_t)(1 << bit % 8);
}

uint64_t area_npoints(const struct area *a)
{
	const uint64_t *bits = region(a, PLAIT_CONTROL_POINTS);
	uint64_t n = 0;

	for (size_t i = 0; i < POINT_WORDS; i++)
		n += (uint64_t)__builtin_popcountll(bits[i]);
	return n;
}
