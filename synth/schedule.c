/* synth/schedule.c - schedules that lead to the goal, for inputs that are known (001 section 4.4).
 *
 * A deadlock is steered into (steer.c). Otherwise the symbolic machine walks through every interleaving of
 * the program's threads with these inputs, each state once, and says which ends there are. Each end that is
 * a failure is carried out natively under control as soon as it is met, and the run compared with the dump. The
 * first that agrees ends the walk. What the machine
 * cannot execute is left to a short hunt, which comes first when the shipped binary has no lines: then any failure
 * of the kind may be the one, and only the shipped binary can tell. Racing threads that have ended left no stack in the dump; their
 * schedule is found because every shared access is a scheduling point. */
#include "synth/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "solve/solve.h"
#include "sym/sym.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FEW_STATES = 20000,
	STATES_MOST = 2000000,
	SOON = 3000,
	SECONDS_MOST = 20,
	ENDS_MOST = 500, /* that are carried out natively, per input */
};

/* A hunt, or each of its two parts. */
struct effort {
	uint64_t runs, seed;
	double seconds;
};
static const struct effort own_effort = { .runs = 2000, .seconds = 10 };
static const struct effort brief_effort = { .runs = 100,
					    .seconds = 1 }; /* the walk saw every schedule */
static const struct effort first_effort = {
	.runs = 128, .seconds = 1
}; /* of the shipped binary; doubled each round */

/* Of the time that is left, a part: what comes after must have some, too. */
static double seconds_left(const struct study *s, double most)
{
	double left = s->deadline > 0 ? (s->deadline - clock_seconds()) / 2 : most;

	return MAX(MIN(left, most), 0.1);
}

static bool time_is_over(const struct study *s)
{
	return s->deadline > 0 && clock_seconds() > s->deadline;
}

static bool is_wanted(const struct study *s, enum sym_kind kind)
{
	return sym_kind_is_error(kind) &&
	       (s->r->goal.kind == SYNTH_DEADLOCK) == (kind == SYM_DEADLOCK);
}

/* Natively, as the machine proposes. */
static struct err *carry(struct study *s, struct own_run *own, const struct sym_end *e,
			 const char *plait, enum agreement *ret)
{
	struct run_result run = { 0 };
	struct carry_schedule schedule;
	bool followed;
	struct err *err;

	propose_schedule(e, &schedule);
	err = propose_carry_out(own->session, &schedule, &run, &followed);
	free(schedule.ops);
	s->r->attempts++;
	if (!err)
		err = keep_if_better(s, own, &run, plait, ret);
	run_result_deinit(&run);
	return err;
}

/* The walk over schedules of these inputs. */
struct walk {
	struct study *s;
	struct own_run *own;
	const char *plait;
	enum agreement *best;
	struct map tried; /* ends, by what they look like */
	bool complete;
	struct err *err;
};

static bool is_over(const struct walk *w)
{
	return w->err || *w->best >= best_agreement(w->s) || interrupted() || time_is_over(w->s);
}

/* The walk met an end: is it the dump's? Then it need not go on. */
static bool try_end(void *arg, const struct sym_end *e)
{
	struct walk *w = arg;
	size_t known = w->tried.len;

	if (!is_wanted(w->s, e->outcome.kind))
		return false;
	map_put(&w->tried, e->key, 1);
	if (w->tried.len > known && known < ENDS_MOST) {
		w->err = carry(w->s, w->own, e, w->plait, w->best);
		log_verbose("synth: %s: %s", e->outcome.message,
			    *w->best == NOT_SAME ? "another one" : "the dump's");
	}
	return is_over(w);
}

/* The innermost function that the stacks of the goal have in common; NULL = none. */
static const char *common_function(const struct synth_goal *g)
{
	const struct synth_stack *first = &g->stacks.data[0];
	const char *common = NULL;

	for (size_t n = 1; n <= first->points.len; n++) {
		const struct synth_point *p = &first->points.data[first->points.len - n];

		for (size_t i = 1; i < g->stacks.len; i++) {
			const struct synth_stack *k = &g->stacks.data[i];

			if (n > k->points.len ||
			    strcmp(k->points.data[k->points.len - n].own_name, p->own_name) != 0)
				return common;
		}
		common = p->own_name;
	}
	return g->stacks.len > 1 ? common : NULL;
}

/* All schedules, if they are few. Else those with few preemptions, first where the stacks of the dump say (001 section
 * 4.4.2); then all again, for as long as there is time. */
static struct err *walk_all(struct walk *w, struct sym_config *c)
{
	const char *common = common_function(&w->s->r->goal);
	const struct sym_config walks[] = {
		{ .max_states = FEW_STATES },
		{ .preemptions = 1, .within = common, .behind_calls = true, .steps_after = SOON },
		{ .preemptions = 1, .behind_calls = true, .steps_after = SOON },
		{ .preemptions = 2, .within = common, .behind_calls = true, .steps_after = SOON },
		{ .preemptions = 1, .within = common, .steps_after = SOON },
		{ .max_states = STATES_MOST }
	};
	struct err *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(walks) && !err && !w->complete && !is_over(w); i++) {
		struct sym_schedules r = { 0 };

		if (i == 1 && !common)
			continue;
		c->max_states = walks[i].max_states ? walks[i].max_states : STATES_MOST;

		c->preemptions = walks[i].preemptions;
		c->within = walks[i].within;
		c->steps_after = walks[i].steps_after;
		c->behind_calls = walks[i].behind_calls;
		c->max_seconds = seconds_left(w->s, SECONDS_MOST);
		err = sym_schedules(w->s->built, c, &r);
		w->s->r->states += r.states;
		log_verbose("synth: schedules with %u preemptions%s%s%s: %llu states, %zu ends, "
			    "%.2f s%s",
			    c->preemptions, c->behind_calls ? " behind calls" : "",
			    c->within ? " in " : "", c->within ? c->within : "",
			    (unsigned long long)r.states, r.ends.len, r.stats.seconds,
			    r.complete ? ", complete" : "");
		w->complete = r.complete;
		sym_schedules_deinit(&r);
	}
	return err;
}

static struct err *by_machine(struct study *s, const struct synth_inputs *in, struct own_run *own,
			      const char *plait, enum agreement *ret, bool *complete)
{
	struct walk w = { .s = s, .own = own, .plait = plait, .best = ret };
	struct sym_config c = { .args = (const char *const *)own->argv.data,
				.nargs = (uint32_t)own->argv.len - 1,
				.env = (const char *const *)in->env.data,
				.input = in->input,
				.input_len = in->input_len,
				.interrupted = interrupted,
				.host_files = true,
				.all_errors = true,
				.whole_ends = true,
				.ended = try_end,
				.ended_arg = &w };
	struct err *err = study_built(s);

	if (!err)
		err = walk_all(&w, &c);
	map_deinit(&w.tried);
	*complete = w.complete;
	return err ? err : w.err;
}

/* ---- hunting ---- */

typedef struct err *agrees_fn(struct study *s, const struct run_result *r, const char *plait,
			      enum agreement *ret);

/* Hunt for a failure that agrees; a run of it becomes `plait`. */
static struct err *hunt(struct study *s, const struct target *target, const struct effort *e,
			const char *folder, const char *plait, bool all, agrees_fn *agrees,
			struct run_result *run, enum agreement *ret)
{
	char *output = xasprintf("%s/%s", folder, all ? "all" : "first.plait");
	struct hunt_options o = { .target = *target,
				  .strategy = "auto",
				  .runs = e->runs,
				  .seconds = seconds_left(s, e->seconds),
				  .seed = s->o->seed + e->seed,
				  .jobs = 1,
				  .replays = 1,
				  .all = all,
				  .points = PLAIT_ANY,
				  .output = output };
	struct hunt_result r = { 0 };
	struct err *err = hunt_run(&o, &r);

	s->r->attempts += r.runs;
	for (size_t i = 0; !err && i < r.failures.len && *ret != SAME; i++) {
		struct hunt_failure *f = &r.failures.data[i];
		enum agreement now = NOT_SAME;
		struct trace *t = NULL;

		if (!f->plait || f->same < f->tried)
			continue;
		err = agrees(s, &f->result, f->plait, &now);
		if (err || now <= *ret)
			continue;
		*ret = now;
		err = trace_open(f->plait, &t);
		if (!err)
			err = trace_copy(t, NULL, 0, plait);
		trace_close(t);
		run_result_deinit(run);
		*run = f->result;
		f->result = (struct run_result){ 0 };
	}
	hunt_result_deinit(&r);
	free(output);
	return err;
}

/* The first failure mostly is the one; if not, all of them. */
static struct err *by_hunt(struct study *s, const struct target *target, const struct effort *e,
			   const char *folder, const char *plait, agrees_fn *agrees,
			   enum agreement enough, struct run_result *run, enum agreement *ret)
{
	struct err *err = hunt(s, target, e, folder, plait, false, agrees, run, ret);

	return err || *ret >= enough || time_is_over(s) || interrupted()
		       ? err
		       : hunt(s, target, e, folder, plait, true, agrees, run, ret);
}

static struct err *by_own_hunt(struct study *s, struct own_run *own, const struct effort *e,
			       const char *plait, enum agreement *ret)
{
	char *folder = NULL;
	struct err *err = file_temp_dir(&folder);

	if (!err)
		err = by_hunt(s, &own->target, e, folder, plait, run_agrees, best_agreement(s),
			      &s->r->run, ret);
	if (folder)
		file_remove_tree(folder);
	free(folder);
	return err;
}

/* What the machine cannot load can still be run. *complete: it saw every schedule. */
static struct err *by_machine_or_note(struct study *s, const struct synth_inputs *in,
				      struct own_run *own, const char *plait, enum agreement *ret,
				      bool *complete)
{
	struct err *err = by_machine(s, in, own, plait, ret, complete);

	if (!err || interrupted())
		return err;
	names_intern(&s->r->notes, err_message(err));
	err_free(err);
	*complete = false;
	return NULL;
}

struct err *try_schedules(struct study *s, const struct synth_inputs *in, struct own_run *own,
			  const char *plait, enum agreement *ret)
{
	enum agreement enough = best_agreement(s);
	struct err *err = steer(s, own, plait, ret);
	bool complete = false;

	if (err || *ret != NOT_SAME || interrupted())
		return err;
	if (s->r->goal.has_lines) {
		err = by_machine_or_note(s, in, own, plait, ret, &complete);
		if (err || *ret >= enough || interrupted())
			return err;
		return by_own_hunt(s, own, complete ? &brief_effort : &own_effort, plait, ret);
	}
	err = by_own_hunt(s, own, &own_effort, plait, ret);
	if (err || *ret >= enough || interrupted())
		return err;
	return by_machine_or_note(s, in, own, plait, ret, &complete);
}

/* ---- the shipped binary ---- */

/* The run of the plait once more, until it fails: its dump has every thread's callers. */
static struct err *dump_run(const char *plait, const char *core, bool *dumped)
{
	_cleanup_(schedule_deinit) struct schedule schedule = { 0 };
	_cleanup_(target_deinit) struct target target = { 0 };
	struct session *session = NULL;
	struct run_request req;
	struct err *err = target_from_plait(&target, plait, NULL);

	if (!err)
		err = schedule_load(plait, &schedule);
	if (!err)
		err = session_open(&target, &session);
	if (!err) {
		req = schedule_request(&schedule);
		err = session_dump(session, &req, core, dumped);
	}
	session_close(session);
	return err;
}

struct err *shipped_agrees_whole(struct study *s, const struct run_result *r, const char *plait,
				 enum agreement *ret)
{
	char *core = xasprintf("%s.core", plait);
	bool dumped = false, same = false;
	struct err *err = shipped_agrees(s, r, plait, ret);

	if (!err && *ret != NOT_SAME)
		err = dump_run(plait, core, &dumped);
	if (!err && dumped)
		err = dump_agrees(s, core, &same);
	if (!same)
		*ret = NOT_SAME;
	if (dumped)
		s->r->attempts++;
	unlink(core);
	free(core);
	return err;
}

struct err *steer_preloaded(struct study *s, const struct synth_inputs *in, const char *plait,
			    bool *same)
{
	enum agreement agreement = NOT_SAME;
	struct own_run own;
	struct err *err;

	*same = false;
	if (!s->steered.len)
		return NULL;
	err = own_run_open(s, in, stacks_program(s->stacks), &own);
	if (!err)
		err = steer_shipped(s, &own, plait, &agreement);
	*same = !err && agreement == SAME;
	own_run_close(&own);
	return err;
}

struct err *hunt_preloaded(struct study *s, const struct synth_inputs *in, const char *folder,
			   const char *plait, unsigned round, bool *same)
{
	struct effort e = { .runs = first_effort.runs << round,
			    .seed = round,
			    .seconds = first_effort.seconds * (1u << round) };
	enum agreement agreement = NOT_SAME;
	struct run_result run = { 0 };
	struct own_run own;
	struct err *err = own_run_open(s, in, stacks_program(s->stacks), &own);

	if (!err)
		err = by_hunt(s, &own.target, &e, folder, plait, shipped_agrees_whole, SAME, &run,
			      &agreement);
	*same = !err && agreement == SAME;
	run_result_deinit(&run);
	own_run_close(&own);
	return err;
}
