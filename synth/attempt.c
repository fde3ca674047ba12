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
#include "base/log.h"
#include "debug/names.h"
#include "run/director.h"
#include "run/place.h"
#include "trace/trace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- the unplait build ---- */

/* Where the thread that failed was, by the plait's symbols. */
static struct err *failure_places(const struct run_result *r, const char *plait, struct places *ret)
{
	struct trace *t = NULL;
	struct symbols *symbols = NULL;
	struct err *err = trace_open(plait, &t);

	if (!err)
		err = symbols_open(t, &symbols);
	if (!err)
		places_of_failure_all(symbols, r, ret);
	symbols_close(symbols);
	trace_close(t);
	return err;
}

static bool same_signal(const struct synth_goal *g, const struct run_result *r)
{
	int signal = r->signal ? r->signal : r->failure.signal;
	bool near_null = r->failure.address < 4096 && r->failure.code != SI_KERNEL;

	if (r->outcome == PLAIT_OUTCOME_ASSERT)
		signal = SIGABRT;
	if (signal != g->signal)
		return false;
	return (signal != SIGSEGV && signal != SIGBUS) || near_null == g->near_null;
}

static bool in_library(const struct places *p)
{
	return p->len && p->data[0].library;
}

/* The run failed: in the way that the dump shows? Without lines nothing but the signal can be
 * compared. A library that notices the same misuse (free of a wild pointer) need not end in the same
 * way under our runtime. */
static struct err *same_crash(struct study *s, const struct run_result *r, const char *plait,
			      enum agreement *ret)
{
	const struct synth_goal *g = &s->r->goal;
	struct places places = { 0 };
	struct err *err;
	size_t lost = 0;

	*ret = NOT_SAME;
	if (!g->has_lines) {
		*ret = MAYBE_SAME;
		return NULL;
	}
	err = failure_places(r, plait, &places);
	if (!err)
		*ret = stack_agrees(&g->stacks.data[0], &places, &lost);
	if (*ret != NOT_SAME && !same_signal(g, r))
		*ret = g->in_library && in_library(&places) ? MAYBE_SAME : NOT_SAME;
	if (*ret != NOT_SAME && lost)
		names_intern(&s->r->notes, "the dump lacks frames that calls before a return left "
					   "out (tail calls); all others agree");
	places_deinit(&places);
	return err;
}

/* The plait that the failing run left in our folder becomes the result. */
static struct err *keep_plait(struct study *s, const char *plait)
{
	struct trace *t = NULL;
	struct err *err;

	if (!s->o->output)
		return NULL;
	err = trace_open(plait, &t);
	if (!err)
		err = trace_copy(t, NULL, 0, s->o->output);
	trace_close(t);
	if (!err)
		s->r->plait = xstrdup(s->o->output);
	return err;
}

static struct err *run_instrumented(struct study *s, const struct synth_inputs *in,
				    const char *plait, enum agreement *ret)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW };
	struct target target = { .env = in->env.len > 1 ? in->env.data : NULL,
				 .input_data = in->input,
				 .input_len = in->input_len,
				 .timeout = s->o->timeout };
	struct session *session = NULL;
	VEC(char *) argv = { 0 };
	struct err *err;

	for (size_t i = 0; i < in->args.len; i++)
		vec_push(&argv, i == 0 ? (char *)s->o->program : in->args.data[i]);
	target.argv = argv.data;
	err = session_open(&target, &session);
	if (!err)
		err = session_run(session, &req, &s->r->run);
	s->r->attempts++;
	*ret = NOT_SAME;
	if (!err && run_failed(&s->r->run)) {
		err = save_plait(session, &s->r->run, plait);
		if (!err)
			err = same_crash(s, &s->r->run, plait, ret);
	}
	session_close(session);
	vec_deinit(&argv);
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

static struct err *run_shipped(struct study *s, const struct synth_inputs *in, const char *folder,
			       bool *same)
{
	char *core = xasprintf("%s/core", folder);
	bool dumped = false;
	struct err *err = run_plain(s, in, stacks_program(s->stacks), folder, core, &dumped);

	*same = false;
	if (!err && dumped)
		err = dump_agrees(s, core, same);
	free(core);
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

struct err *attempt(struct study *s, const struct synth_inputs *in, bool *same)
{
	double start = clock_seconds();
	enum agreement agreement = NOT_SAME;
	bool shipped = false;
	char *folder = NULL, *plait;
	struct err *err = file_temp_dir(&folder);

	*same = false;
	if (err)
		return err;
	plait = xasprintf("%s/run.plait", folder);
	err = run_instrumented(s, in, plait, &agreement);
	if (!err && agreement != SAME && run_failed(&s->r->run) && s->r->run.nthreads <= 1 &&
	    s->r->goal.has_lines)
		err = look_closer(s, in, folder, &agreement);
	if (!err && agreement != NOT_SAME)
		err = run_shipped(s, in, folder, &shipped);
	*same = !err && (agreement == SAME || (agreement == MAYBE_SAME && shipped));
	if (*same) {
		s->r->found = true;
		s->r->shipped = shipped;
		keep_inputs(s->r, in);
		err = keep_plait(s, plait);
	}
	file_remove_tree(folder);
	free(folder);
	free(plait);
	s->r->seconds_native += clock_seconds() - start;
	return err;
}
