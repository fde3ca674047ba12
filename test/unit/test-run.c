/* run/: the judge, the portfolio, systematic search, hunts and minimizing, on a session that starts
 * no process. Its driver plays a small program inside this one: two threads that add to a counter,
 * in two steps each or, when the program is correct, in one. */
#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "base/process.h"
#include "run/dfs.h"
#include "run/judge.h"
#include "run/patience.h"
#include "debug/modules.h"
#include "run/output.h"
#include "run/place.h"
#include "run/portfolio.h"
#include "run/sanitizer.h"
#include "run/session.h"

#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2 };

/* What the program does; the driver's context. */
struct model {
	unsigned rounds;    /* additions per thread */
	bool correct;	    /* each addition is one step */
	int failing_status; /* of waitpid, when an addition was lost */
	int always;	    /* ... otherwise */
	uint64_t runs;
};

struct play {
	const struct model *m;
	struct plait_control *c;
	struct decision_reader decisions;
	struct decision next;
	bool more;
	unsigned done[THREADS], local[THREADS], counter, running;
	uint64_t step, last_decision;
	uint8_t *out;
};

static unsigned length(const struct model *m)
{
	return m->rounds * (m->correct ? 1 : 2);
}

static bool can_run(const struct play *p, uint32_t thread)
{
	return thread < THREADS && p->done[thread] < length(p->m);
}

static bool is_write(const struct play *p, uint32_t thread)
{
	return p->m->correct || p->done[thread] % 2 == 1;
}

static void *region(const struct play *p, uint64_t at)
{
	return (char *)p->c + at;
}

static uint32_t by_turns(const struct play *p)
{
	const struct plait_turn *t = region(p, PLAIT_CONTROL_TURNS);

	for (uint64_t i = 0; i < p->c->turns_len; i++)
		if (can_run(p, t[i].thread) && p->done[t[i].thread] < t[i].upto)
			return t[i].thread;
	return p->running;
}

static bool is_random(uint32_t strategy)
{
	return strategy == PLAIT_STRATEGY_RANDOM || strategy == PLAIT_STRATEGY_POS ||
	       strategy == PLAIT_STRATEGY_PCT || strategy == PLAIT_STRATEGY_RF;
}

static uint32_t choose(struct play *p)
{
	uint32_t t = p->running;

	if (p->more && p->next.step == p->step) {
		t = p->next.value;
		p->more = decision_read(&p->decisions, &p->next);
		if (!can_run(p, t))
			p->c->end = PLAIT_END_DIVERGED;
	} else if (p->c->strategy == PLAIT_STRATEGY_FOLLOW) {
		t = by_turns(p);
	} else if (is_random(p->c->strategy)) {
		t = (uint32_t)(hash_u64(p->c->seed * 1000 + p->step) % THREADS);
	}
	return can_run(p, t) ? t : (t + 1) % THREADS;
}

static void log_candidate(struct play *p, uint32_t thread, uint32_t flags)
{
	struct plait_choice *log = region(p, PLAIT_CONTROL_CHOICES);

	log[p->c->choices_len++] =
		(struct plait_choice){ .step = p->step,
				       .object = 0x1000,
				       .thread = thread,
				       .kind = PLAIT_EV_READ,
				       .flags = flags |
						(is_write(p, thread) ? PLAIT_CHOICE_WRITES : 0) |
						(thread == p->running ? PLAIT_CHOICE_RUNNING : 0) };
}

static void log_choice(struct play *p, uint32_t chosen)
{
	uint32_t other = (chosen + 1) % THREADS;

	if (!(p->c->flags & PLAIT_CONTROL_LOG))
		return;
	log_candidate(p, chosen, can_run(p, other) ? PLAIT_CHOICE_CHOSEN : PLAIT_CHOICE_EXECUTED);
	if (can_run(p, other))
		log_candidate(p, other, 0);
}

static void execute(struct play *p, uint32_t t)
{
	if (!is_write(p, t))
		p->local[t] = p->counter;
	else
		p->counter = (p->m->correct ? p->counter : p->local[t]) + 1;
	p->done[t]++;
	p->c->hash = hash_u64(p->c->hash ^ t);
	p->step++;
}

static void note_switch(struct play *p, uint32_t thread)
{
	struct decision d = { .step = p->step, .kind = DECISION_SWITCH, .value = thread };

	if (thread == p->running)
		return;
	p->out = decision_write(p->out, &d, p->last_decision);
	p->last_decision = p->step;
	p->running = thread;
	p->c->switches++;
}

static struct err *play_start(struct session *s)
{
	(void)s;
	return NULL;
}

static struct err *play_finish(struct session *s, int *status, bool *timed_out)
{
	struct model *m = s->context;
	struct play p = { .m = m, .c = s->area.control };
	uint8_t *begin = region(&p, PLAIT_CONTROL_DECISIONS);

	m->runs++;
	p.out = begin;
	decision_reader_init(&p.decisions, region(&p, PLAIT_CONTROL_REPLAY), p.c->replay_len);
	p.more = decision_read(&p.decisions, &p.next);
	p.c->started = 1;
	p.c->end = PLAIT_END_EXIT;
	while (can_run(&p, 0) || can_run(&p, 1)) {
		uint32_t t = choose(&p);

		log_choice(&p, t);
		note_switch(&p, t);
		execute(&p, t);
	}
	p.c->steps = p.c->points_taken = p.step;
	p.c->decisions_len = (uint64_t)(p.out - begin);
	p.c->nthreads = THREADS;
	*timed_out = false;
	*status = p.counter == m->rounds * THREADS ? m->always : m->failing_status;
	return NULL;
}

static void play_close(struct session *s)
{
	(void)s;
}

static const struct session_driver play_driver = { play_start, play_finish, play_close };

static struct err *open_play(void *context, const struct target *target, struct session **ret)
{
	return session_open_with(target, &play_driver, context, ret);
}

static void hunt_in(struct model *m, struct hunt_options o, struct hunt_result *ret)
{
	struct err *err;

	o.open = open_play;
	o.open_context = m;
	o.points = PLAIT_ANY;
	o.seed = o.seed ? o.seed : 1;
	err = hunt_run(&o, ret);
	cr_assert_null(err, "%s", err ? err_message(err) : "");
}

/* ---- the judge ---- */

/* The message is good until the next call. */
static enum plait_outcome_kind judged(struct judge_options o, struct run_end e, char **message)
{
	static char *last;
	enum plait_outcome_kind kind;
	struct err *err;

	free(last);
	err = judge(&o, &e, &kind, &last);
	*message = last;
	cr_assert_null(err, "%s", err ? err_message(err) : "");
	return kind;
}

Test(judge, what_the_process_says)
{
	struct judge_options plain = { 0 }, strict = { .fail_on_exit = true };
	char *m;

	cr_assert_eq(judged(plain, (struct run_end){ 0 }, &m), PLAIT_OUTCOME_PASS);
	cr_assert_null(m);
	cr_assert_eq(judged(plain, (struct run_end){ .exit_code = 3 }, &m), PLAIT_OUTCOME_PASS);
	cr_assert_eq(judged(strict, (struct run_end){ .exit_code = 3 }, &m), PLAIT_OUTCOME_EXIT);
	cr_assert_str_eq(m, "it exited with status 3");
	cr_assert_eq(judged(plain, (struct run_end){ .exit_code = -1, .signal = SIGABRT }, &m),
		     PLAIT_OUTCOME_ASSERT);
	cr_assert_eq(judged(plain, (struct run_end){ .exit_code = -1, .signal = SIGSEGV }, &m),
		     PLAIT_OUTCOME_SIGNAL);
	cr_assert_eq(judged(plain,
			    (struct run_end){ .signal = SIGKILL, .timed_out = true, .seconds = 2 },
			    &m),
		     PLAIT_OUTCOME_HANG);
	cr_assert_str_eq(m, "it had not ended after 2 seconds");
}

Test(judge, what_the_engine_noted_comes_first)
{
	struct judge_options strict = { .fail_on_exit = true };
	char *m;

	cr_assert_eq(judged(strict,
			    (struct run_end){ .control = PLAIT_END_DEADLOCK, .exit_code = 1 }, &m),
		     PLAIT_OUTCOME_DEADLOCK);
	cr_assert_eq(
		judged(strict, (struct run_end){ .control = PLAIT_END_BUDGET, .exit_code = 1 }, &m),
		PLAIT_OUTCOME_HANG);
	cr_assert_eq(judged(strict,
			    (struct run_end){ .control = PLAIT_END_DIVERGED, .exit_code = 1 }, &m),
		     PLAIT_OUTCOME_UNKNOWN);
	cr_assert_eq(judged(strict, (struct run_end){ .not_controlled = true, .exit_code = 1 }, &m),
		     PLAIT_OUTCOME_UNKNOWN);
}

Test(judge, output_and_oracle)
{
	char *dir, *m;

	cr_assert_null(file_temp_dir(&dir));
	char *out = xasprintf("%s/out", dir), *good = xasprintf("%s/good", dir);
	struct run_end e = { .out = out, .errors = out };

	cr_assert_null(file_write(out, "seven\n", 6));
	cr_assert_null(file_write(good, "seven\n", 6));
	cr_assert_eq(judged((struct judge_options){ .expect = good }, e, &m), PLAIT_OUTCOME_PASS);
	cr_assert_null(file_write(good, "eight\n", 6));
	cr_assert_eq(judged((struct judge_options){ .expect = good }, e, &m), PLAIT_OUTCOME_OUTPUT);
	cr_assert_eq(
		judged((struct judge_options){ .oracle = "grep -q seven $PLAIT_STDOUT" }, e, &m),
		PLAIT_OUTCOME_PASS);
	cr_assert_eq(judged((struct judge_options){ .oracle = "exit 9" }, e, &m),
		     PLAIT_OUTCOME_ORACLE);
	cr_assert_str_eq(m, "the oracle said so (status 9)");
	/* a run that failed by itself needs no oracle */
	e.signal = SIGSEGV;
	cr_assert_eq(judged((struct judge_options){ .oracle = "exit 0" }, e, &m),
		     PLAIT_OUTCOME_SIGNAL);
	file_remove_tree(dir);
	free(dir);
	free(out);
	free(good);
}

/* ---- what the program said ---- */

static void headline(const char *out, const char *errors, const char *want)
{
	char *got = output_headline(out, errors);

	cr_assert_not_null(got);
	cr_assert_str_eq(got, want);
	free(got);
}

Test(output, the_line_that_tells_most)
{
	headline("",
		 "terminate called after throwing an instance of 'std::logic_error'\n"
		 "  what():  no such key\n",
		 "uncaught std::logic_error: no such key");
	headline("",
		 "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n    #0 f\n"
		 "SUMMARY: AddressSanitizer: heap-use-after-free a.c:3 in f\n",
		 "AddressSanitizer: heap-use-after-free a.c:3 in f");
	headline("[ RUN      ] A.B\na.cc:3: Failure\n[  FAILED  ] A.B (12 ms)\n 1 FAILED TEST\n",
		 "", "[  FAILED  ] A.B");
	headline("[ RUN      ] A.B\nunknown file: Failure\nC++ exception with description \"no "
		 "room\" thrown in the test body.\n[  FAILED  ] A.B (1 ms)\n",
		 "",
		 "[  FAILED  ] A.B: C++ exception with description \"no room\" thrown in the test "
		 "body.");
	headline("main.cpp:9: FAILED:\n  REQUIRE( n == 2 )\nwith expansion:\n", "",
		 "main.cpp:9: FAILED: REQUIRE( n == 2 )");
	headline("ok 1 - a\nnot ok 2 - b\n", "", "not ok 2 - b");
	headline("", "**\nERROR:q.c:5:pop: assertion failed: (n > 0)\nBail out!\n",
		 "ERROR:q.c:5:pop: assertion failed: (n > 0)");
	headline("hello\n", "double free or corruption (fasttop)\n",
		 "double free or corruption (fasttop)");
	headline("first\nlast\n\n", "", "last");
	cr_assert_null(output_headline("", NULL));
	cr_assert_null(output_report("test FAILED\n", "some words\n"), "not about a crash");
}

Test(output, values_do_not_make_another_failure)
{
	cr_assert_eq(output_fingerprint("test_a: got 3 of 10 at 0x7f00 (0.2 s)"),
		     output_fingerprint("test_a: got 5 of 10 at 0x7e10 (0.31 s)"));
	cr_assert_neq(output_fingerprint("test1 failed"), output_fingerprint("test2 failed"));
	cr_assert_neq(output_fingerprint("a.c:12: failed"), output_fingerprint("a.c:13: failed"));
}

/* ---- exit statuses ---- */

Test(hunt, a_status_counts_as_soon_as_another_run_ends_with_0)
{
	struct model m = { .rounds = 1, .failing_status = 3 << 8 };
	struct hunt_result r;

	hunt_in(&m, (struct hunt_options){ .strategy = "auto", .runs = 100, .replays = 5 }, &r);
	cr_assert_eq(r.failures.len, 1);
	cr_assert_eq(r.failures.data[0].result.outcome, PLAIT_OUTCOME_EXIT);
	cr_assert_eq(r.failures.data[0].result.exit_code, 3);
	cr_assert_eq(r.failures.data[0].same, 5);
	hunt_result_deinit(&r);
	hunt_in(&m,
		(struct hunt_options){ .strategy = "auto",
				       .runs = 100,
				       .target.ignored = OUTCOME_BIT(PLAIT_OUTCOME_EXIT) },
		&r);
	cr_assert_eq(r.failures.len, 0);
	hunt_result_deinit(&r);
}

Test(hunt, a_program_that_never_ends_with_0_is_not_judged_by_it)
{
	struct model m = { .rounds = 1, .correct = true, .always = 4 << 8 };
	struct hunt_result r;

	hunt_in(&m, (struct hunt_options){ .strategy = "random", .runs = 20 }, &r);
	cr_assert_eq(r.failures.len, 0);
	cr_assert_eq(r.odd_exit, 4);
	hunt_result_deinit(&r);
}

/* ---- the portfolio ---- */

static void plan(struct portfolio *p, uint64_t run, struct planned *ret)
{
	static struct plait_pairs none;
	static uint8_t points[PLAIT_CONTROL_POINTS_SIZE];
	static struct plait_count counts[PLAIT_CONTROL_COUNTS_MAX];
	static uint32_t parents[PLAIT_MAX_THREADS];
	const struct knowledge nothing = { &none, points, points, counts, parents };

	portfolio_plan(p, run, &nothing, ret);
}

Test(portfolio, the_first_runs_learn_and_a_seed_decides_the_rest)
{
	struct portfolio a, b;
	struct planned x, y;
	bool differs = false;

	cr_assert_null(portfolio_init(&a, "auto", 7, PLAIT_ANY, false));
	cr_assert_null(portfolio_init(&b, "auto", 7, PLAIT_ANY, false));
	cr_assert(portfolio_is_mixed(&a));
	for (uint64_t run = 0; run < 50; run++) {
		plan(&a, run, &x);
		plan(&b, run, &y);
		cr_assert_eq(x.learning, run < 1);
		cr_assert_eq(x.request.strategy, y.request.strategy);
		cr_assert_eq(x.request.seed, y.request.seed);
		cr_assert_eq(x.request.points, y.request.points);
		if (x.learning)
			cr_assert_eq(x.request.points, PLAIT_POINTS_ALL);
		differs |= x.request.strategy != PLAIT_STRATEGY_RANDOM;
	}
	cr_assert(differs);
}

Test(portfolio, what_sees_new_pairs_gets_more_runs)
{
	struct portfolio p;
	struct planned x = { 0 };
	struct run_result good = { .new_pairs = 1, .points = 5 }, bad = { .points = 9 };

	cr_assert_null(portfolio_init(&p, "auto", 1, PLAIT_ANY, false));
	for (int i = 0; i < 1000; i++) {
		x.arm = &p.arms[0];
		portfolio_learn(&p, &x, &good);
		x.arm = &p.arms[1];
		portfolio_learn(&p, &x, &bad);
	}
	cr_assert_gt(p.arms[0].weight, 4);
	cr_assert_float_eq(p.arms[1].weight, 0.5, 0.2);
	cr_assert_eq(p.longest[0], 9);
	bad.outcome = PLAIT_OUTCOME_HANG;
	bad.points = 1000;
	portfolio_learn(&p, &x, &bad);
	cr_assert_eq(p.longest[0], 9, "a run that was given up says nothing about length");
}

Test(portfolio, names_of_strategies)
{
	static const char *const none[] = { "states", "follow", "nonsense" };
	struct portfolio p;

	cr_assert_null(portfolio_init(&p, "pct:5", 1, PLAIT_ANY, false));
	cr_assert_eq(p.arms[0].depth, 5);
	cr_assert(!portfolio_is_mixed(&p));
	cr_assert_null(portfolio_init(&p, "dfs", 1, PLAIT_ANY, false));
	cr_assert_eq(p.way, PORTFOLIO_DFS);
	cr_assert_null(portfolio_init(&p, "states", 1, PLAIT_ANY, true));
	cr_assert_eq(p.way, PORTFOLIO_STATES);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct err *err = portfolio_init(&p, none[i], 1, PLAIT_ANY, false);

		cr_assert_not_null(err);
		err_free(err);
	}
}

/* ---- hunts ---- */

Test(hunt, finds_confirms_and_stops)
{
	struct model m = { .rounds = 1, .failing_status = SIGABRT };
	struct hunt_result r;

	hunt_in(&m, (struct hunt_options){ .strategy = "auto", .runs = 100, .replays = 5 }, &r);
	cr_assert_eq(r.failures.len, 1);
	cr_assert_eq(r.failures.data[0].result.outcome, PLAIT_OUTCOME_ASSERT);
	cr_assert_eq(r.failures.data[0].same, 5);
	cr_assert_eq(r.failures.data[0].run, r.runs);
	cr_assert_eq(m.runs, r.runs + 5);
	cr_assert_eq(r.threads, THREADS);
	hunt_result_deinit(&r);
}

Test(hunt, the_number_of_jobs_does_not_change_what_a_run_is)
{
	struct model m = { .rounds = 1, .correct = true };
	struct hunt_result one, four;

	hunt_in(&m, (struct hunt_options){ .strategy = "random", .runs = 60 }, &one);
	hunt_in(&m, (struct hunt_options){ .strategy = "random", .runs = 60, .jobs = 4 }, &four);
	cr_assert_eq(one.runs, 60);
	cr_assert_eq(four.runs, 60);
	cr_assert_eq(one.steps, four.steps);
	hunt_result_deinit(&one);
	hunt_result_deinit(&four);
}

/* Two threads with one addition in two steps each: of six schedules four lose an addition, and two
 * pairs of them are equivalent. */
Test(hunt, dfs_explores_every_schedule_once)
{
	struct model m = { .rounds = 1, .failing_status = SIGABRT };
	struct model correct = { .rounds = 2, .correct = true };
	struct hunt_options all = { .strategy = "dfs", .all = true };
	struct hunt_result r;

	hunt_in(&m, all, &r);
	cr_assert(r.claim.ended);
	cr_assert_eq(r.failures.len, 1, "they fail at the same place");
	cr_assert_geq(r.failures.data[0].times, 2);
	cr_assert_leq(r.runs, 6);
	hunt_result_deinit(&r);
	hunt_in(&correct, all, &r);
	cr_assert(r.claim.ended);
	cr_assert_eq(r.failures.len, 0);
	cr_assert_eq(r.runs, 6, "steps that depend on each other cannot be left out");
	hunt_result_deinit(&r);
}

Test(hunt, a_bound_on_preemptions_leaves_schedules_out)
{
	struct model m = { .rounds = 1, .failing_status = SIGABRT };
	struct hunt_result r;

	hunt_in(&m, (struct hunt_options){ .strategy = "dfs:0", .all = true }, &r);
	cr_assert(r.claim.ended);
	cr_assert_eq(r.failures.len, 0);
	cr_assert_eq(r.runs, 1, "nobody is ever preempted, and thread 0 begins");
	hunt_result_deinit(&r);
	hunt_in(&m, (struct hunt_options){ .strategy = "dfs:1", .all = true }, &r);
	cr_assert_eq(r.failures.len, 1);
	hunt_result_deinit(&r);
}

/* ---- minimizing ---- */

Test(minimize, few_switches_are_left)
{
	struct model m = { .rounds = 6, .failing_status = SIGABRT };
	struct target target = { 0 };
	struct run_request req = { .strategy = PLAIT_STRATEGY_RANDOM, .seed = 3 };
	struct run_result failing = { 0 }, small = { 0 };
	struct session *s;
	unsigned tried = 3, same;
	uint64_t runs;

	cr_assert_null(open_play(&m, &target, &s));
	cr_assert_null(session_run(s, &req, &failing));
	cr_assert(run_failed(&failing));
	cr_assert_gt(schedule_switches(&failing.schedule), 3);
	cr_assert_null(minimize_run(s, &failing, 500, &small, &runs));
	cr_assert_eq(small.outcome, PLAIT_OUTCOME_ASSERT);
	cr_assert_leq(schedule_switches(&small.schedule), 2);
	cr_assert_leq(runs, 500);
	cr_assert_null(confirm(s, &small, &tried, &same));
	cr_assert_eq(same, 3);
	cr_assert_eq(tried, 3);
	run_result_deinit(&failing);
	run_result_deinit(&small);
	session_close(s);
}

Test(minimize, a_schedule_that_passes_is_refused)
{
	struct model m = { .rounds = 1, .failing_status = SIGABRT };
	struct target target = { 0 };
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY };
	struct run_result passing = { 0 }, small = { 0 };
	struct session *s;
	struct err *err;
	uint64_t runs;

	cr_assert_null(open_play(&m, &target, &s));
	cr_assert_null(session_run(s, &req, &passing));
	cr_assert(!run_failed(&passing));
	passing.outcome = PLAIT_OUTCOME_ASSERT; /* says the plait; the program was mended */
	err = minimize_run(s, &passing, 10, &small, &runs);
	cr_assert_not_null(err);
	cr_assert_eq(err_kind(err), ERR_INCONCLUSIVE);
	err_free(err);
	run_result_deinit(&passing);
	run_result_deinit(&small);
	session_close(s);
}

/* ---- how long a run has had ---- */

static int spin_or_sleep(void *arg)
{
	volatile unsigned n = 0;

	if (arg)
		pause();
	for (;;)
		n++;
}

/* A process that runs is charged its processor time, one that sleeps real time. */
Test(patience, busy_and_asleep)
{
	for (int asleep = 0; asleep <= 1; asleep++) {
		struct patience p;
		struct process child;

		cr_assert_null(process_fork(spin_or_sleep, asleep ? &child : NULL, &child));
		patience_begin(&p);
		for (int i = 0; i < 5; i++) {
			process_wait_for(&child, 0.02);
			patience_look(&p, child.pid);
		}
		cr_assert(p.own <= p.wall + 1e-6, "it never had more than real time");
		if (asleep)
			cr_assert(p.own > 0.8 * p.wall, "%g of %g", p.own, p.wall);
		cr_assert(!patience_is_over(&p, 1000));
		cr_assert(patience_is_over(&p, p.own / 2));
		cr_assert(patience_is_over(&p, p.wall / 11), "ten times the real time is enough");
		process_kill(&child);
	}
}

/* A recording of mode sync may have more steps than hunt would ever allow. */
Test(schedule, long_runs)
{
	struct schedule s = { .outcome = PLAIT_OUTCOME_PASS, .steps = 133000000 };
	struct run_request req = schedule_request(&s);

	cr_assert_gt(req.event_budget, s.steps);
	cr_assert_gt(req.point_budget, 0);
	s.steps = 1000;
	cr_assert_eq(schedule_request(&s).event_budget, 0, "the usual budget");
	s.outcome = PLAIT_OUTCOME_HANG;
	cr_assert_eq(schedule_request(&s).event_budget, 1000, "a hang ends where it did");
}

/* explain and minimize run other schedules of a program whose first run was long: those may be as long. */
Test(session, a_long_run_makes_it_patient)
{
	struct model m = { .rounds = RUN_POINTS, .correct = true };
	struct target target = { 0 };
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY };
	struct run_result r = { 0 };
	struct session *s;

	cr_assert_null(open_play(&m, &target, &s));
	cr_assert_null(session_write_request(s, &req));
	cr_assert_eq(s->area.control->point_budget, RUN_POINTS);
	cr_assert_null(session_run(s, &req, &r));
	cr_assert_eq(r.points, THREADS * RUN_POINTS);
	cr_assert_null(session_write_request(s, &req));
	cr_assert_eq(s->area.control->point_budget, HANG_FACTOR * THREADS * RUN_POINTS);
	target.point_budget = 7;
	cr_assert_null(session_write_request(s, &req));
	cr_assert_eq(s->area.control->point_budget, 7, "what the user says counts");
	run_result_deinit(&r);
	session_close(s);
}

Test(sanitizer, a_stack_of_a_report)
{
	static const char text[] =
		"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x5\n"
		"READ of size 8 at 0x60 thread T1\n"
		"    #0 0x55e8 in std::unique_ptr<int>::release() "
		"/usr/include/c++/12/bits/unique_ptr.h:209:16\n"
		"    #1 0x55e8 in Queue::pop(int&) const src/queue.h:12:3\n"
		"    #2 0x55f0 in Pool::run() src/pool.h:40\n"
		"    #3 0x7f00 in start_thread (/lib/libc.so.6+0x123)\n"
		"\n"
		"freed by thread T0 here:\n"
		"    #0 0x55ff in free other.c:1:2\n";
	struct places stack = { 0 };

	sanitizer_stack(text, &stack);
	cr_assert_eq(stack.len, 2);
	cr_assert_str_eq(stack.data[0].file, "src/queue.h");
	cr_assert_str_eq(stack.data[0].function, "Queue::pop(int&) const");
	cr_assert_eq(stack.data[0].line, 12);
	cr_assert_str_eq(stack.data[1].file, "src/pool.h");
	cr_assert_eq(stack.data[1].line, 40);
	places_deinit(&stack);
	sanitizer_stack("no report\n    #0 0x1 in f a.c:1\n", &stack);
	cr_assert_eq(stack.len, 0);
}

Test(sanitizer, addresses_of_unknown_files_stay)
{
	struct modules *modules = NULL;
	char *text = xasprintf(
		     "==7==ERROR: AddressSanitizer: x\n    #0 0x55e8  (/nowhere/at/all+0x12) "
		     "(BuildId: ab)\nSUMMARY: AddressSanitizer: x (/nowhere/at/all+0x12)\n"),
	     *named = sanitizer_name_places(text, &modules);

	cr_assert_not_null(named);
	cr_assert_not_null(strstr(named, "    #0 0x55e8 (/nowhere/at/all+0x12)"));
	cr_assert_not_null(strstr(named, "SUMMARY: AddressSanitizer: x (/nowhere/at/all+0x12)\n"));
	cr_assert_null(sanitizer_name_places("nothing of that kind\n", &modules));
	free(named);
	free(text);
	modules_free(modules);
}
