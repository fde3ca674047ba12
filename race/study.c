/* race/study.c - the races of a program, from the first run to the verdicts.
 *
 * Inputs come one after the other: what the user gave, what else the user has (--try, --inputs),
 * then inputs of our own making (paths.c). Each is run under several schedules, and the races of
 * all inputs become groups (find.c, group.c). Then every group gets its verdict (verdict.c), and the
 * runs that show it are saved. The order of everything depends on the seed alone. */
#define LOG_DOMAIN "race"
#include "race/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/sweep.h"
#include "race/suppress.h"
#include "trace/trace.h"

/* ---- verdicts in words ---- */

static const struct {
	const char *name, *meaning;
} verdicts[] = {
	[RACE_NOT_JUDGED] = { "not-judged", "no time was left for it (--time)" },
	[RACE_NOT_REPRODUCED] = { "not-reproduced",
				  "no run of ours has had both accesses pending at once" },
	[RACE_SINGLE_ORDERING] = { "single-ordering",
				   "the other order cannot happen: one side waits for the other" },
	[RACE_UNDECIDED] = { "undecided",
			     "the program fails in both orders, so nothing can be said" },
	[RACE_HARMLESS] = { "k-witness-harmless", "both orders do the same, as far as was looked" },
	[RACE_NOT_STABLE] = { "output-not-stable",
			      "the output differs between equal runs, so it says nothing; "
			      "--ignore leaves lines out" },
	[RACE_OUTPUT_DIFFERS] = { "output-differs",
				  "the two orders lead to different output or exit status" },
	[RACE_SPEC_VIOLATED] = { "spec-violated", "one order makes the program fail" },
};

const char *race_verdict_name(enum race_verdict v)
{
	assert(v < ARRAY_SIZE(verdicts));
	return verdicts[v].name;
}

const char *race_verdict_meaning(enum race_verdict v)
{
	assert(v < ARRAY_SIZE(verdicts));
	return verdicts[v].meaning;
}

enum race_verdict race_verdict_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verdicts); i++)
		if (!strcmp(verdicts[i].name, name))
			break;
	return (enum race_verdict)i;
}

/* ---- memory ---- */

static void side_deinit(struct race_side *s)
{
	free(s->file);
	free(s->function);
	places_deinit(&s->stack);
}

static void step_deinit(struct race_step *s)
{
	free(s->thread);
	free(s->object);
	free(s->file);
}

void race_deinit(struct race *r)
{
	for (int i = 0; i < 2; i++) {
		side_deinit(&r->side[i]);
		run_result_deinit(&r->order[i].run);
		free(r->order[i].out);
		free(r->order[i].errors);
		free(r->order[i].plait);
		for (size_t n = 0; n < r->order[i].steps.len; n++)
			step_deinit(&r->order[i].steps.data[n]);
		vec_deinit(&r->order[i].steps);
	}
	for (char **word = r->needs; word && *word; word++)
		free(*word);
	free(r->needs);
	free(r->object);
	free(r->bucket);
	free(r->flag);
	free(r->note);
	memset(r, 0, sizeof(*r));
}

void races_result_deinit(struct races_result *r)
{
	for (size_t i = 0; i < r->races.len; i++)
		race_deinit(&r->races.data[i]);
	vec_deinit(&r->races);
	free(r->note);
	memset(r, 0, sizeof(*r));
}

static void input_free(struct study_input *in)
{
	session_close(in->session);
	for (char **word = in->made; word && *word; word++)
		free(*word);
	free(in->made);
	map_deinit(&in->volatile_out);
	map_deinit(&in->volatile_errors);
	free(in);
}

static void study_deinit(struct study *s)
{
	for (size_t i = 0; i < s->inputs.len; i++)
		input_free(s->inputs.data[i]);
	for (size_t i = 0; i < s->texts.len; i++)
		free(s->texts.data[i]);
	vec_deinit(&s->texts);
	for (size_t i = 0; i < s->runs.len; i++)
		schedule_deinit(&s->runs.data[i].schedule);
	for (size_t i = 0; i < s->groups.len; i++) {
		race_deinit(&s->groups.data[i].race);
		vec_deinit(&s->groups.data[i].instances);
	}
	vec_deinit(&s->inputs);
	vec_deinit(&s->runs);
	vec_deinit(&s->groups);
	map_deinit(&s->by_key);
	map_deinit(&s->by_sites);
	if (s->dir)
		file_remove_tree(s->dir);
	free(s->dir);
}

/* ---- runs ---- */

bool study_out_of_time(const struct study *s)
{
	double now = clock_seconds();

	return interrupted() || (s->o->seconds > 0 && now - s->begin > s->o->seconds) ||
	       (s->turn_ends > 0 && now > s->turn_ends);
}

struct err *study_session(struct study *s, uint32_t input, struct session **ret)
{
	struct study_input *in = s->inputs.data[input];
	struct err *err = NULL;

	if (!in->session)
		err = session_open(&in->target, &in->session);
	if (!err && !session_sees_memory(in->session))
		err = err_new(ERR_ENV,
			      "%s was not built with `unplait cc': its accesses are not "
			      "seen, so no race can be",
			      in->target.argv[0]);
	*ret = in->session;
	return err;
}

struct err *study_run(struct study *s, uint32_t input, const struct run_request *req,
		      struct run_result *ret)
{
	struct session *session;
	struct err *err = study_session(s, input, &session);

	s->result->runs++;
	return err ? err : session_run(session, req, ret);
}

struct err *study_record(struct study *s, uint32_t input, const struct run_request *req,
			 struct run_result *ret, struct trace **ret_trace)
{
	struct run_request recorded = *req;
	struct err *err;

	*ret_trace = NULL;
	file_remove_tree(s->dir);
	sweep_add(s->dir);
	err = file_make_dirs(s->dir);
	recorded.record_dir = s->dir;
	if (!err)
		err = study_run(s, input, &recorded, ret);
	return err ? err : trace_open(s->dir, ret_trace);
}

void study_add_input(struct study *s, char **made, const char *input_file)
{
	struct study_input *in = xcalloc(1, sizeof(*in));

	vec_push(&s->inputs, in);
	in->target = s->o->target;
	in->made = made;
	if (made)
		in->target.argv = made;
	if (input_file) {
		in->target.input = input_file;
		in->target.input_data = NULL;
	}
}

void study_drop_input(struct study *s)
{
	input_free(*vec_last(&s->inputs));
	s->inputs.len--;
}

/* ---- the whole ---- */

/* The worst first; then in the order in which they were found. */
static int worse(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->race.verdict != y->race.verdict)
		return (int)y->race.verdict - (int)x->race.verdict;
	return (x->race.id > y->race.id) - (x->race.id < y->race.id);
}

/* Debugging fidelity, efficiency and utility (001 section 3.2) of what is saved. */
static void rate(const struct study *s, struct race *r)
{
	unsigned tried = r->order[0].tried + r->order[1].tried;
	unsigned same = r->order[0].same + r->order[1].same;

	r->fidelity = fidelity_of(&(struct executions){ .original = same, .wrong = tried - same },
				  s->result->original, r->seconds);
}

static bool is_suppressed(const struct study *s, const struct group *g)
{
	return s->o->suppressions && suppressions_match(s->o->suppressions, &g->race);
}

static bool frees(const struct group *g)
{
	for (size_t i = 0; i < g->instances.len; i++)
		if (g->instances.data[i].first.kind == PLAIT_EV_FREE ||
		    g->instances.data[i].second.kind == PLAIT_EV_FREE)
			return true;
	return false;
}

/* Time may be short: memory that is given back while somebody uses it comes first. */
static int graver(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (frees(x) != frees(y))
		return frees(x) ? -1 : 1;
	return (x->race.id > y->race.id) - (x->race.id < y->race.id);
}

/* With --time, no race may take more than so many times its share of what is left. */
static void begin_turn(struct study *s, size_t left, double share)
{
	double now = clock_seconds(), rest = s->o->seconds - (now - s->begin);

	s->turn_ends = s->o->seconds > 0 ? now + MAX(share * rest / (double)left, 1.0) : 0;
}

/* One round over all races that are to be judged, as long as there is time. */
static struct err *judge_round(struct study *s, double share,
			       struct err *(*judge)(struct study *s, struct group *g))
{
	struct err *err = NULL;

	for (size_t i = 0; i < s->groups.len && !err && !study_out_of_time(s); i++) {
		struct group *g = &s->groups.data[i];

		if (g->suppressed || g->left_out)
			continue;
		progress("race %zu of %zu", i + 1, s->groups.len);
		begin_turn(s, s->groups.len - i, share);
		err = judge(s, g);
		g->rounds++;
		s->turn_ends = 0;
	}
	return err;
}

/* A prediction that nobody has met is no race. */
static bool is_unmet(const struct group *g)
{
	return !g->left_out && !g->suppressed && !g->seen && !g->race.reported &&
	       g->race.verdict < RACE_UNDECIDED;
}

static void note_what_is_left(struct study *s, struct group *g)
{
	if (g->left_out || g->suppressed)
		return;
	s->result->unjudged += !g->rounds;
	if (g->rounds == 1 && g->race.verdict < RACE_OUTPUT_DIFFERS && !g->race.note)
		g->race.note = xstrdup("time was over after its first look (--time)");
}

/* First a glance at each, so that every race has a verdict when time is short. */
static struct err *judge_all(struct study *s)
{
	struct err *err = NULL;

	vec_sort(&s->groups, graver); /* nobody looks for a group by its number any more */
	for (size_t i = 0; i < s->groups.len; i++) {
		struct group *g = &s->groups.data[i];

		g->left_out = s->o->reports && !g->race.reported;
		g->suppressed = !g->left_out && is_suppressed(s, g);
	}
	err = judge_round(s, 1, race_glance);
	if (!err)
		err = judge_round(s, 2, race_judge);
	for (size_t i = 0; i < s->groups.len && !err; i++) {
		struct group *g = &s->groups.data[i];

		g->unmet = is_unmet(g);
		s->result->unmet += g->unmet;
		g->left_out |= g->unmet;
		note_what_is_left(s, g);
	}
	return err;
}

static struct err *save_all(struct study *s)
{
	struct err *err = NULL;
	unsigned id = 0;

	vec_sort(&s->groups, worse);
	for (size_t i = 0; i < s->groups.len && !err; i++) {
		struct group *g = &s->groups.data[i];

		if (g->suppressed || g->left_out)
			continue;
		g->race.id = ++id;
		err = race_save(s, g);
		rate(s, &g->race);
		/* its stacks are known now */
		g->suppressed = is_suppressed(s, g);
	}
	return err;
}

static void hand_over(struct study *s)
{
	vec_sort(&s->groups, worse);
	for (size_t i = 0; i < s->groups.len; i++) {
		if (interrupted() && !s->groups.data[i].seen)
			continue; /* predicted, and perhaps never met */
		s->result->suppressed += s->groups.data[i].suppressed;
		s->result->others += s->groups.data[i].left_out && !s->groups.data[i].unmet;
		if (s->groups.data[i].suppressed || s->groups.data[i].left_out)
			continue;
		vec_push(&s->result->races, s->groups.data[i].race);
		memset(&s->groups.data[i].race, 0, sizeof(struct race));
	}
	s->result->paths = (unsigned)s->inputs.len;
	s->result->interrupted = interrupted();
	s->result->seconds = clock_seconds() - s->begin;
}

struct err *races_run(struct races_options *o, struct races_result *ret)
{
	_cleanup_(study_deinit) struct study s = { .o = o, .result = ret };
	struct err *err;

	memset(ret, 0, sizeof(*ret));
	s.begin = clock_seconds();
	err = file_temp_dir_fast(&s.dir);
	if (!err && o->output)
		err = file_make_dirs(o->output);
	study_add_input(&s, NULL, NULL);
	if (!err)
		err = paths_given(&s);
	for (uint32_t i = 0; i < s.inputs.len && !err; i++)
		err = find_races(&s, i);
	if (!err && !o->one_path)
		err = paths_team(&s);
	if (!err && !o->one_path)
		err = paths_made(&s);
	if (!err && o->reports)
		err = directed_find(&s);
	else if (!err)
		err = directed_predictions(&s);
	if (!err)
		err = judge_all(&s);
	if (!err)
		err = races_prove(&s);
	if (!err)
		err = save_all(&s);
	progress_done();
	if (err && !interrupted())
		return err;
	/* after Ctrl-C, what is known so far is told */
	err_free(err);
	hand_over(&s);
	return NULL;
}
