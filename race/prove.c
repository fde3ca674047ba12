/* race/prove.c - from "no difference was seen" to "there is none", for the given input.
 *
 * The symbolic machine explores every state that any schedule can reach (sym_schedules). If it comes
 * to the end of that, no schedule fails, all end with the same status and none prints anything, then
 * no race of this program can make a difference with this input. What such an exploration does not
 * cover is known to run/claim.h; one gap is enough to say nothing. A program that prints is not
 * proved: the machine does not compare what is printed, and it knows of no predicate or oracle. */
#include "race/study.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "run/claim.h"
#include "sym/sym.h"

#ifdef NO_SYM
struct err *races_prove(struct study *s)
{
	(void)s;
	return NULL;
}
#else

enum { MAX_STATES = 200000 };
#define MAX_WORK    2000000000ull /* about two seconds */
#define MAX_SECONDS 20

/* Every schedule ends well, in the same way, and in silence. */
static bool makes_no_difference(const struct sym_schedules *r)
{
	if (!r->complete || r->prints || r->reads_clock || r->notes.len || !r->ends.len)
		return false;
	for (size_t i = 0; i < r->ends.len; i++)
		if (r->ends.data[i].outcome.kind != SYM_EXIT ||
		    r->ends.data[i].outcome.code != r->ends.data[0].outcome.code)
			return false;
	return true;
}

static struct err *explore(struct study *s, bool *ret)
{
	const struct target *t = &s->o->target;
	struct sym_config c = { .args = (const char *const *)t->argv,
				.input = t->input_data,
				.input_len = t->input_len,
				.max_states = MAX_STATES,
				.max_work = MAX_WORK,
				.max_seconds = MAX_SECONDS,
				.interrupted = interrupted,
				.all_errors = true };
	struct sym_schedules r = { 0 };
	struct sym_program *p = NULL;
	struct err *err = sym_open(t->argv[0], NULL, &p);

	for (char **word = t->argv; *word; word++)
		c.nargs++;
	if (!err)
		err = sym_schedules(p, &c, &r);
	*ret = !err && makes_no_difference(&r);
	sym_schedules_deinit(&r);
	sym_close(p);
	return err;
}

/* Races of the given input that are worse, or open, leave nothing to prove. */
static bool is_worth_it(const struct study *s)
{
	bool any = false;

	for (size_t i = 0; i < s->groups.len; i++) {
		const struct group *g = &s->groups.data[i];

		if (g->suppressed || g->left_out)
			continue;
		if (g->race.verdict > RACE_HARMLESS && !g->race.needs)
			return false;
		any |= g->race.verdict == RACE_HARMLESS;
	}
	return any && !s->o->target.input && !s->o->target.predicate && !s->o->target.oracle &&
	       !study_out_of_time(s);
}

struct err *races_prove(struct study *s)
{
	struct claim claim = { .ended = true };
	bool same = false;
	struct err *err;

	if (!is_worth_it(s))
		return NULL;
	claim_look_at(&claim, s->o->target.argv[0]);
	if (s->result->uncontrolled & ~(uint32_t)PLAIT_UNCONTROLLED_CONSTRAINT)
		claim.gaps |= CLAIM_UNCONTROLLED;
	err = claim_is_complete(&claim) ? explore(s, &same) : NULL;
	claim_deinit(&claim);
	for (size_t i = 0; i < s->groups.len && same; i++)
		s->groups.data[i].race.proved = s->groups.data[i].race.verdict == RACE_HARMLESS;
	if (err && interrupted())
		return err;
	err_free(err); /* a program that the machine cannot run is not proved, that is all */
	return NULL;
}
#endif
