/* explain/dynamic/passing.c - the nearest run that passes.
 *
 * It is searched by native runs (explain/find/search.c), or the solver has found it already
 * (options->found): then it is recorded once more, and the pair of steps that it turns round is found
 * in both recordings. */
#define LOG_DOMAIN "explain"
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "explain/find/load.h"
#include "trace/trace.h"

#define SEARCH_SECONDS 30.0

static uint32_t step_at(const struct steps *s, uint64_t clock)
{
	for (uint32_t i = 0; i < s->len; i++)
		if (s->data[i].clock == clock)
			return i;
	return STEP_NONE;
}

/* Critical sections are turned round as a whole: for the end of one, its beginning. */
static uint32_t section_begin(const struct steps *s, uint32_t i)
{
	const struct step *end = &s->data[i];

	if (!step_is_release(end))
		return i;
	for (uint32_t k = i; k-- > 0;)
		if (s->data[k].thread == end->thread && s->data[k].address == end->address &&
		    step_is_acquire(&s->data[k]))
			return k;
	return i;
}

static uint32_t pending_step(const struct job *j, const struct step *e)
{
	for (uint32_t i = 0; i < j->steps.len; i++)
		if (j->steps.data[i].pending && j->steps.data[i].thread == e->thread &&
		    j->steps.data[i].site == e->site)
			return i;
	return STEP_NONE;
}

/* The pair that the passing run inverts, in the failing run. If the failure came before its second
 * step, that is known from the passing run, and stands at the end. Both meet at one object, which
 * may lie elsewhere in the passing run. */
static bool find_pair(struct job *j, const struct steps *passing, struct step_pair *ret)
{
	const struct explain_found *found = j->options->found;
	struct step missing;
	uint32_t k;

	ret->first = step_at(&j->steps, found->pair[0]);
	ret->second = found->pair[1] ? step_at(&j->steps, found->pair[1]) : STEP_NONE;
	if (ret->first != STEP_NONE && !found->pair[1] && found->pair_passing[1]) {
		k = step_at(passing, found->pair_passing[1]);
		if (k == STEP_NONE || passing->data[k].thread >= j->steps.nthreads)
			return false;
		missing = passing->data[k];
		missing.address = j->steps.data[ret->first].address;
		ret->second = pending_step(j, &missing);
		if (ret->second == STEP_NONE) {
			ret->second = job_add_pending(j, missing);
			steps_link(&j->steps);
		}
	}
	if (ret->first == STEP_NONE || ret->second == STEP_NONE)
		return false;
	ret->first = section_begin(&j->steps, ret->first);
	ret->about = ret->second;
	return true;
}

/* The passing run, too; false in *ret when it cannot be used. */
static struct err *adopt_passing(struct job *j, bool *ret)
{
	const struct explain_found *found = j->options->found;
	struct alternate a = alternate_of(NULL);
	struct run_request req;
	struct trace *trace = NULL;
	struct err *err;

	*ret = false;
	if (!found->passing)
		return NULL;
	req = job_replay_of(&found->passing->schedule);
	err = native_record(&j->native, &req, &trace);
	if (!err && j->native.last.outcome == PLAIT_OUTCOME_PASS)
		err = steps_load(trace, &a.passing);
	trace_close(trace);
	if (err || !a.passing.len)
		return err;
	if (!find_pair(j, &a.passing, &a.pair)) {
		steps_deinit(&a.passing);
		return NULL;
	}
	j->alternates.data[0] = a;
	j->alternates.len = 1;
	j->alternates.pairs_tried = found->pairs_tried;
	*ret = true;
	return NULL;
}

/* The step of the passing run that the failing one did not live to see stands at its end. Where the run
 * was ended by what it did with memory that is gone, or where threads wait, that is the story. */
static void add_unreached(struct job *j, struct alternate *a)
{
	bool turned = a->pair.second != STEP_NONE;
	struct step missing;

	if (a->unreached == STEP_NONE ||
	    (turned && (j->gone.kind || job_failed_thread(j) == STEP_NONE)))
		return;
	missing = a->passing.data[a->unreached];
	steps_add_thread(&j->steps, missing.thread);
	missing.address = j->steps.data[a->early].address;
	missing.missed = turned; /* else it is what the pair is about */
	a->missed = pending_step(j, &missing);
	if (a->missed == STEP_NONE) {
		a->missed = job_add_pending(j, missing);
		steps_link(&j->steps);
	}
	if (!turned)
		a->pair.second = a->pair.about = a->missed;
}

struct err *job_find_passing(struct job *j)
{
	struct search_budget budget = { j->options->max_pairs,
					MIN(SEARCH_SECONDS, j->seconds / 2) };
	bool adopted = false;
	struct err *err = j->options->found ? adopt_passing(j, &adopted) : NULL;

	if (err || adopted)
		return err;
	if (j->options->found && j->options->found->passing)
		explanation_note(j->x,
				 "the pair that the solver turned round is in neither run as "
				 "recorded; the passing schedule was searched by native runs");
	err = search_alternate(&j->runner, &j->steps, job_failed_thread(j), &budget,
			       &j->alternates);
	for (size_t i = 0; i < j->alternates.len && !err; i++)
		add_unreached(j, &j->alternates.data[i]);
	if (!err && j->alternates.len) {
		struct steps *passing = &j->alternates.data[0].passing;

		steps_mark_semaphores(passing, &j->steps, passing);
		steps_mark_semaphores(&j->steps, &j->steps, passing);
		steps_mark_sole(&j->steps, &j->steps, passing);
	} else if (!err) {
		steps_mark_semaphores(&j->steps, &j->steps, &j->steps);
	}
	return err;
}
