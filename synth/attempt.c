/* synth/attempt.c - solver proposes, replay disposes: run the program and compare its end with the
 * dump.
 *
 * The unplait build runs under control, without preemption; when it fails as the dump says, it is
 * saved as a plait, which holds the inputs. The shipped binary runs as it is, under ptrace, and leaves
 * a dump of its own, which is compared frame by frame. */
#include "synth/study.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "debug/names.h"
#include "run/director.h"
#include "run/place.h"
#include "trace/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of the shipped binary that are directed, in the first round and in each way; and from which round on switches
 * anywhere are tried, though there are lines. */
enum { DIRECTED_RUNS = 16, SHIPPED_ROUNDS = 5, RANDOM_FROM = 2 };

/* ---- the unplait build ---- */

static bool same_signal(const struct synth_goal *g, const struct run_result *r)
{
	int signal = r->signal ? r->signal : r->failure.signal;
	bool near_null = r->failure.address < 4096 && r->failure.code != SI_KERNEL;

	if (r->outcome == PLAIT_OUTCOME_ASSERT)
		signal = SIGABRT;
	if (signal != g->signal)
		return false;
	return (signal != SIGSEGV && signal != SIGBUS) || g->near_unknown ||
	       near_null == g->near_null;
}

static bool in_library(const struct places *p)
{
	return p->len && p->data[0].library;
}

/* The run failed: in the way that the dump shows? Without lines nothing but the signal can be
 * compared. A library that notices the same misuse (free of a wild pointer) need not end in the same
 * way under our runtime. */
static void same_crash(struct study *s, const struct run_result *r, struct symbols *symbols,
		       enum agreement *ret)
{
	const struct synth_goal *g = &s->r->goal;
	struct places places = { 0 };
	size_t lost = 0;

	places_of_failure_all(symbols, r, &places);
	*ret = stack_agrees(&g->stacks.data[0], &places, &lost);
	if (*ret != NOT_SAME && !same_signal(g, r))
		*ret = g->in_library && in_library(&places) ? MAYBE_SAME : NOT_SAME;
	*ret = MIN(*ret, message_of_run(g->message, r));
	if (*ret != NOT_SAME &&
	    lost) { /* or the way here is another one: the shipped binary can tell */
		*ret = MAYBE_SAME;
		names_intern(&s->r->notes, "the dump lacks frames that calls before a return left "
					   "out (tail calls); all others agree");
	}
	places_deinit(&places);
}

/* Does another thread of the run wait at each place where one of the dump does? */
static void same_deadlock(const struct synth_goal *g, const struct run_result *r,
			  struct symbols *symbols, enum agreement *ret)
{
	bool *used = xcalloc(r->blocked.len + 1, sizeof(*used));
	size_t lost;

	*ret = r->outcome == PLAIT_OUTCOME_DEADLOCK ? SAME : NOT_SAME;
	for (size_t i = 0; i < g->stacks.len && *ret != NOT_SAME; i++) {
		enum agreement best = NOT_SAME;

		for (size_t k = 0; k < r->blocked.len && best == NOT_SAME; k++) {
			struct places places = { 0 };

			if (used[k])
				continue;
			places_of_blocked_all(symbols, &r->blocked.data[k], &places);
			best = stack_agrees(&g->stacks.data[i], &places, &lost);
			used[k] = best != NOT_SAME;
			places_deinit(&places);
		}
		*ret = MIN(*ret, best);
	}
	free(used);
}

struct err *run_agrees(struct study *s, const struct run_result *r, const char *plait,
		       enum agreement *ret)
{
	const struct synth_goal *g = &s->r->goal;
	struct symbols *symbols = NULL;
	struct trace *t = NULL;
	struct err *err;

	*ret = NOT_SAME;
	if (!run_failed(r) || (g->kind != SYNTH_DEADLOCK) != (r->outcome != PLAIT_OUTCOME_DEADLOCK))
		return NULL;
	if (!g->has_lines) {
		*ret = MAYBE_SAME;
		return NULL;
	}
	err = trace_open(plait, &t);
	if (!err)
		err = symbols_open(t, &symbols);
	if (!err && g->kind == SYNTH_DEADLOCK)
		same_deadlock(g, r, symbols, ret);
	else if (!err)
		same_crash(s, r, symbols, ret);
	symbols_close(symbols);
	trace_close(t);
	return err;
}

/* A plait of our folder becomes a result, at `to`. */
static struct err *keep_plait(const char *plait, const char *to, char **ret)
{
	struct trace *t = NULL;
	struct err *err = trace_open(plait, &t);

	if (!err)
		err = trace_copy(t, NULL, 0, to);
	trace_close(t);
	if (!err)
		*ret = xstrdup(to);
	return err;
}

/* "synth.shipped.plait" for "synth.plait". */
static char *shipped_name(const char *output)
{
	size_t n = strlen(output), end = strlen(".plait");
	bool has = n > end && !strcmp(output + n - end, ".plait");

	return xasprintf("%.*s.shipped.plait", (int)(has ? n - end : n), output);
}

void own_run_fill(struct study *s, const struct synth_inputs *in, const char *program,
		  struct own_run *ret)
{
	bool shipped = program == stacks_program(s->stacks);

	*ret = (struct own_run){ .target = { .input_data = in->input,
					     .input_len = in->input_len,
					     .timeout = s->o->timeout } };
	for (size_t i = 0; i + 1 < in->env.len; i++)
		vec_push(&ret->env, in->env.data[i]);
	if (shipped && s->loader)
		vec_push(&ret->env, s->loader);
	vec_push(&ret->env, NULL);
	ret->target.env = ret->env.len > 1 ? ret->env.data : NULL;
	for (size_t i = 0; i < in->args.len; i++)
		vec_push(&ret->argv, i == 0 ? (char *)program : in->args.data[i]);
	ret->target.argv = ret->argv.data;
}

double patience_with_shipped(const struct study *s)
{
	return MIN(s->o->timeout, MAX(0.5, 10 * s->longest));
}

struct err *own_run_open(struct study *s, const struct synth_inputs *in, const char *program,
			 struct own_run *ret)
{
	own_run_fill(s, in, program, ret);
	if (program == stacks_program(s->stacks))
		ret->target.timeout = patience_with_shipped(s);
	return session_open(&ret->target, &ret->session);
}

void own_run_close(struct own_run *o)
{
	session_close(o->session);
	vec_deinit(&o->argv);
	vec_deinit(&o->env);
}

enum agreement best_agreement(const struct study *s)
{
	return s->r->goal.has_lines ? SAME : MAYBE_SAME;
}

struct err *keep_if_better(struct study *s, struct own_run *own, struct run_result *run,
			   const char *plait, enum agreement *ret)
{
	char *fresh = xasprintf("%s.fresh", plait);
	enum agreement now = NOT_SAME;
	struct err *err = NULL;

	if (run_failed(run))
		err = save_plait(own->session, run, fresh);
	if (!err && run_failed(run))
		err = run_agrees(s, run, fresh, &now);
	if (!err && now > *ret) {
		err = rename(fresh, plait) ? err_errno(errno, "%s", plait) : NULL;
		run_result_deinit(&s->r->run);
		s->r->run = *run;
		*ret = now;
	} else {
		run_result_deinit(run);
	}
	*run = (struct run_result){ 0 };
	free(fresh);
	return err;
}

/* First without preemption, then, if there are threads, whatever schedules there are. */
static struct err *run_instrumented(struct study *s, const struct synth_inputs *in,
				    const char *plait, enum agreement *ret)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW };
	struct own_run own;
	struct err *err = own_run_open(s, in, s->o->program, &own);
	double start = clock_seconds();

	*ret = NOT_SAME;
	if (!err)
		err = session_run(own.session, &req, &s->r->run);
	s->longest = MAX(s->longest, clock_seconds() - start);
	s->r->attempts++;
	if (!err && run_failed(&s->r->run)) {
		err = save_plait(own.session, &s->r->run, plait);
		if (!err)
			err = run_agrees(s, &s->r->run, plait, ret);
	}
	if (!err && *ret < best_agreement(s) && s->r->run.max_alive > 1)
		err = try_schedules(s, in, &own, plait, ret);
	own_run_close(&own);
	return err;
}

/* ---- as they are, under ptrace ---- */

/* Run a binary with these inputs; *dumped: it failed or hangs, and left a dump at `core`. */
static struct err *run_plain(struct study *s, const struct synth_inputs *in, const char *program,
			     const char *folder, const char *core, bool *dumped)
{
	_cleanup_(environment_deinit) struct environment env = { 0 };
	char *input = xasprintf("%s/input", folder);
	struct director_options o = {
		.argv = in->args.data, .program = program, .timeout = s->o->timeout, .core = core
	};
	struct director_result result = { 0 };
	struct err *err = NULL;

	environment_copy(&env);
	for (size_t i = 0; i + 1 < in->env.len; i++)
		environment_put(&env, in->env.data[i]);
	if (s->loader && program == stacks_program(s->stacks))
		environment_put(&env, s->loader);
	o.env = env.data;
	if (in->input) {
		err = file_write(input, in->input, in->input_len);
		o.in = input;
	}
	if (!err)
		err = director_run(&o, &result);
	s->r->attempts++;
	*dumped = result.dumped;
	free(input);
	return err;
}

/* The unplait build once more, for a dump of it: the runtime walks stacks by frame pointers alone, and
 * they end early in libraries and behind wild jumps. With one thread there is one schedule. */
static struct err *look_closer(struct study *s, const struct synth_inputs *in, const char *folder,
			       enum agreement *ret)
{
	char *core = xasprintf("%s/core.own", folder);
	bool dumped = false;
	struct err *err = run_plain(s, in, s->o->program, folder, core, &dumped);

	if (!err && dumped)
		err = crash_agrees(s, core, s->o->program, ret);
	free(core);
	return err;
}

/* The shipped binary once more with the runtime preloaded, to be replayed. */
static struct err *save_shipped(struct study *s, const struct synth_inputs *in, const char *plait)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW };
	struct run_result run = { 0 };
	struct own_run own;
	struct err *err = own_run_open(s, in, stacks_program(s->stacks), &own);

	if (!err)
		err = session_run(own.session, &req, &run);
	s->r->attempts++;
	if (!err && run_failed(&run) && same_signal(&s->r->goal, &run))
		err = save_plait(own.session, &run, plait);
	run_result_deinit(&run);
	own_run_close(&own);
	return err;
}

static struct err *run_shipped(struct study *s, const struct synth_inputs *in, const char *folder,
			       const char *plait, bool *same)
{
	char *core = xasprintf("%s/core", folder);
	bool dumped = false;
	struct err *err = run_plain(s, in, stacks_program(s->stacks), folder, core, &dumped);

	*same = false;
	if (!err && dumped)
		err = dump_agrees(s, core, same);
	if (!err && *same)
		err = save_shipped(s, in, plait);
	free(core);
	return err;
}

/* One round of the ways to bring the shipped binary into the dump's end. */
static struct err *shipped_round(struct study *s, const struct synth_inputs *in, const char *folder,
				 struct directing *d, unsigned round, const char *plait, bool *same)
{
	unsigned runs = DIRECTED_RUNS << round;
	double seconds = 1u << round;
	struct err *err = direct_mapped(d, runs, seconds, same);
	bool directed = *same;

	if (!err && !*same)
		err = hunt_preloaded(s, in, folder, plait, round, same);
	if (!err && !*same && (round >= RANDOM_FROM || !s->r->goal.has_lines)) {
		err = direct_random(d, runs, seconds, same);
		directed = *same;
	}
	return err || !directed ? err : direct_save(d, plait);
}

/* With threads: where the unplait build was steered, so is this one, with the runtime preloaded. Else nobody knows which
 * way leads to the dump, and the one that does mostly gets there soon. So they take turns, and each round is twice as
 * long as the last one: its switches are put where ours are; it is hunted; it is stepped with switches anywhere. */
static struct err *run_shipped_threads(struct study *s, const struct synth_inputs *in,
				       const char *folder, const char *own_plait, const char *plait,
				       bool *same)
{
	struct directing *d = NULL;
	struct err *err = steer_preloaded(s, in, plait, same);

	if (!err && !*same)
		err = direct_open(s, in, folder, own_plait, &d);
	for (unsigned round = 0; !err && !*same && round < SHIPPED_ROUNDS && !interrupted() &&
				 !(s->deadline > 0 && clock_seconds() > s->deadline);
	     round++)
		err = shipped_round(s, in, folder, d, round, plait, same);
	direct_close(d);
	return err;
}

/* ---- both ---- */

static void keep_inputs(struct synth_result *r, const struct synth_inputs *in)
{
	synth_inputs_deinit(&r->inputs);
	for (size_t i = 0; i < in->args.len; i++)
		vec_push(&r->inputs.args, in->args.data[i] ? xstrdup(in->args.data[i]) : NULL);
	for (size_t i = 0; i < in->env.len; i++)
		vec_push(&r->inputs.env, in->env.data[i] ? xstrdup(in->env.data[i]) : NULL);
	if (in->input)
		r->inputs.input = xmemdup(in->input, in->input_len + 1);
	r->inputs.input_len = in->input_len;
}

/* Both plaits, where the user wants them. */
static struct err *keep_plaits(struct study *s, const char *plait, const char *shipped)
{
	char *name;
	struct err *err;

	if (!s->o->output)
		return NULL;
	err = keep_plait(plait, s->o->output, &s->r->plait);
	if (err || !s->r->shipped || !file_exists(shipped))
		return err;
	name = shipped_name(s->o->output);
	err = keep_plait(shipped, name, &s->r->shipped_plait);
	free(name);
	return err;
}

/* The unplait build does not fail with what the dump knows. If the shipped binary does, the user should hear
 * of it; it is no finding, because it is true of a program that has been mended, too. */
static struct err *note_shipped_alone(struct study *s, const struct synth_inputs *in,
				      const char *folder, const char *plait)
{
	bool shipped = false;
	struct err *err = run_shipped(s, in, folder, plait, &shipped);

	if (!err && shipped)
		names_intern(&s->r->notes, "with the input in the dump the shipped binary fails, "
					   "and the unplait build "
					   "does not: its source was mended, or its compiler "
					   "changed what it does (build it with -O0, or with the "
					   "options of the shipped one)");
	return err;
}

struct err *attempt(struct study *s, const struct synth_inputs *in, bool *same)
{
	double start = clock_seconds();
	enum agreement agreement = NOT_SAME;
	bool shipped = false;
	char *folder = NULL, *plait, *shipped_plait;
	struct err *err = file_temp_dir(&folder);

	*same = false;
	if (err)
		return err;
	plait = xasprintf("%s/run.plait", folder);
	shipped_plait = xasprintf("%s/shipped.plait", folder);
	err = run_instrumented(s, in, plait, &agreement);
	if (!err && agreement != SAME && run_failed(&s->r->run) && s->r->run.max_alive <= 1 &&
	    s->r->goal.has_lines && message_of_run(s->r->goal.message, &s->r->run) != NOT_SAME)
		err = look_closer(s, in, folder, &agreement);
	if (!err && agreement != NOT_SAME)
		err = s->r->run.max_alive > 1
			      ? run_shipped_threads(s, in, folder, plait, shipped_plait, &shipped)
			      : run_shipped(s, in, folder, shipped_plait, &shipped);
	else if (!err && in == &s->known && !run_failed(&s->r->run) && s->r->run.max_alive <= 1)
		err = note_shipped_alone(s, in, folder, shipped_plait);
	*same = !err && (agreement == SAME || (agreement == MAYBE_SAME && shipped));
	if (*same) {
		s->r->found = true;
		s->r->shipped = shipped;
		keep_inputs(s->r, in);
		err = keep_plaits(s, plait, shipped_plait);
	}
	file_remove_tree(folder);
	free(folder);
	free(plait);
	free(shipped_plait);
	s->r->seconds_native += clock_seconds() - start;
	return err;
}
