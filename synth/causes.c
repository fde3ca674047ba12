/* synth/causes.c - other causes of the same failure (001 sections 3.2.2 and 4.7).
 *
 * An execution is explained, and what would mend it, its *remedy*, is enforced in all runs from then on. If the program still
 * comes to the same failure by a schedule that keeps the remedy, that is another cause. It is explained in turn, with the
 * remedies so far enforced, and so on until nothing fails any more or the budget is over.
 *
 * One execution may fail for two reasons at once: then no single remedy mends it. So the most likely remedy is enforced as
 * a guess, and what still fails is explained; if that has a remedy that works, it is a cause, and the guess is
 * dropped. Only what was tried and works counts, and only once: an explanation that was told before ends the search.
 *
 * Only orders of threads can be enforced. What fails in every schedule of its input has no remedy, and then nothing
 * can be told apart. */
#include "synth/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

enum {
	CAUSES_MOST = 8,
	RUNS_MOST = 1000,
	EXPLAIN_RUNS = 300,
	EXPLAIN_SECONDS = 60,
	REPLAYS = 3,
	CONSTRAINTS_SPARE = 24
};

struct remedies VEC_FIELDS(struct plait_constraint);

static bool over(const struct study *s)
{
	return interrupted() || (s->deadline > 0 && clock_seconds() > s->deadline);
}

/* ---- one cause ---- */

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* Explain the execution in `plait` while the rules are kept. Its remedy is added to `to`; *works: it was tried. */
static struct err *explain_one(struct study *s, const char *plait, const struct remedies *rules,
			       struct synth_cause *ret, struct remedies *to, bool *works)
{
	static const char *const kinds[] = BUG_KIND_NAMES;
	struct explain_options o = {
		.plait = plait,
		.runs = EXPLAIN_RUNS,
		.seed = s->o->seed,
		.seconds = EXPLAIN_SECONDS,
		.target = { .timeout = s->o->timeout, .rules = rules->data, .nrules = rules->len }
	};
	struct explanation *x = NULL;
	struct err *err;

	if (s->deadline > 0)
		o.seconds = MIN(o.seconds, MAX(s->deadline - clock_seconds(), 1));
	err = explain_run(&o, EXPLAIN_DYNAMIC, &x);
	*works = false;
	if (err && err_kind(err) == ERR_INCONCLUSIVE) {
		ret->summary = xstrdup(err_message(err));
		err_free(err);
		return NULL;
	}
	if (err)
		return err;
	ret->kind = kinds[x->kind];
	ret->summary = copy(x->summary);
	ret->advice = copy(x->advice.text);
	*works = x->remedy_works;
	for (size_t i = 0; i < x->nremedy; i++)
		vec_push(to, x->remedy[i]);
	explanation_free(x);
	return NULL;
}

static void cause_deinit(struct synth_cause *c)
{
	free(c->plait);
	free(c->summary);
	free(c->advice);
	*c = (struct synth_cause){ 0 };
}

void synth_causes_deinit(struct synth_result *r)
{
	for (size_t i = 0; i < r->causes.len; i++)
		cause_deinit(&r->causes.data[i]);
	vec_deinit(&r->causes);
}

static bool is_told(const struct synth_result *r, const struct synth_cause *c)
{
	for (size_t i = 0; c->summary && i < r->causes.len; i++)
		if (r->causes.data[i].summary && !strcmp(r->causes.data[i].summary, c->summary))
			return true;
	return false;
}

/* ---- with all remedies so far ---- */

/* Does this run fail as the dump says, again and again, with the remedies kept? Then it is saved at `plait`. */
static struct err *is_another(struct study *s, struct own_run *own, const struct run_result *run,
			      const char *plait, bool *ret)
{
	enum agreement agreement = NOT_SAME;
	unsigned n = REPLAYS, same = 0;
	struct err *err;

	*ret = false;
	if (!run_failed(run) || run->uncontrolled & PLAIT_UNCONTROLLED_CONSTRAINT)
		return NULL;
	err = save_plait(own->session, run, plait);
	if (!err)
		err = run_agrees(s, run, plait, &agreement);
	if (!err && agreement >= best_agreement(s))
		err = confirm(own->session, run, &n, &same);
	*ret = !err && same == REPLAYS;
	return err;
}

/* Many schedules of the same inputs. *ret: one of them fails all the same. */
static struct err *run_cured(struct study *s, const struct remedies *rules, const char *plait,
			     bool *ret)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_POS, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_PCT };
	struct own_run own;
	struct run_result run = { 0 };
	struct err *err = own_run_open(s, &s->r->inputs, s->o->program, &own);

	*ret = false;
	own.target.rules = rules->data;
	own.target.nrules = rules->len;
	for (unsigned i = 0; i < RUNS_MOST && !err && !*ret && !over(s); i++) {
		struct run_request req = { .strategy = strategies[i % ARRAY_SIZE(strategies)],
					   .seed = s->o->seed + i,
					   .depth = 3,
					   .length = s->r->run.points,
					   .points = PLAIT_POINTS_ALL };

		progress("synth: %zu causes, %u schedules with what would mend them",
			 s->r->causes.len, i);
		err = session_run(own.session, &req, &run);
		s->r->attempts++;
		if (!err)
			err = is_another(s, &own, &run, plait, ret);
	}
	progress_done();
	run_result_deinit(&run);
	own_run_close(&own);
	return err;
}

/* ---- the whole ---- */

static void add_all(struct remedies *to, const struct remedies *from)
{
	for (size_t i = 0; i < from->len; i++)
		vec_push(to, from->data[i]);
}

/* The execution in `plait` is explained: a cause with its remedy, or (*works false) a guess. */
static struct err *study_one(struct study *s, const char *plait, const struct remedies *rules,
			     struct remedies *remedy, bool *works)
{
	struct synth_cause c = { .plait = xstrdup(plait) };
	struct err *err = explain_one(s, plait, rules, &c, remedy, works);

	log_verbose("causes: %s: %s%s", plait, *works ? "" : "(a guess) ",
		    c.summary ? c.summary : "?");
	if (!err && *works && is_told(s->r, &c)) {
		names_intern(&s->r->notes, "an execution that keeps the remedies is explained like "
					   "an earlier one: it was not counted");
		remedy->len = 0;
		*works = false;
	} else if (!err && *works) {
		vec_push(&s->r->causes, c);
		return NULL;
	}
	cause_deinit(&c);
	return err;
}

/* From the execution in `plait`, which fails though `rules` are kept, to a cause. *ret: one was added to the
 * result, and its remedy to the rules. */
static struct err *next_cause(struct study *s, const char *plait, struct remedies *rules, bool *ret)
{
	struct remedies remedy = { 0 }, guess = { 0 };
	char *other = xasprintf("%s/cause-%zu.plait", s->folder, s->r->causes.len + 1);
	bool works = false, failed = false;
	struct err *err = study_one(s, plait, rules, &remedy, &works);

	if (!err && !works && remedy.len &&
	    rules->len + 2 * remedy.len + CONSTRAINTS_SPARE <= PLAIT_MAX_CONSTRAINTS) {
		add_all(&guess, rules);
		add_all(&guess, &remedy);
		remedy.len = 0;
		err = run_cured(s, &guess, other, &failed);
		if (!err && failed)
			err = study_one(s, other, &guess, &remedy, &works);
	}
	if (works)
		add_all(rules, &remedy);
	else if (strcmp(other, plait) != 0)
		file_remove_tree(other);
	*ret = works && rules->len + CONSTRAINTS_SPARE <= PLAIT_MAX_CONSTRAINTS;
	vec_deinit(&remedy);
	vec_deinit(&guess);
	free(other);
	return err;
}

struct err *causes_find(struct study *s)
{
	struct remedies rules = { 0 };
	bool more = false, failed = true;
	struct err *err = next_cause(s, s->r->plait, &rules, &more);

	if (!err && !s->r->causes.len)
		names_intern(&s->r->notes,
			     "causes were not told apart: no order of threads was found "
			     "that mends this failure");
	while (!err && more && failed && s->r->causes.len < CAUSES_MOST && !over(s)) {
		char *plait = xasprintf("%s/cause-%zu.plait", s->folder, s->r->causes.len + 1);
		size_t known = s->r->causes.len;

		err = run_cured(s, &rules, plait, &failed);
		if (!err && failed)
			err = next_cause(s, plait, &rules, &more);
		if (s->r->causes.len == known)
			file_remove_tree(plait);
		free(plait);
	}
	s->r->causes_complete = !err && more && !failed;
	vec_deinit(&rules);
	return err;
}
