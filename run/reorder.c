/* run/reorder.c - see reorder.h.
 *
 * What a recording of mode sync leaves open is the order of accesses that race. The first attempt lets every thread
 * go on as long as it may. In the second, threads go on by the times that the log has of some of their operations
 * (PLAIT_CONTROL_TIMED). The third makes accesses as late as the recorded order allows. If none of them is the
 * recorded run, the program has a data race, and this is a search:
 *
 * - Most attempts go by the recorded times, too. Where two threads came to a race at nearly the same time, the log
 *   does not tell who was first: the times get some noise, a little in the first attempts and more in later ones.
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
	NOISE_LEAST = 10, /* bits: a thousand ticks are less than a microsecond */
	NOISES = 10,	  /* each twice as much as the one before */
	AIMS = 32, /* half of them hold the thread that left back, from half of them on it is preferred */
	AIMS_BY_TIME = 64,
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

/* The attempt that came furthest of those that go by the recorded times, or of the others: what the next ones like it
 * begin with. */
struct best {
	bool timed;
	struct schedule schedule;
	uint64_t clock; /* timed: the recorded time to which all threads had come */
	uint64_t done, agreed;
	uint32_t left;	/* the thread that left the recording, + 1; 0: none did */
	unsigned aimed; /* attempts that have aimed at it */
};

struct search {
	struct session *session;
	unsigned most;
	bool bounded; /* no attempt more */
	double start;
	struct race_tally races;
	struct best by_time, by_order;
	uint64_t points; /* of the longest attempt */
};

/* How much of the best attempt's schedule this one begins with, in steps. */
static uint64_t kept_steps(const struct best *best, unsigned i)
{
	switch (i % 4) {
	case 1:
		return 0;
	case 3:
		return best->agreed / 2;
	default:
		return best->agreed;
	}
}

static void begin_like(const struct best *best, uint64_t steps, struct run_request *req)
{
	req->decisions = best->schedule.decisions.data;
	req->ndecisions = schedule_prefix(&best->schedule, steps);
	req->prefix_steps = steps;
	if (req->ndecisions)
		req->flags |= PLAIT_CONTROL_PREFIX;
}

static void disturb(const struct search *w, unsigned attempt, struct run_request *req)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_POS,
					       PLAIT_STRATEGY_PCT };

	req->strategy = strategies[attempt / 4 % ARRAY_SIZE(strategies)];
	req->depth = 2 + attempt * 3 / w->most % 4;
	req->length = w->points;
	req->points =
		w->races.pairs.len && attempt / 4 % 5 ? PLAIT_POINTS_LEARNED : PLAIT_POINTS_ALL;
	begin_like(&w->by_order, kept_steps(&w->by_order, attempt / 12), req);
}

/* As the times say, but for some noise. */
static void blur(const struct search *w, unsigned attempt, struct run_request *req)
{
	req->noise = 1u << (NOISE_LEAST + attempt / 4 % NOISES);
	req->points = PLAIT_POINTS_LEARNED;
	begin_like(&w->by_time, kept_steps(&w->by_time, attempt / 4), req);
}

/* The thread that left the recording had one preemption more: from one of its racing accesses behind its last mark on it
 * came later; or from there, or from some time before, it came earlier. By the times: it also may have seen somebody's
 * write behind so many of its accesses. */
static struct plait_aim next_aim(const struct best *best)
{
	static const uint32_t kinds[2][4] = {
		{ PLAIT_AIM_HOLD, PLAIT_AIM_FIRST, PLAIT_AIM_HOLD, PLAIT_AIM_FIRST },
		{ PLAIT_AIM_MEET, PLAIT_AIM_MEET, PLAIT_AIM_MEET, PLAIT_AIM_HOLD },
	};
	const uint32_t *row = kinds[best->timed];
	struct plait_aim aim = { .kind = row[best->aimed % 4], .thread = best->left - 1 };

	for (unsigned i = 0; i < best->aimed; i++)
		aim.skip += row[i % 4] == aim.kind;
	return aim;
}

/* False: all aims have been tried. */
static bool take_aim(const struct search *w, struct best *best, struct run_request *req)
{
	uint64_t from = best->agreed;

	if (!best->left || !w->races.pairs.len ||
	    best->aimed == (best->timed ? AIMS_BY_TIME : AIMS))
		return false;
	req->aim = next_aim(best);
	best->aimed++;
	if (req->aim.kind == PLAIT_AIM_FIRST)
		from = best->agreed / (AIMS / 2) * (AIMS / 2 - req->aim.skip);
	req->points = PLAIT_POINTS_LEARNED;
	begin_like(best, from, req);
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
	if (attempt % 2)
		req.flags |= PLAIT_CONTROL_TIMED;
	if (attempt == 2)
		req.flags |= PLAIT_CONTROL_LATE;
	if (attempt < 3)
		return req;
	if (attempt % 4 < 2 && take_aim(w, attempt % 2 ? &w->by_time : &w->by_order, &req))
		return req;
	if (attempt % 2)
		blur(w, attempt, &req);
	else
		disturb(w, attempt, &req);
	return req;
}

/* Did the attempt come further than the best one of its kind? One that came as far will do when nothing leads on from
 * that one. */
static bool is_better(const struct best *best, const struct run_result *r)
{
	unsigned aims = best->timed ? AIMS_BY_TIME : AIMS;

	if (best->timed && r->log_clock != best->clock)
		return r->log_clock > best->clock;
	return r->log_done > best->done || (r->log_done == best->done && best->aimed >= aims);
}

/* What an attempt that went another way tells the next ones. */
static void learn(struct search *w, const struct run_request *req, const struct run_result *r)
{
	struct best *best = req->flags & PLAIT_CONTROL_TIMED ? &w->by_time : &w->by_order;

	for (size_t i = 0; i < r->nraces; i++) {
		area_add_point(&w->session->area, r->races[i].first_site);
		area_add_point(&w->session->area, r->races[i].second_site);
	}
	w->points = MAX(w->points, r->points);
	if (!is_better(best, r))
		return;
	best->clock = r->log_clock;
	best->done = r->log_done;
	best->agreed = r->left_step;
	best->left = r->left_thread;
	best->aimed = 0;
	schedule_deinit(&best->schedule);
	schedule_copy(&r->schedule, &best->schedule);
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
	schedule_deinit(&w->by_time.schedule);
	schedule_deinit(&w->by_order.schedule);
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
						     .by_time.timed = true,
						     .points = 1000,
						     .bounded = attempts > 0 ||
								log_has_signals(s->target->log),
						     .start = clock_seconds() };
	bool cut = log_is_cut(s->target->log);
	uint64_t furthest = 0;
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
		log_debug(3, "attempt %u: %llu operations to time %llu, %u marks", ret->attempts,
			  (unsigned long long)r->log_done, (unsigned long long)r->log_clock,
			  r->marks_met);
		race_tally_add(&w.races, r);
		if (is_same_end(recorded, cut, r)) {
			ret->state = PIN_DONE;
		} else {
			if (r->log_done > furthest || !ret->text)
				note_divergence(s, recorded, r, ret);
			furthest = MAX(furthest, r->log_done);
			learn(&w, &req, r);
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
