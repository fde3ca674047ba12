/* synth/search.c - inputs that lead to the goal, by symbolic execution of the unplait build's bitcode.
 *
 * Nobody says how long the input is. So there are rounds: each has a number of arguments, their length
 * and a length of standard input, and is searched for a slice of time; short inputs come first and all
 * get longer slices in turn, until one path's input fails natively as the dump says. What the dump
 * knows comes before that: its arguments as they are, with any standard input. A round whose every
 * path was followed is not tried again.
 *
 * A shipped binary without lines does not say which stack of the program the dump's is: the likely ones (align.h) are
 * *routes*, which take turns, and so does a search without any direction. */
#include "synth/align.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

enum { OTHERS_MOST = 40, QUERY_MS = 2000, STATES_MOST = 200000, PREEMPTIONS = 2, ROUTES_MOST = 7 };

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

/* Stacks to reach, one per thread that matters. */
struct route {
	struct sym_goal *stacks;
	struct sym_point *points; /* of all stacks */
	struct sym_aim *aim;
	struct round rounds[ARRAY_SIZE(rounds)];
};
struct routes VEC_FIELDS(struct route);

struct hunt {
	struct study *study;
	struct routes routes; /* the likeliest first */
	struct names tried;   /* stacks of errors off the goal that were run natively */
	struct map inputs;    /* that were run natively, by hash */
	struct err *err;
	bool found;
	bool first; /* pass over all rounds */
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
	    SYM_EXIT) { /* its threads in another order: one input of each shape, the promising ones first */
		char *shape;

		if (p->lacks && h->first)
			return false;
		shape = xasprintf("%u arguments, %zu bytes", p->nargs, p->input_len);

		names_intern(&h->tried, shape);
		free(shape);
		return h->tried.len > known && known < OTHERS_MOST;
	}
	if (at)
		return true;
	names_intern(&h->tried, p->outcome.stack);
	return h->tried.len > known && known < OTHERS_MOST;
}

/* Routes share many paths; to run the same input again tells nothing new. */
static bool is_new_input(struct hunt *h, const struct synth_inputs *in)
{
	uint64_t hash = hash_bytes(in->input ? in->input : "", in->input_len, in->args.len);
	size_t known = h->inputs.len;

	for (size_t i = 0; i + 1 < in->args.len; i++)
		hash = hash_bytes(in->args.data[i], strlen(in->args.data[i]) + 1, hash);
	for (size_t i = 0; i + 1 < in->env.len; i++)
		hash = hash_bytes(in->env.data[i], strlen(in->env.data[i]) + 1, hash);
	map_put(&h->inputs, hash, 1);
	return h->inputs.len > known;
}

static bool try_path(void *arg, const struct sym_path *p, bool at)
{
	struct hunt *h = arg;
	struct synth_inputs in = { 0 };

	if (!is_worth_it(h, p, at))
		return false;
	inputs_of(p, &in);
	if (!is_new_input(h, &in)) {
		h->met |= at; /* and it was not the dump's then */
		synth_inputs_deinit(&in);
		return false;
	}
	h->err = attempt(h->study, &in, &h->found);
	h->met |= at && !h->found;
	synth_inputs_deinit(&in);
	return h->found || h->err || interrupted() || clock_seconds() > h->study->deadline;
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

static struct err *run_round(struct hunt *h, const struct sym_aim *aim, struct round *r,
			     const struct names *env, double seconds)
{
	struct study *s = h->study;
	struct sym_result result = { 0 };
	struct sym_config config;
	struct err *err;

	fill_config(s, r, env, seconds, &config);
	err = sym_search(s->program, &config, aim, try_path, h, &result);
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

static bool is_over(const struct hunt *h, const struct err *err)
{
	return err || h->found || interrupted() || h->study->deadline - clock_seconds() <= 0;
}

/* Each round of each route once. Returns how many are not done. */
static struct err *run_pass(struct hunt *h, const struct names *env, double slice, size_t *left)
{
	const struct study *s = h->study;
	struct err *err = NULL;

	*left = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rounds); i++)
		for (size_t k = 0; k < h->routes.len; k++) {
			struct round *r = &h->routes.data[k].rounds[i];

			if (r->done || (r->known && s->o->facts < SYNTH_FACTS_ARGS))
				continue;
			if (!is_over(h, err))
				err = run_round(h, h->routes.data[k].aim, r, env,
						MIN(slice, s->deadline - clock_seconds()));
			*left += !r->done;
		}
	return err;
}

static struct err *run_rounds(struct hunt *h)
{
	struct study *s = h->study;
	struct names env = { 0 };
	struct err *err = NULL;
	size_t left = 1;

	for (size_t k = 0; k < h->routes.len; k++)
		memcpy(h->routes.data[k].rounds, rounds, sizeof(rounds));
	sym_env_names(s->program, &env);
	if (env.len == env.cap) /* a NULL at the end, as an environment has */
		names_intern(&env, "\xff"), env.len--;
	if (env.text)
		env.text[env.len] = NULL;
	for (double slice = FIRST_SLICE; left && !is_over(h, err); slice *= 2) {
		h->first = slice == FIRST_SLICE;
		err = run_pass(h, &env, slice, &left);
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

/* ---- routes ---- */

/* A route with room for the stacks of the goal; near_null is the goal's. */
static struct route *add_route(struct hunt *h, size_t npoints)
{
	const struct synth_goal *g = &h->study->r->goal;
	struct route *r = vec_add(&h->routes);

	r->stacks = xcalloc(g->stacks.len + 1, sizeof(*r->stacks));
	r->points = xcalloc(npoints + 1, sizeof(*r->points));
	for (size_t i = 0; i < g->stacks.len; i++)
		r->stacks[i] = (struct sym_goal){ .points = r->points,
						  .near_null = g->near_null,
						  .next = i + 1 < g->stacks.len ? &r->stacks[i + 1]
										: NULL };
	return r;
}

/* A frame whose line the dump does not know, and one that it may have. */
struct guess {
	size_t stack, point;
	unsigned line;
};

/* The stacks of the goal as the machine wants them: outermost frame first, one behind the other. */
static void add_known_route(struct hunt *h, const struct guess *guess)
{
	const struct synth_goal *g = &h->study->r->goal;
	struct route *r;
	size_t n = 0;

	for (size_t i = 0; i < g->stacks.len; i++)
		n += g->stacks.data[i].points.len;
	r = add_route(h, n);
	n = 0;
	for (size_t i = 0; i < g->stacks.len; i++) {
		const struct synth_stack *k = &g->stacks.data[i];

		r->stacks[i].points = r->points + n;
		r->stacks[i].n = (uint32_t)k->points.len;
		for (size_t p = k->points.len; p-- > 0; n++) {
			bool guessed = guess && guess->stack == i && guess->point == p;

			r->points[n] = (struct sym_point){ k->points.data[p].own_name,
							   guessed ? guess->line
								   : k->points.data[p].line };
		}
	}
}

/* The lines at which `caller` calls `callee`: up to `most`. */
static uint32_t lines_of_calls(struct study *s, const char *caller, const char *callee,
			       unsigned *ret, uint32_t most)
{
	struct sym_sketches all = { 0 };
	uint32_t n = 0;

	sym_sketches_init(&all, s->program);
	for (size_t i = 0; i < all.len; i++) {
		const struct sym_sketch *k = &all.data[i];

		if (!k->name || strcmp(k->name, caller) != 0)
			continue;
		for (size_t m = 0; m < k->marks.len && n < most; m++) {
			const struct sym_mark *mark = &k->marks.data[m];
			const char *to =
				mark->kind == SYM_MARK_CALL ? all.data[mark->callee].name : NULL;
			struct sym_point at;
			bool known =
				!to || strcmp(to, callee) != 0 ||
				!sym_points_at(s->program,
					       (struct sym_place){ (uint32_t)i, mark->pc }, &at, 1);

			for (uint32_t j = 0; j < n && !known; j++)
				known = ret[j] == at.line;
			if (!known && !strcmp(at.function, caller))
				ret[n++] = at.line;
		}
	}
	sym_sketches_deinit(&all);
	return n;
}

/* An optimiser made one call of several, and its line is none of theirs: each of them is a route. Without them nothing
 * but the function would be known, and what leads to one of the calls alone would be no need of the search. */
static void add_guessed_routes(struct hunt *h)
{
	const struct synth_goal *g = &h->study->r->goal;
	unsigned lines[ROUTES_MOST];

	for (size_t i = 0; i < g->stacks.len && !h->routes.len; i++)
		for (size_t p = 1; p < g->stacks.data[i].points.len && !h->routes.len; p++) {
			const struct synth_point *at = &g->stacks.data[i].points.data[p];
			uint32_t n = at->line ? 0
					      : lines_of_calls(h->study, at->own_name,
							       at[-1].own_name, lines, ROUTES_MOST);

			for (uint32_t k = 0; k < n; k++)
				add_known_route(h, &(struct guess){ i, p, lines[k] });
		}
}

/* Number `which` of the likely stacks of each thread, or its last. */
static void add_likely_route(struct hunt *h, const struct alignments *all, size_t which)
{
	size_t nstacks = h->study->r->goal.stacks.len, n = 0;
	struct route *r;

	for (size_t i = 0; i < nstacks; i++)
		n += all[i].len ? all[i].data[MIN(which, all[i].len - 1)].points.len : 0;
	r = add_route(h, n);
	n = 0;
	for (size_t i = 0; i < nstacks; i++) {
		const struct alignment *a =
			all[i].len ? &all[i].data[MIN(which, all[i].len - 1)] : NULL;

		r->stacks[i].points = r->points + n;
		r->stacks[i].n = a ? (uint32_t)a->points.len : 0;
		for (size_t p = 0; a && p < a->points.len; p++)
			r->points[n++] = a->points.data[p];
	}
}

static struct err *add_likely_routes(struct hunt *h)
{
	struct study *s = h->study;
	size_t nstacks = s->r->goal.stacks.len, most = 0;
	struct alignments *all = xcalloc(nstacks + 1, sizeof(*all));
	struct err *err = NULL;

	for (size_t i = 0; i < nstacks && !err; i++) {
		err = align_stack(s, i, ROUTES_MOST, &all[i]);
		most = MAX(most, all[i].len);
	}
	for (size_t i = 0; i < most && !err; i++)
		add_likely_route(h, all, i);
	if (!err && most) {
		char *note = xasprintf(
			"the shipped binary has no lines: %zu stack%s of %s %s like the dump's by "
			"calls and texts, and %s aimed at",
			most, most > 1 ? "s" : "", s->o->program, most > 1 ? "look" : "looks",
			most > 1 ? "were" : "was");

		names_intern(&s->r->notes, note);
		free(note);
	}
	for (size_t i = 0; i < nstacks; i++)
		alignments_deinit(&all[i]);
	free(all);
	return err;
}

static struct err *add_routes(struct hunt *h)
{
	const struct synth_goal *g = &h->study->r->goal;
	const char *guide = h->study->o->guide;
	struct err *err = NULL;

	if (!g->has_lines && (!guide || !strcmp(guide, "goal")))
		err = add_likely_routes(h);
	else if (g->has_lines)
		add_guessed_routes(h);
	if (!g->has_lines || !h->routes.len)
		add_known_route(h, NULL);
	return err;
}

static void routes_deinit(struct routes *all)
{
	for (size_t i = 0; i < all->len; i++) {
		free(all->data[i].stacks);
		free(all->data[i].points);
	}
	vec_deinit(all);
}

/* ---- the whole ---- */

static void tell_stored(struct hunt *h)
{
	uint32_t n = 0;
	char *text;

	for (size_t i = 0; i < h->routes.len; i++)
		n = MAX(n, sym_aim_stored(h->routes.data[i].aim));
	if (!n)
		return;
	text = xasprintf("values of global variables; the search looks for stores of %u of them",
			 n);
	names_intern(&h->study->r->facts, text);
	free(text);
}

/* All rounds towards the goal, until `deadline`. */
static struct err *search_until(struct hunt *h, double deadline)
{
	struct study *s = h->study;
	double all = s->deadline;
	struct err *err;

	for (size_t i = 0; i < h->routes.len; i++)
		h->routes.data[i].aim = sym_aim_new(s->program, h->routes.data[i].stacks,
						    !s->o->guide || !strcmp(s->o->guide, "goal"));
	tell_stored(h);
	s->deadline = deadline;
	err = run_rounds(h);
	s->deadline = all;
	for (size_t i = 0; i < h->routes.len; i++)
		sym_aim_free(h->routes.data[i].aim);
	names_deinit(&h->tried);
	map_deinit(&h->inputs);
	return err;
}

static void set_stored(struct hunt *h)
{
	for (size_t i = 0; i < h->routes.len; i++) {
		h->routes.data[i].stacks[0].stored = h->study->stored.data;
		h->routes.data[i].stacks[0].nstored = (uint32_t)h->study->stored.len;
	}
}

static void set_events(struct hunt *h, const struct happened *known)
{
	for (size_t i = 0; i < h->routes.len; i++) {
		h->routes.data[i].stacks[0].events = known ? known->events.data : NULL;
		h->routes.data[i].stacks[0].nevents = known ? (uint32_t)known->events.len : 0;
	}
}

/* Functions that the dump says were never called. Returns how many of them the program calls. */
static uint32_t set_uncalled(struct hunt *h, bool use)
{
	struct study *s = h->study;
	uint32_t n = sym_never_called(s->program, use ? &s->uncalled : NULL);
	char *text;

	if (!n)
		return 0;
	text = xasprintf("%u librar%s never called: %s not bound (evidence, believed for half of "
			 "the time)",
			 n, n > 1 ? "y functions were" : "y function was",
			 n > 1 ? "their slots are" : "its slot is");
	names_intern(&s->r->facts, text);
	free(text);
	return n;
}

/* First the way that the crumbs tell, without functions that were never called. They may be of another run after all, and
 * compilers replace calls: in the second half of the time any way is taken. */
static struct err *search_ways(struct hunt *h, const struct happened *known)
{
	struct study *s = h->study;
	bool narrow = set_uncalled(h, true) > 0;
	struct err *err = NULL;

	set_events(h, known);
	s->r->how = known->events.len ? "search, along the log" : "search";
	if (known->events.len || narrow)
		err = search_until(h, (clock_seconds() + s->deadline) / 2);
	s->r->exhausted = false;
	set_uncalled(h, false);
	if (err || h->found || interrupted())
		return err;
	if (known->events.len)
		names_intern(&s->r->notes, "the log was given up: no execution that prints it was "
					   "found in half of the time");
	if (narrow)
		names_intern(&s->r->notes, "that functions were never called was given up: nothing "
					   "was found without them");
	set_events(h, NULL);
	s->r->how = "search";
	return search_until(h, s->deadline);
}

/* What an optimiser did to the branches may be why nothing was found. */
static void note_optimised(struct study *s)
{
	char *text;

	if (s->r->found || s->r->exhausted || !sym_is_optimised(s->program))
		return;
	text = xasprintf(
		"%s was optimised, which hides ways from the search: build it with -O0, or with "
		"`unplait cc --unplait-source-bitcode`",
		s->o->program);
	names_intern(&s->r->notes, text);
	free(text);
}

struct err *search(struct study *s)
{
	struct hunt h = { .study = s };
	struct happened known = { 0 };
	double start = clock_seconds(), native = s->r->seconds_native;
	struct err *err = study_program(s);

	if (!err)
		err = check_program(s, &s->r->goal.stacks.data[0]);
	if (!err)
		err = add_routes(&h);
	if (!err)
		err = happened_read(s, &known);
	if (!err)
		set_stored(&h);
	if (!err)
		err = search_ways(&h, &known);
	if (!err)
		note_optimised(s);
	happened_deinit(&known);
	routes_deinit(&h.routes);
	s->r->seconds_search = clock_seconds() - start - (s->r->seconds_native - native);
	return err;
}
