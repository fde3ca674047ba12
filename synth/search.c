/* synth/search.c - inputs that lead to the goal, by symbolic execution of the unplait build's bitcode.
 *
 * Nobody says how long the input is. So there are rounds: each has a number of arguments, their length
 * and a length of standard input, and is searched for a slice of time; short inputs come first and all
 * get longer slices in turn, until one path's input fails natively as the dump says. What the dump
 * knows comes before that: its arguments as they are, with any standard input. A round whose every
 * path was followed is not tried again. */
#include "synth/study.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

enum { OTHERS_MOST = 40, QUERY_MS = 2000, STATES_MOST = 200000, PREEMPTIONS = 2 };

#define FIRST_SLICE 0.25 /* seconds of a round */

struct round {
	bool known; /* the dump's arguments, as they are */
	uint32_t args, arg_len, input, env_len;
	bool done;
};

/* Up to that many arguments and bytes; a program that wants fewer ends its strings early. What matters about
 * a length is mostly how large it is, so each round is much larger than the one before. */
static const struct round rounds[] = {
	{ .known = true, .input = 8 },
	{ .args = 3, .arg_len = 4, .input = 4 },
	{ .args = 4, .arg_len = 12, .input = 8, .env_len = 2 },
	{ .args = 1, .arg_len = 4, .input = 256 },
	{ .args = 6, .arg_len = 6, .input = 8, .env_len = 8 },
	{ .known = true, .input = 64 },
	{ .args = 2, .arg_len = 64, .input = 64 },
	{ .input = 1024 },
	{ .known = true, .input = 512 },
	{ .args = 3, .arg_len = 32, .input = 256, .env_len = 32 },
	{ .args = 1, .arg_len = 256 },
	{ .input = 4096 },
};

struct hunt {
	struct study *study;
	struct names tried; /* stacks of errors off the goal that were run natively */
	struct err *err;
	bool found;
	bool met; /* an error with the goal's stack, which did not fail natively as the dump says */
};

/* ---- an error of the machine, run natively ---- */

static void inputs_of(const struct sym_path *p, struct synth_inputs *ret)
{
	for (uint32_t i = 0; i < p->nargs; i++)
		vec_push(&ret->args, xstrdup(p->args[i]));
	vec_push(&ret->args, NULL);
	for (uint32_t i = 0; i < p->nenv; i++)
		vec_push(&ret->env, xstrdup(p->env[i]));
	vec_push(&ret->env, NULL);
	if (p->input_len) {
		ret->input = xmemdup(p->input, p->input_len + 1);
		ret->input_len = p->input_len;
	}
}

/* An error elsewhere may still be the cause: the machine stops at the first wrong access, and the
 * native program goes on to where the dump was made. One per place is enough. */
static bool is_worth_it(struct hunt *h, const struct sym_path *p, bool at)
{
	size_t known = h->tried.len;

	if (p->outcome.kind ==
	    SYM_EXIT) { /* its threads in another order: one input of each shape */
		char *shape = xasprintf("%u arguments, %zu bytes", p->nargs, p->input_len);

		names_intern(&h->tried, shape);
		free(shape);
		return h->tried.len > known && known < OTHERS_MOST;
	}
	if (at)
		return true;
	names_intern(&h->tried, p->outcome.stack);
	return h->tried.len > known && known < OTHERS_MOST;
}

static bool try_path(void *arg, const struct sym_path *p, bool at)
{
	struct hunt *h = arg;
	struct synth_inputs in = { 0 };

	if (!is_worth_it(h, p, at))
		return false;
	inputs_of(p, &in);
	h->err = attempt(h->study, &in, &h->found);
	h->met |= at && !h->found;
	synth_inputs_deinit(&in);
	return h->found || h->err || interrupted();
}

/* ---- rounds ---- */

static void fill_config(const struct study *s, const struct round *r, const struct names *env,
			double seconds, struct sym_config *ret)
{
	*ret = (struct sym_config){
		.args = (const char *const *)s->known.args.data,
		.nargs = r->known ? (uint32_t)s->known.args.len - 1 : 1,
		.sym_args = r->known ? 0 : r->args,
		.sym_arg_len = r->arg_len,
		.sym_stdin = r->input,
		.sym_env_len = r->env_len,
		.sym_env = r->env_len && env->len ? (const char *const *)env->text : NULL,
		.max_seconds = seconds,
		.max_states = STATES_MOST,
		.query_ms = QUERY_MS,
		.interrupted = interrupted,
		.seed = s->o->seed,
		.order = s->o->guide,
		.preemptions = s->r->goal.kind == SYNTH_CRASH ? 0 : PREEMPTIONS
	};
	if (r->known)
		ret->env = (const char *const *)s->known.env.data;
}

static struct err *run_round(struct hunt *h, struct sym_program *p, const struct sym_aim *aim,
			     struct round *r, const struct names *env, double seconds)
{
	struct study *s = h->study;
	struct sym_result result = { 0 };
	struct sym_config config;
	struct err *err;

	fill_config(s, r, env, seconds, &config);
	err = sym_search(p, &config, aim, try_path, h, &result);
	log_verbose("synth: %u arguments of %u, input %u%s: %llu states, %llu questions, %.2f s%s",
		    config.sym_args, config.sym_arg_len, config.sym_stdin,
		    r->known ? ", known" : "", (unsigned long long)result.stats.states,
		    (unsigned long long)result.stats.queries, result.stats.seconds,
		    result.complete ? ", complete" : "");
	r->done = result.complete;
	s->r->states += result.stats.states;
	s->r->questions += result.stats.queries;
	if (h->found || r->known)
		for (size_t i = 0; i < result.notes.len; i++)
			names_intern(&s->r->notes, result.notes.text[i]);
	sym_result_deinit(&result);
	return err ? err : h->err;
}

static struct err *run_rounds(struct hunt *h, struct sym_program *p, const struct sym_aim *aim)
{
	struct round all[ARRAY_SIZE(rounds)];
	struct study *s = h->study;
	struct names env = { 0 };
	struct err *err = NULL;
	size_t left = ARRAY_SIZE(rounds);

	memcpy(all, rounds, sizeof(all));
	sym_env_names(p, &env);
	if (env.len == env.cap) /* a NULL at the end, as an environment has */
		names_intern(&env, "\xff"), env.len--;
	if (env.text)
		env.text[env.len] = NULL;
	for (double slice = FIRST_SLICE; left && !err && !h->found && !interrupted(); slice *= 2) {
		left = 0;
		for (size_t i = 0; i < ARRAY_SIZE(all) && !err && !h->found && !interrupted();
		     i++) {
			double rest = s->deadline - clock_seconds();

			if (all[i].done || (all[i].known && s->o->facts < SYNTH_FACTS_ARGS))
				continue;
			if (rest <= 0) {
				left = 1;
				break;
			}
			err = run_round(h, p, aim, &all[i], &env, MIN(slice, rest));
			left += !all[i].done;
		}
		if (s->deadline - clock_seconds() <= 0)
			break;
	}
	s->r->exhausted =
		!left && !h->found && !h->met && s->r->goal.has_lines && !err && !interrupted();
	names_deinit(&env);
	return err;
}

/* Of the functions on the stack, at least one but main must be known: or it is another program. */
static struct err *check_program(struct study *s, const struct synth_stack *k)
{
	bool asked = false;

	for (size_t i = 0; i < k->points.len; i++) {
		const char *name = k->points.data[i].own_name;

		if (!strcmp(name, "main"))
			continue;
		asked = true;
		if (sym_has_function(s->program, name))
			return NULL;
	}
	return asked ? err_new(ERR_ENV,
			       "%s has none of the functions on the dump's stack (%s): build it "
			       "from "
			       "the sources of the program that left the dump",
			       s->o->program, k->points.data[0].function)
		     : NULL;
}

/* The stacks of the goal as the machine wants them: outermost frame first, one behind the other. */
struct goals {
	struct sym_goal *stacks;
	struct sym_point *points; /* of all stacks */
};

static void goals_init(struct goals *to, const struct synth_goal *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->stacks.len; i++)
		n += g->stacks.data[i].points.len;
	to->stacks = xcalloc(g->stacks.len + 1, sizeof(*to->stacks));
	to->points = xcalloc(n + 1, sizeof(*to->points));
	n = 0;
	for (size_t i = 0; i < g->stacks.len; i++) {
		const struct synth_stack *k = &g->stacks.data[i];

		to->stacks[i] =
			(struct sym_goal){ .points = to->points + n,
					   .n = (uint32_t)k->points.len,
					   .near_null = g->near_null,
					   .next = i + 1 < g->stacks.len ? &to->stacks[i + 1]
									 : NULL };
		for (size_t p = k->points.len; p-- > 0; n++)
			to->points[n] = (struct sym_point){ k->points.data[p].own_name,
							    k->points.data[p].line };
	}
}

static void goals_deinit(struct goals *g)
{
	free(g->stacks);
	free(g->points);
}

/* All rounds towards the goal, until `deadline`. */
static struct err *search_until(struct hunt *h, const struct sym_goal *goal, double deadline)
{
	struct study *s = h->study;
	struct sym_aim *aim =
		sym_aim_new(s->program, goal, !s->o->guide || !strcmp(s->o->guide, "goal"));
	double all = s->deadline;
	struct err *err;

	s->deadline = deadline;
	err = run_rounds(h, s->program, aim);
	s->deadline = all;
	sym_aim_free(aim);
	names_deinit(&h->tried);
	return err;
}

/* First the way that the crumbs tell. They may be of another run after all: in the second half of the time any
 * way will do. */
static struct err *search_ways(struct hunt *h, struct sym_goal *goal, const struct happened *known)
{
	struct study *s = h->study;
	struct err *err = NULL;

	goal->events = known->events.data;
	goal->nevents = (uint32_t)known->events.len;
	if (goal->nevents) {
		s->r->how = "search, along the log";
		err = search_until(h, goal, (clock_seconds() + s->deadline) / 2);
	}
	if (err || h->found || interrupted())
		return err;
	if (goal->nevents)
		names_intern(&s->r->notes, "the log was given up: no execution that prints it was "
					   "found in half of the time");
	goal->nevents = 0;
	s->r->how = "search";
	return search_until(h, goal, s->deadline);
}

struct err *search(struct study *s)
{
	const struct synth_goal *g = &s->r->goal;
	struct hunt h = { .study = s };
	struct happened known = { 0 };
	struct goals goals = { 0 };
	double start = clock_seconds(), native = s->r->seconds_native;
	struct err *err = study_program(s);

	goals_init(&goals, g);
	if (!err)
		err = check_program(s, &g->stacks.data[0]);
	if (!err)
		err = happened_read(s, &known);
	if (!err)
		err = search_ways(&h, &goals.stacks[0], &known);
	happened_deinit(&known);
	goals_deinit(&goals);
	s->r->seconds_search = clock_seconds() - start - (s->r->seconds_native - native);
	return err;
}
