/* predict/races.c - a data race as a prediction.
 *
 * The proposal brought both threads to their accesses at once. The same schedule is run again with
 * the runtime looking for races (happens-before, exact for that run): one between the two places is
 * what was predicted. */
#include "predict/round.h"

#include "base/err.h"
#include "base/file.h"

#include <inttypes.h>
#include <sys/stat.h>

static uint32_t site_of(const struct base *b, const struct order_goal *g)
{
	const struct order_model *m = b->l.built.m;

	return (uint32_t)m->events.data[m->threads.data[g->thread].data[g->index]].site;
}

static bool has_race(const struct run_result *r, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < r->nraces; i++) {
		uint32_t x = r->races[i].first_site, y = r->races[i].second_site;

		if ((x == a && y == b) || (x == b && y == a))
			return true;
	}
	return false;
}

static struct err *save(struct predict *p, const struct run_result *run, struct predicted_race *ret)
{
	struct err *err = NULL;

	if (!p->o.output || !*p->o.output)
		return NULL;
	if (p->o.all) {
		err = file_make_dirs(p->o.output);
		ret->plait = xasprintf("%s/race-%zu.plait", p->o.output, p->result->races.len + 1);
	} else {
		ret->plait = xstrdup(p->o.output);
	}
	return err ? err : save_plait(p->session, run, ret->plait);
}

struct err *race_consider(struct predict *p, size_t base, const struct chance *c,
			  const struct run_result *run)
{
	const struct base *b = &p->bases.data[base];
	uint32_t sites[] = { site_of(b, &c->goals[0]), site_of(b, &c->goals[1]) };
	struct run_request req = schedule_request(&run->schedule);
	struct predicted_race new = { 0 };
	struct run_result again = { 0 };
	struct err *err;
	bool races;

	req.flags |= PLAIT_CONTROL_RACES;
	err = session_run(p->session, &req, &again);
	races = !err && has_race(&again, sites[0], sites[1]);
	if (races) {
		new.base = predict_name(p, b->recording);
		round_flips(b, c, &new.flips);
		new.questions = round_questions(p);
		new.native_runs = p->result->proposals;
		err = save(p, &again, &new);
		vec_push(&p->result->races, new);
		p->stop = !p->o.all;
	}
	run_result_deinit(&again);
	return err;
}
