/* predict/predict.c - recordings in, predictions out: see predict.h.
 *
 * recordings.c chooses recordings; the search is round.c. */
#include "predict/predict.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "predict/published.h"
#include "predict/round.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SECONDS = 60, DEFAULT_QUESTION_SECONDS = 2, DEFAULT_RUNS = 500 };

struct err *predict_open(const struct predict_options *o, struct predict **ret)
{
	struct predict *p = xcalloc(1, sizeof(*p));
	struct err *err = NULL;

	p->o = *o;
	if (p->o.seconds <= 0)
		p->o.seconds = DEFAULT_SECONDS;
	if (p->o.question_seconds <= 0)
		p->o.question_seconds = DEFAULT_QUESTION_SECONDS;
	if (!p->o.targets)
		p->o.targets = PREDICT_DEFAULT;
	if (!p->o.flips && p->o.published)
		p->o.flips = PUBLISHED_FLIPS;
	if (!p->o.traces)
		p->o.traces = PUBLISHED_TRACES;
	if (!p->o.runs)
		p->o.runs = DEFAULT_RUNS;
	p->target = target_borrow(&o->target);
	p->begun = clock_seconds();
	p->deadline = p->begun + p->o.seconds;
	if (o->store)
		err = paths_open(o->store, &p->store);
	if (!err && p->store && paths_was_torn(p->store))
		log_note("%s/paths.db was damaged and has been made again; how often each path was "
			 "recorded is not known any more",
			 o->store);
	if (err) {
		predict_close(p);
		return err;
	}
	*ret = p;
	return NULL;
}

bool predict_targets_parse(const char *text, uint32_t *ret)
{
	static const char *const names[] = {
		"assert", "crash", "memory", "deadlock", "hang", "race"
	};

	*ret = 0;
	while (*text) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < ARRAY_SIZE(names) &&
		       (strlen(names[i]) != len || strncmp(names[i], text, len) != 0))
			i++;
		if (i == ARRAY_SIZE(names))
			return false;
		*ret |= 1u << i;
		text += len + (text[len] == ',');
	}
	return *ret != 0;
}

/* ---- the search ---- */

static struct err *open_target(struct predict *p)
{
	struct err *err = sym_open(p->binary, NULL, &p->program);

	if (!err && !p->dir)
		err = file_temp_dir(&p->dir);
	if (err || p->o.no_run)
		return err;
	err = target_from_plait(&p->target, p->recordings.data[0].plait,
				p->o.target.argv ? p->o.target.argv : NULL);
	return err ? err : session_open(&p->target, &p->session);
}

/* No recording can be followed by its path. A run of our own has every read and write: it is followed
 * by values. */
static struct err *load_own(struct predict *p)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW,
				   .points = PLAIT_POINTS_ALL,
				   .seed = p->o.seed };
	_cleanup_(xfreep) char *plait = xasprintf("%s/own.plait", p->dir);
	struct run_result run = { 0 };
	struct err *err = session_run(p->session, &req, &run);

	p->result->native_runs++;
	if (!err && !run_failed(&run)) {
		err = save_plait(p->session, &run, plait);
		if (!err)
			err = round_add(p, plait, p->recordings.data[0].plait, NULL, NULL);
	}
	run_result_deinit(&run);
	return err;
}

/* The first that can be followed; the published search begins with all of them. */
static struct err *load_first(struct predict *p)
{
	bool more = true;
	struct err *err = predict_load_next(p, &more);

	while (!err && more && p->o.published)
		err = predict_load_next(p, &more);
	progress_done();
	if (!err && !p->bases.len && p->session && !p->o.published && p->o.method != PREDICT_PATHS)
		err = load_own(p);
	if (!err && !p->bases.len)
		err = err_new(ERR_INCONCLUSIVE, "no recording can be followed: %s",
			      p->result->gaps.len ? p->result->gaps.text[0]
			      : p->skipped.len	  ? p->skipped.data[0].why
						  : "nothing was recorded");
	return err;
}

struct err *predict_run(struct predict *p, struct predict_result *ret)
{
	struct err *err;

	*ret = (struct predict_result){ 0 };
	p->result = ret;
	p->hunt = (struct hunt_options){
		.target = p->target, .replays = p->o.replays, .all = p->o.all, .output = p->o.output
	};
	p->findings = (struct findings){ .o = &p->hunt,
					 .result = &ret->found,
					 .point_budget = RUN_POINTS };
	err = predict_choose(p);
	if (!err)
		err = open_target(p);
	if (!err)
		err = load_first(p);
	if (!err && !p->o.published)
		err = mix_note_stored(p);
	if (!err)
		err = p->o.published ? published_run(p) : round_run(p);
	ret->paths = p->runs.len;
	if (!err && p->next < p->recordings.len && !ret->predictions.len && !ret->races.len)
		names_intern(&ret->gaps, "some recordings were not followed, for lack of time");
	if (!err && !p->o.published)
		ret->exhausted = cover_is_proof(p);
	if (!err && p->session)
		err = findings_end(&p->findings, p->session);
	for (size_t i = 0; i < p->skipped.len; i++)
		vec_push(&ret->skipped, p->skipped.data[i]);
	p->skipped.len = 0;
	return err;
}

void predict_close(struct predict *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->bases.len; i++)
		base_close(&p->bases.data[i]);
	vec_deinit(&p->bases);
	paths_runs_deinit(&p->recordings);
	paths_close(p->store);
	map_deinit(&p->digested);
	map_deinit(&p->runs);
	for (size_t i = 0; i < p->skipped.len; i++) {
		free(p->skipped.data[i].path);
		free(p->skipped.data[i].why);
	}
	vec_deinit(&p->skipped);
	mix_deinit(p);
	map_deinit(&p->paths);
	map_deinit(&p->taken);
	map_deinit(&p->asked);
	map_deinit(&p->times);
	findings_deinit(&p->findings);
	claim_deinit(&p->claim);
	sym_close(p->program);
	session_close(p->session);
	target_deinit(&p->target);
	if (p->dir)
		file_remove_tree(p->dir);
	free(p->dir);
	free(p->binary);
	free(p->key);
	free(p);
}

void predict_result_deinit(struct predict_result *r)
{
	hunt_result_deinit(&r->found);
	for (size_t i = 0; i < r->predictions.len; i++) {
		struct prediction *x = &r->predictions.data[i];

		flips_deinit(&x->flips);
		free(x->base);
	}
	vec_deinit(&r->predictions);
	for (size_t i = 0; i < r->races.len; i++) {
		flips_deinit(&r->races.data[i].flips);
		free(r->races.data[i].base);
		free(r->races.data[i].plait);
	}
	vec_deinit(&r->races);
	for (size_t i = 0; i < r->unconfirmed.len; i++) {
		flips_deinit(&r->unconfirmed.data[i].flips);
		free(r->unconfirmed.data[i].base);
	}
	vec_deinit(&r->unconfirmed);
	for (size_t i = 0; i < r->published.sets.len; i++)
		flips_deinit(&r->published.sets.data[i].flips);
	vec_deinit(&r->published.sets);
	for (size_t i = 0; i < r->skipped.len; i++) {
		free(r->skipped.data[i].path);
		free(r->skipped.data[i].why);
	}
	vec_deinit(&r->skipped);
	names_deinit(&r->gaps);
	free(r->other_input);
}
