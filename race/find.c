/* race/find.c - which races there are: recorded runs under several schedules.
 *
 * Every run is recorded in a total order, so the detector (race/detect.h) is exact for it: two
 * accesses that happens-before does not order. Of each race a few executions are kept, both orders,
 * chosen to differ in what the two threads had read from others before: that is where different
 * states before the race come from. */
#include "race/study.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "debug/names.h"
#include "race/predict.h"
#include "trace/trace.h"

enum { INSTANCES = 8 };

/* ---- what the threads had read ---- */

/* Of each thread: a number for the sequence of (read, where its value was written) so far. And one
 * for how far all of them have come. */
struct contexts {
	struct map writers; /* address -> thread and site of the last write, + 1 */
	VEC(uint64_t) threads;
	uint64_t progress;
};

static uint64_t *context_of(struct contexts *c, uint32_t thread)
{
	while (c->threads.len <= thread)
		vec_push(&c->threads, 0);
	return &c->threads.data[thread];
}

static void note(struct contexts *c, const struct event *ev)
{
	uint64_t *mine, writer;

	/* a sum: in which order they came there does not matter */
	c->progress += hash_u64(hash_u64(ev->thread + 1) ^ ev->index);
	if (!plait_is_access(ev->kind))
		return;
	mine = context_of(c, ev->thread);
	writer = map_get_or(&c->writers, ev->address, 0);
	if (plait_reads(ev->kind) && writer && (uint32_t)(writer >> 32) != ev->thread + 1)
		*mine = hash_u64(*mine ^ hash_u64((uint64_t)ev->site << 32 | (uint32_t)writer));
	if (plait_writes(ev->kind))
		*map_put(&c->writers, ev->address, 0) = (uint64_t)(ev->thread + 1) << 32 | ev->site;
}

static int by_first_step(const void *a, const void *b)
{
	const struct race_instance *x = a, *y = b;

	return (x->first.step > y->first.step) - (x->first.step < y->first.step);
}

/* One number per instance, which are sorted by their first step. */
static struct err *find_contexts(struct trace *t, const struct race_instances *found,
				 struct instance_context *ret)
{
	struct contexts c = { 0 };
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;
	size_t i = 0;

	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev && i < found->len) {
		for (; i < found->len && found->data[i].first.step <= ev->clock; i++)
			ret[i] = (struct instance_context){
				.read = *context_of(&c, found->data[i].first.thread) * 3 ^
					*context_of(&c, found->data[i].second.thread),
				.progress = c.progress
			};
		note(&c, ev);
	}
	map_deinit(&c.writers);
	vec_deinit(&c.threads);
	return err;
}

/* ---- instances ---- */

static void copy_run(struct study *s, uint32_t input, const struct run_result *r)
{
	struct study_run *run = vec_add(&s->runs);

	run->input = input;
	run->points = r->points;
	schedule_copy(&r->schedule, &run->schedule);
}

/* How much an execution is like one that we have: 0 not at all, 1 its threads had read the same
 * from others, 2 everybody had also come as far. */
static int likeness(const struct instance *a, const struct instance *b)
{
	if (a->turned != b->turned || a->context.read != b->context.read ||
	    a->first.thread != b->first.thread)
		return 0;
	return 1 + (a->context.progress == b->context.progress);
}

/* Each order of each input has room for half of INSTANCES. An execution that is new in what its
 * threads had read takes the place of one that was not. */
static void add_instance(struct study *s, struct group *g, struct instance *new, uint32_t input)
{
	struct instance *place = NULL;
	size_t same = 0;

	for (size_t i = 0; i < g->instances.len; i++) {
		struct instance *in = &g->instances.data[i];

		if (s->runs.data[in->run].input != input || in->turned != new->turned)
			continue;
		same++;
		new->like = MAX(new->like, likeness(in, new));
		if (in->like)
			place = in;
	}
	if (new->like == 2)
		return;
	if (same < INSTANCES / 2)
		vec_push(&g->instances, *new);
	else if (place && !new->like)
		*place = *new;
}

static struct err *add_instances(struct study *s, uint32_t input, struct trace *t,
				 const struct run_result *r, struct race_instances *found,
				 bool predicted)
{
	_cleanup_(xfreep) struct instance_context *contexts =
		xcalloc(found->len + 1, sizeof(*contexts));
	struct symbols *symbols = NULL;
	bool copied = false;
	struct err *err;

	vec_sort(found, by_first_step);
	err = find_contexts(t, found, contexts);
	if (!err)
		err = symbols_open(t, &symbols);
	for (size_t i = 0; i < found->len && !err; i++) {
		struct instance in = { .run = (uint32_t)(s->runs.len - copied),
				       .first = found->data[i].first,
				       .second = found->data[i].second,
				       .address = found->data[i].address,
				       .context = contexts[i],
				       .predicted = predicted };
		struct group *g = group_of(s, symbols, &in.first, &in.second, &in.turned);

		g->seen += !predicted;
		if (!copied)
			copy_run(s, input, r);
		copied = true;
		add_instance(s, g, &in, input);
	}
	symbols_close(symbols);
	return err;
}

/* The first runs also say which races other orders of their events have (race/predict.h). These are
 * candidates: one that no run of ours meets is not shown. */
enum { PREDICTING_RUNS = 4 };

static struct err *look_at(struct study *s, uint32_t input, struct trace *t,
			   const struct run_result *r, unsigned run)
{
	struct race_instances found = { 0 }, predicted = { 0 };
	struct err *err = race_detect(t, &found);

	if (!err && found.len)
		err = add_instances(s, input, t, r, &found, false);
	race_instances_deinit(&found);
	if (!err && run < PREDICTING_RUNS && !run_failed(r))
		err = race_predict(t, &predicted);
	if (!err && predicted.len)
		err = add_instances(s, input, t, r, &predicted, true);
	race_instances_deinit(&predicted);
	return err;
}

/* ---- runs ---- */

static void measure(struct study *s, uint32_t input, const struct run_result *r)
{
	struct study_input *in = s->inputs.data[input];

	s->result->threads = MAX(s->result->threads, r->nthreads);
	s->result->uncontrolled |= r->uncontrolled;
	s->result->looked++;
	s->result->failed += run_failed(r);
	if (r->outcome == PLAIT_OUTCOME_HANG) {
		s->result->cut_off += !r->stopped;
		return;
	}
	in->longest = MAX(in->longest, r->points);
	s->budget = MAX(s->budget, in->longest * 20 + 2000);
}

/* How long the program itself takes: one run that nobody records. It has fewer points than those in
 * which every access is one, so it says nothing about how long they may be. */
static struct err *time_original(struct study *s)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY };
	struct run_result r = { 0 };
	double begin = clock_seconds();
	struct err *err = study_run(s, 0, &req, &r);

	s->result->original = clock_seconds() - begin;
	if (!err) {
		s->result->threads = MAX(s->result->threads, r.nthreads);
		s->result->uncontrolled |= r.uncontrolled;
	}
	run_result_deinit(&r);
	return err;
}

/* Here every access is a point. As long as no run has come to its end nobody knows how long it is; one
 * that loops without end is stopped by --timeout. */
static uint64_t budget_of(const struct study_input *in)
{
	enum { UNKNOWN = 10000000 };

	return in->longest ? in->longest * 20 + 2000 : UNKNOWN;
}

bool study_is_time_to_judge(const struct study *s)
{
	return study_out_of_time(s) || (s->groups.len && s->o->seconds > 0 &&
					clock_seconds() - s->begin > s->o->seconds / 2);
}

struct err *find_races(struct study *s, uint32_t input)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_STAY, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_POS, PLAIT_STRATEGY_PCT };
	struct err *err = input ? NULL : time_original(s);
	bool one_schedule = false;

	for (unsigned i = 0; i < s->o->runs && !one_schedule && !err && !study_is_time_to_judge(s);
	     i++) {
		struct run_request req = { .strategy = strategies[i % ARRAY_SIZE(strategies)],
					   .seed = s->o->seed + i,
					   .depth = 3,
					   .length = s->inputs.data[input]->longest,
					   .points = PLAIT_POINTS_ALL,
					   .flags = i / ARRAY_SIZE(strategies) % 2
							    ? PLAIT_CONTROL_EAGER
							    : 0, /* a sleep orders nothing */
					   .point_budget = budget_of(s->inputs.data[input]) };
		struct run_result r = { 0 };
		struct trace *t = NULL;

		progress("looking for races: run %u of %u, %zu races", i + 1, s->o->runs,
			 s->groups.len);
		err = study_record(s, input, &req, &r, &t);
		if (!err) {
			measure(s, input, &r);
			err = look_at(s, input, t, &r, i);
		}
		trace_close(t);
		if (!err && s->result->threads < 2) {
			s->result->fails_alone = run_failed(&r);
			one_schedule = true;
		}
		run_result_deinit(&r);
	}
	return err;
}
