/* run/reorder.c - see reorder.h.
 *
 * What a recording of mode sync leaves open is the order of accesses that race. The first attempt lets every thread
 * go on as long as it may, the second makes accesses as late as the recorded order allows. If neither is the recorded
 * run, the program has a data race, and this is a search:
 *
 * - Only the order of racing accesses matters, so most attempts let nobody else go on but at the sites that have raced
 *   in an attempt before (PLAIT_CONTROL_RACES), and at synchronisation. A few switch at every access, because a run
 *   that left the recording early has not shown all races.
 * - A check mark that disagrees ends an attempt at once, and bounds the window: up to the mark before, the thread did
 *   what was recorded. The attempt that made the most operations of the log is the best; most of the next ones begin with
 *   its schedule up to that mark. So races that come one after the other are found one after the other. The mark
 *   may have agreed by chance, and the race may be older than it: some attempts begin at half of it, or anew.
 * - Few preemptions first: the depth of PCT grows with the attempts. */
#define LOG_DOMAIN "run"
#include "run/reorder.h"

#include "base/err.h"
#include "base/log.h"
#include "run/log.h"
#include "run/pin.h"
#include "run/races.h"
#include "run/session.h"
#include "trace/trace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	EVENTS = 0x7fffffff,
	ATTEMPTS = 200,
	ATTEMPTS_WITH_SIGNALS = 20,
	AIMS = 16, /* places where the thread that left is held back, and from where on it is preferred */
	SECONDS = 15, /* more attempts where they are short, as long as races may be the reason */
	MOST_RACES = 10, /* pairs of places that are named */
};

/* Somebody outside ended the recorded run (a kill, our own timeout): there is no failure to reproduce,
 * the log just ends. */
static bool was_cut(const struct trace_outcome *o)
{
	return o->kind == PLAIT_OUTCOME_UNKNOWN || o->kind == PLAIT_OUTCOME_HANG ||
	       o->kind == PLAIT_OUTCOME_DEADLOCK ||
	       (o->kind == PLAIT_OUTCOME_SIGNAL && (o->signal == SIGKILL || o->signal == SIGTERM ||
						    o->signal == SIGINT || o->signal == SIGHUP));
}

/* Two assertions are two failures. */
static bool is_same_assertion(const char *recorded, const char *now)
{
	return !recorded || !now || !strstr(recorded, "Assertion `") || strcmp(recorded, now) == 0;
}

/* Did this attempt end as the recorded run did? */
static bool is_same_end(const struct trace_outcome *recorded, bool cut, const struct run_result *r)
{
	if (cut && r->end == PLAIT_END_LOG)
		return true;
	if (was_cut(recorded))
		return r->end == PLAIT_END_LOG || r->outcome == PLAIT_OUTCOME_DEADLOCK;
	if (recorded->kind == PLAIT_OUTCOME_PASS)
		return r->outcome == PLAIT_OUTCOME_PASS && r->end != PLAIT_END_LOG &&
		       (recorded->exit_code < 0 || r->exit_code == recorded->exit_code);
	return r->outcome == recorded->kind &&
	       (!recorded->signal || r->signal == recorded->signal) &&
	       is_same_assertion(recorded->message, r->text);
}

/* Between which places a thread has left the recorded run. */
static char *where_it_left(struct session *s, const struct run_result *r)
{
	struct strbuf text = { 0 };

	if (!r->left_to)
		return xstrdup("");
	strbuf_adds(&text, ", between ");
	if (r->left_from)
		race_site_write(session_process(s), r->left_from, &text);
	else
		strbuf_adds(&text, "the thread's beginning");
	strbuf_adds(&text, " and ");
	race_site_write(session_process(s), r->left_to, &text);
	return strbuf_detach(&text);
}

/* How this attempt was not the recorded run. */
static char *difference(const struct trace_outcome *recorded, const struct run_result *r)
{
	if (!r->diverged && r->outcome == recorded->kind && r->end != PLAIT_END_LOG &&
	    r->exit_code != recorded->exit_code)
		return xasprintf("it exited with status %d, the recorded run with %d", r->exit_code,
				 recorded->exit_code);
	return r->diverged || r->outcome == PLAIT_OUTCOME_UNKNOWN
		       ? xstrdup(r->text ? r->text : "it went another way")
		       : xasprintf("it ended with outcome %s, the recorded run with %s%s%s",
				   r->end == PLAIT_END_LOG ? "\"the recording ends here\""
							   : outcome_name(r->outcome),
				   outcome_name(recorded->kind), r->text ? ": " : "",
				   r->text ? r->text : "");
}

static void note_divergence(struct session *s, const struct trace_outcome *recorded,
			    const struct run_result *r, struct pin_report *ret)
{
	_cleanup_(xfreep) char *what = difference(recorded, r);
	_cleanup_(xfreep) char *where = where_it_left(s, r);

	free(ret->text);
	ret->text = xasprintf("%s%s", what, where);
	log_debug(2, "attempt %u: %s", ret->attempts, ret->text);
}

/* ---- attempts ---- */

struct search {
	struct session *session;
	unsigned most;
	bool bounded; /* no attempt more */
	double start;
	struct race_tally races;
	/* of the attempt that came furthest */
	struct schedule best;
	uint64_t done, agreed;
	uint32_t left;	 /* the thread that left the recording, + 1; 0: none did */
	unsigned aimed;	 /* attempts that have aimed at it */
	uint64_t points; /* of the longest attempt */
};

/* How much of the best attempt's schedule this one begins with, in steps. */
static uint64_t kept_steps(const struct search *w, unsigned attempt)
{
	switch (attempt / 3 % 4) {
	case 1:
		return 0;
	case 3:
		return w->agreed / 2;
	default:
		return w->agreed;
	}
}

static void begin_like_best(const struct search *w, uint64_t steps, struct run_request *req)
{
	req->decisions = w->best.decisions.data;
	req->ndecisions = schedule_prefix(&w->best, steps);
	if (req->ndecisions)
		req->flags |= PLAIT_CONTROL_PREFIX;
}

static void disturb(const struct search *w, unsigned attempt, struct run_request *req)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_POS,
					       PLAIT_STRATEGY_PCT };

	req->strategy = strategies[attempt % ARRAY_SIZE(strategies)];
	req->depth = 2 + attempt * 3 / w->most % 4;
	req->length = w->points;
	req->points = w->races.pairs.len && attempt % 5 ? PLAIT_POINTS_LEARNED : PLAIT_POINTS_ALL;
	begin_like_best(w, kept_steps(w, attempt), req);
}

/* One preemption of the thread that left the recording: behind its last mark it came later, at one of its racing
 * accesses; or from there on, or from some time before, it came earlier. False: all of these have been tried. */
static bool take_aim(struct search *w, struct run_request *req)
{
	unsigned i = w->aimed / 2;
	bool later = w->aimed % 2 == 0;

	if (!w->left || !w->races.pairs.len || i == AIMS)
		return false;
	w->aimed++;
	req->aim = (struct plait_aim){ .kind = later ? PLAIT_AIM_HOLD : PLAIT_AIM_FIRST,
				       .thread = w->left - 1,
				       .skip = later ? i : 0 };
	req->points = PLAIT_POINTS_LEARNED;
	begin_like_best(w, later ? w->agreed : w->agreed / AIMS * (AIMS - i), req);
	return true;
}

static struct run_request attempt_request(struct search *w, unsigned attempt)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY,
				   .flags = PLAIT_CONTROL_HANDOVERS,
				   .point_budget = EVENTS,
				   .event_budget = (uint64_t)EVENTS << 16,
				   .seed = attempt };

	if (attempt > 0)
		req.flags |= PLAIT_CONTROL_RACES;
	if (attempt == 1)
		req.flags |= PLAIT_CONTROL_LATE;
	else if (attempt > 1 && (attempt % 2 || !take_aim(w, &req)))
		disturb(w, attempt, &req);
	return req;
}

/* What an attempt that went another way tells the next ones. */
static void learn(struct search *w, const struct run_result *r)
{
	for (size_t i = 0; i < r->nraces; i++) {
		area_add_point(&w->session->area, r->races[i].first_site);
		area_add_point(&w->session->area, r->races[i].second_site);
	}
	w->points = MAX(w->points, r->points);
	/* one that came as far will do where nothing leads on from the best */
	if (r->log_done < w->done || (r->log_done == w->done && w->aimed < 2 * AIMS))
		return;
	w->done = r->log_done;
	w->agreed = r->left_step;
	w->left = r->left_thread;
	w->aimed = 0;
	schedule_deinit(&w->best);
	schedule_copy(&r->schedule, &w->best);
}

/* Short attempts are cheap. Without a race the order of accesses decides nothing. */
static bool goes_on(const struct search *w, unsigned attempts)
{
	return attempts < w->most ||
	       (!w->bounded && w->races.pairs.len && clock_seconds() - w->start < SECONDS);
}

static void search_deinit(struct search *w)
{
	race_tally_deinit(&w->races);
	schedule_deinit(&w->best);
}

/* Which accesses have raced, in words; NULL: none was seen. */
static char *name_races(const struct search *w)
{
	const struct plait_run *process = session_process(w->session);
	struct strbuf text = { 0 };
	uint64_t n;

	if (!w->races.pairs.len)
		return NULL;
	race_tally_write(&w->races, process, MOST_RACES, &text);
	n = race_tally_places(&w->races, process);
	if (n > MOST_RACES)
		strbuf_addf(&text, " and %llu more", (unsigned long long)n - MOST_RACES);
	return strbuf_detach(&text);
}

struct err *reorder(struct session *s, const struct trace_outcome *recorded, unsigned attempts,
		    struct racing *racing, struct run_result *r, struct pin_report *ret)
{
	_cleanup_(search_deinit) struct search w = { .session = s,
						     .points = 1000,
						     .bounded = attempts > 0 ||
								log_has_signals(s->target->log),
						     .start = clock_seconds() };
	bool cut = log_is_cut(s->target->log);
	struct err *err = NULL;

	w.most = attempts			   ? attempts
		 : log_has_signals(s->target->log) ? ATTEMPTS_WITH_SIGNALS
						   : ATTEMPTS;
	ret->state = PIN_DIVERGED;
	ret->cut = cut;
	for (ret->attempts = 0; !err && goes_on(&w, ret->attempts) && ret->state != PIN_DONE;
	     ret->attempts++) {
		struct run_request req = attempt_request(&w, ret->attempts);

		err = session_run(s, &req, r);
		if (err)
			break;
		ret->marks = r->marks_met;
		race_tally_add(&w.races, r);
		if (is_same_end(recorded, cut, r)) {
			ret->state = PIN_DONE;
		} else {
			if (r->log_done > w.done || !ret->text)
				note_divergence(s, recorded, r, ret);
			learn(&w, r);
		}
		progress("%u attempts", ret->attempts + 1);
	}
	progress_done();
	free(ret->races);
	ret->races = name_races(&w);
	if (racing)
		race_tally_list(&w.races, session_process(s), racing);
	return err;
}
