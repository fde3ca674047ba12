/* cmd/pinned.c - see pinned.h. */
#include "cmd/pinned.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/log.h"
#include "run/pin.h"
#include "run/run.h"
#include "trace/trace.h"

struct err *pinned_to_look(const char *plait)
{
	struct trace *t = NULL;
	struct err *err = trace_open(plait, &t);
	bool ours, bare;

	if (err) { /* the command itself will say */
		err_free(err);
		return NULL;
	}
	bare = log_is_bare(t);
	ours = trace_made_here(t);
	trace_close(t);
	if (bare && !ours)
		log_note("%s was recorded in mode sync: its events come with `unplait replay "
			 "--trust %s'",
			 plait, plait);
	return bare && ours ? pinned(plait, NULL, NULL, NULL) : NULL;
}

/* What to type, so that the next recording has the order that this one leaves open. */
static char *next_step(const char *plait, const char *racing)
{
	if (racing)
		return xasprintf("; their lines are in %s now: build with `unplait cc "
				 "--unplait-racing=%s` and record again",
				 racing, racing);
	return xasprintf("; to have their order recorded, `unplait replay --racing FILE %s`, build "
			 "with `unplait cc --unplait-racing=FILE` and record again",
			 plait);
}

struct err *pinned(const char *plait, char *const *command, const struct target *said,
		   const char *racing)
{
	struct pin_options o = { .command = command,
				 .input = said ? said->input : NULL,
				 .timeout = said ? said->timeout : 0,
				 .racing = racing };
	struct pin_report r;
	_cleanup_(xfreep) char *next = next_step(plait, racing);
	struct err *err = pin_plait(plait, &o, &r);

	if (!err && racing && r.state == PIN_NOT_NEEDED)
		log_note("%s has its schedule: there is nothing to search, and %s stays as it is",
			 plait, racing);
	if (!err && r.state == PIN_DONE)
		log_note("%s: replayed with the recorded inputs and order, in attempt %u; %u check "
			 "marks agree, and it has its schedule now%s",
			 plait, r.attempts, r.marks,
			 r.cut ? ". It ends where a signal came: with its handler it went another "
				 "way"
			       : "");
	if (!err && r.races)
		log_note("%s: data races that a recording leaves open: %s%s", plait, r.races,
			 r.state == PIN_DIVERGED ? next : "");
	if (!err && r.state == PIN_DIVERGED)
		err = err_new(ERR_INCONCLUSIVE,
			      "%s: none of %u attempts was the recorded run; the one that came "
			      "furthest: %s",
			      plait, r.attempts, r.text);
	pin_report_deinit(&r);
	return err;
}

static bool is_passing_log(const char *plait)
{
	struct trace *t = NULL;
	struct err *err = trace_open(plait, &t);
	bool passed = !err && log_is_bare(t) && trace_meta(t)->outcome.kind == PLAIT_OUTCOME_PASS;

	err_free(err);
	trace_close(t);
	return passed;
}

struct err *pinned_failing(const char *plait, char *const *command, const struct target *judged_by)
{
	bool passed = !judged_by->fail_on_exit && !judged_by->oracle && !judged_by->expect &&
		      is_passing_log(plait);
	struct err *err = pinned(plait, command, judged_by, NULL);

	return !err && passed ? err_new(ERR_ENV,
					"%s has a run that passed; a failing one is needed "
					"(`unplait hunt` finds one)",
					plait)
			      : err;
}
