/* The races that a controlled run sees while it runs are those that its recording has.
 *
 * The programs are built by test/e2e/1621-races-live.sh, which names them in UNPLAIT_LIVE_PROGRAMS.
 * Each is run under several schedules with both: the runtime looks for races, and the run is
 * recorded. race_detect() then reads the recording. Both must name the same pairs of sites. The same
 * schedule without a recording may name fewer pairs (sched/cells.c), but none beside these, and some if
 * there are any. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "race/detect.h"
#include "run/run.h"
#include "trace/trace.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULES = 12 };

struct pairs VEC_FIELDS(uint64_t);

static void add(struct pairs *p, uint32_t a, uint32_t b)
{
	uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;

	for (size_t i = 0; i < p->len; i++)
		if (p->data[i] == pair)
			return;
	vec_push(p, pair);
}

static bool has(const struct pairs *p, uint64_t pair)
{
	for (size_t i = 0; i < p->len; i++)
		if (p->data[i] == pair)
			return true;
	return false;
}

/* How many of `a` are not in `b`. */
static unsigned count_missing(const char *what, const struct pairs *a, const struct pairs *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < a->len; i++) {
		if (has(b, a->data[i]))
			continue;
		n++;
		cr_log_error("%s: sites %u and %u", what, (uint32_t)(a->data[i] >> 32),
			     (uint32_t)a->data[i]);
	}
	return n;
}

static struct err *see_live(struct session *s, const struct run_request *req, struct run_result *r,
			    struct pairs *ret)
{
	struct err *err = session_run(s, req, r);
	const struct plait_races *races;

	if (err)
		return err;
	races = session_races(s);
	cr_assert_eq(races->looked, 1, "the run looked for races");
	cr_assert_eq(races->dropped + races->lost, 0);
	for (uint32_t i = 0; i < races->n; i++)
		add(ret, races->race[i].first_site, races->race[i].second_site);
	return NULL;
}

/* The decisions of a run once more, without a recording. */
static struct err *see_again(struct session *s, const struct run_result *r, struct pairs *ret)
{
	struct run_request req = schedule_request(&r->schedule);
	struct run_result again = { 0 };
	struct err *err;

	req.flags |= PLAIT_CONTROL_RACES;
	err = see_live(s, &req, &again, ret);
	run_result_deinit(&again);
	return err;
}

static struct err *see_both(struct session *s, const struct run_request *req, struct pairs *live,
			    struct pairs *offline, struct pairs *brief)
{
	struct race_instances found = { 0 };
	struct run_result r = { 0 };
	struct trace *t = NULL;
	struct err *err = see_live(s, req, &r, live);

	if (!err)
		err = trace_open(req->record_dir, &t);
	if (!err)
		err = race_detect(t, &found);
	for (size_t i = 0; i < found.len; i++)
		add(offline, found.data[i].first.site, found.data[i].second.site);
	race_instances_deinit(&found);
	trace_close(t);
	if (!err)
		err = see_again(s, &r, brief);
	run_result_deinit(&r);
	return err;
}

static unsigned compare(char *program, size_t *races)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_STAY, PLAIT_STRATEGY_RANDOM,
					       PLAIT_STRATEGY_POS, PLAIT_STRATEGY_PCT };
	char *argv[] = { program, NULL };
	struct target target = { .argv = argv, .timeout = 20 };
	struct session *s = NULL;
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);
	unsigned wrong = 0;

	if (!err)
		err = session_open(&target, &s);
	for (unsigned i = 0; i < SCHEDULES && !err; i++) {
		struct run_request req = { .strategy = strategies[i % ARRAY_SIZE(strategies)],
					   .seed = i + 1,
					   .depth = 3,
					   .length = 200,
					   .points = PLAIT_POINTS_ALL,
					   .flags = PLAIT_CONTROL_RACES,
					   .record_dir = dir };
		struct pairs live = { 0 }, offline = { 0 }, brief = { 0 };

		file_remove_tree(dir);
		err = file_make_dirs(dir);
		if (!err)
			err = see_both(s, &req, &live, &offline, &brief);
		*races += offline.len;
		wrong += count_missing("only while it runs", &live, &offline);
		wrong += count_missing("only in the recording", &offline, &live);
		wrong += count_missing("only without a recording", &brief, &offline);
		wrong += offline.len && !brief.len;
		if (wrong)
			cr_log_error("%s, strategy %u, seed %llu", program, req.strategy,
				     (unsigned long long)req.seed);
		vec_deinit(&live);
		vec_deinit(&offline);
		vec_deinit(&brief);
	}
	cr_assert_null(err, "%s: %s", program, err ? err_message(err) : "");
	session_close(s);
	file_remove_tree(dir);
	free(dir);
	return wrong;
}

Test(live_races, as_in_the_recording, .timeout = 600)
{
	const char *given = getenv("UNPLAIT_LIVE_PROGRAMS");
	char *programs = given ? xstrdup(given) : NULL;
	size_t races = 0;
	unsigned wrong = 0;

	if (!programs)
		cr_skip_test("test/e2e/1621-races-live.sh builds the programs");
	for (char *p = strtok_r(programs, " ", &programs); p; p = strtok_r(NULL, " ", &programs))
		wrong += compare(p, &races);
	cr_assert_eq(wrong, 0);
	cr_assert_gt(races, 0, "none of the programs has a race");
}
