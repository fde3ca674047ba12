/* cmd/cmd-solve.c - a schedule from per-thread paths: the order engine's answer, run natively. */
#include "cmd/cmd.h"
#include "cmd/pinned.h"
#include "cmd/trust.h"
#include "cmd/show-run.h"

#include "base/file.h"
#include "solve/solve.h"
#include "order/why/conflict.h"
#include "order/model/skeleton.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct solve_job {
	struct question_options options;
	struct target target;
	bool pass, no_run, reference;
	uint64_t switches; /* at most; 0 = as few as possible */
	const char *output, *dot;
	struct trace *trace;
	struct session *session;
	struct question q;
	bool conflicts[ORDER_FAMILIES];
	bool has_conflicts;
	struct order_reference published;
	char *saved; /* the plait that was written */
};

static struct question_answer *answer_of(struct solve_job *j)
{
	return j->pass ? &j->q.passing : &j->q.failing;
}

/* ---- work ---- */

static struct err *find_conflicts(struct solve_job *j)
{
	struct order_budget budget = { .seconds = 5, .seed = j->options.seed };

	if (answer_of(j)->status != ORDER_UNSAT)
		return NULL;
	j->has_conflicts = true;
	return order_conflicts(j->q.loaded.built.m, j->pass ? ORDER_PASS : ORDER_FAIL, &budget,
			       j->conflicts);
}

static struct err *save(struct solve_job *j)
{
	const struct question_answer *a = answer_of(j);
	struct err *err;

	if (!a->confirmed || !j->output)
		return NULL;
	err = save_plait(j->session, &a->native.run, j->output);
	if (!err)
		j->saved = xstrdup(j->output);
	return err;
}

static void place(void *arg, uint64_t site, struct strbuf *out)
{
	struct code_point p;

	if (arg && symbols_site(arg, (uint32_t)site, &p) && *p.file)
		strbuf_addf(out, "%s:%u", p.file, p.line);
}

static struct err *draw(struct solve_job *j)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	const struct question_answer *a = answer_of(j);
	struct symbols *symbols = NULL;
	struct err *err;

	if (!j->dot || a->status != ORDER_SAT)
		return NULL;
	err = symbols_open(j->trace, &symbols);
	if (err) { /* without source lines, then */
		err_free(err);
		symbols = NULL;
	}
	order_skeleton_dot(j->q.loaded.built.m, a->order,
			   MIN(a->len, j->q.loaded.built.m->events.len), place, symbols, &out);
	symbols_close(symbols);
	return file_write(j->dot, strbuf_str(&out), out.len);
}

static struct err *published(struct solve_job *j)
{
	if (!j->reference)
		return NULL;
	return order_reference(j->q.loaded.built.m, j->pass ? ORDER_PASS : ORDER_FAIL,
			       j->options.seconds > 0 ? j->options.seconds : 30, false,
			       &j->published);
}

static struct err *work(struct solve_job *j)
{
	struct err *err = question_open(j->trace, j->session, &j->options, &j->q);

	if (err || j->q.loaded.unsupported)
		return err;
	if (!j->pass || trace_meta(j->trace)->outcome.kind != PLAIT_OUTCOME_PASS)
		err = question_fail(&j->q);
	if (!err && j->pass)
		err = question_pass(&j->q);
	if (!err)
		err = find_conflicts(j);
	if (!err)
		err = save(j);
	if (!err)
		err = draw(j);
	return err ? err : published(j);
}

/* ---- output ---- */

static const char *const status_name[] = { "unknown", "sat", "unsat" };

static void print_turns(const struct order_model *m, const struct question_answer *a)
{
	size_t i = 0;

	while (i < a->len) {
		const struct order_event *e = &m->events.data[a->order[i]];
		size_t n = 0;

		while (i + n < a->len && m->events.data[a->order[i + n]].thread == e->thread)
			n++;
		printf("  %s %zu", m->threads.data[e->thread].name, n);
		i += n;
	}
	putchar('\n');
}

static void print_native(struct solve_job *j, const struct question_answer *a)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	const struct realized *r = &a->native;

	if (!j->session) {
		printf("not run natively (--no-run): unconfirmed\n");
		return;
	}
	show_outcome(&r->run, &text);
	printf("%s by a native run: %zu of %zu events as asked\n",
	       a->confirmed ? "confirmed" : "NOT confirmed", r->matched, r->events);
	printf("  it ended: %s%s", strbuf_str(&text), text.len ? "" : "pass\n");
	if (j->saved)
		print_saved(j->saved);
}

static void print_text(struct solve_job *j)
{
	const struct question_answer *a = answer_of(j);
	const struct loaded *l = &j->q.loaded;
	const struct order_model *m = l->built.m;

	for (size_t i = 0; i < l->gaps.len; i++)
		printf("left out or assumed: %s\n", l->gaps.text[i]);
	if (l->unsupported) {
		printf("no constraints: %s\n", l->unsupported);
		return;
	}
	printf("%zu events of %zu threads, %zu conditions; failure: %s\n", m->events.len,
	       m->threads.len, m->conditions.len, l->condition ? l->condition : "none recorded");
	printf("%s: an order that %s, %.3f s%s%s\n", status_name[a->status],
	       j->pass ? "passes" : "fails", a->seconds_solve, a->stats.how ? " by " : "",
	       a->stats.how ? a->stats.how : "");
	if (a->status == ORDER_SAT) {
		printf("%zu switches (%zu as solved); turns as thread and events:\n", a->switches,
		       a->switches_found);
		print_turns(m, a);
		print_native(j, a);
	}
	for (int f = 0; j->has_conflicts && f < ORDER_FAMILIES; f++)
		if (j->conflicts[f])
			printf("part of every contradiction: %s\n",
			       order_family_name((enum order_family)f));
	if (a->status == ORDER_UNKNOWN)
		printf("no answer within the budget; --time gives more\n");
	if (j->reference)
		printf("published encoding: %s, %zu constraints, %zu variables, %.3f s\n",
		       status_name[j->published.status], j->published.constraints,
		       j->published.variables, j->published.seconds);
}

static void json_schedule(struct json *out, const struct order_model *m,
			  const struct question_answer *a)
{
	json_begin_array(out, "schedule");
	for (size_t i = 0, n; i < a->len; i += n) {
		const struct order_event *e = &m->events.data[a->order[i]];

		for (n = 1; i + n < a->len && m->events.data[a->order[i + n]].thread == e->thread;)
			n++;
		json_begin_object(out, NULL);
		json_str(out, "thread", m->threads.data[e->thread].name);
		json_uint(out, "first", e->index);
		json_uint(out, "events", n);
		json_end(out);
	}
	json_end(out);
}

static void json_answer(struct json *out, struct solve_job *j)
{
	const struct question_answer *a = answer_of(j);
	const struct order_model *m = j->q.loaded.built.m;

	json_uint(out, "events", m->events.len);
	json_uint(out, "threads", m->threads.len);
	json_uint(out, "conditions", m->conditions.len);
	json_str(out, "failure", j->q.loaded.condition);
	if (a->status == ORDER_SAT) {
		json_uint(out, "switches", a->switches);
		json_uint(out, "switches_solved", a->switches_found);
		json_schedule(out, m, a);
		json_bool(out, "confirmed", a->confirmed);
		if (j->session)
			json_outcome(out, "outcome", &a->native.run, NULL);
		json_str(out, "plait", j->saved);
	}
	if (j->has_conflicts) {
		json_begin_array(out, "conflict");
		for (int f = 0; f < ORDER_FAMILIES; f++)
			if (j->conflicts[f])
				json_str(out, NULL, order_family_name((enum order_family)f));
		json_end(out);
	}
	json_begin_object(out, "seconds");
	json_real(out, "trace", j->q.seconds_trace, 6);
	json_real(out, "solve", a->seconds_solve, 6);
	json_real(out, "replay", a->seconds_native, 6);
	json_end(out);
}

static struct err *print(struct solve_job *j, const struct cmd_common *common)
{
	struct json out;

	if (!common->json) {
		print_text(j);
		return NULL;
	}
	json_init(&out);
	json_begin_answer(&out);
	json_str(&out, "want", j->pass ? "pass" : "fail");
	json_str(&out, "status", status_name[answer_of(j)->status]);
	json_str(&out, "unsupported", j->q.loaded.unsupported);
	json_begin_array(&out, "gaps");
	for (size_t i = 0; i < j->q.loaded.gaps.len; i++)
		json_str(&out, NULL, j->q.loaded.gaps.text[i]);
	json_end(&out);
	if (!j->q.loaded.unsupported)
		json_answer(&out, j);
	json_end(&out);
	return cmd_write_json(common, &out);
}

/* A proof that no order passes is an answer. A proof that none fails is not: one did. */
static int status_of(struct solve_job *j)
{
	const struct question_answer *a = answer_of(j);
	bool failed = trace_meta(j->trace)->outcome.kind != PLAIT_OUTCOME_PASS;

	if (j->q.loaded.unsupported || a->status == ORDER_UNKNOWN)
		return 4;
	if (a->status == ORDER_UNSAT)
		return failed != j->pass ? 4 : 0;
	if ((j->session && !a->confirmed) || (j->switches && a->switches > j->switches))
		return 4;
	return j->pass ? 0 : 1;
}

static struct err *open_all(struct solve_job *j, int argc, char **argv)
{
	struct err *err = trace_open(argv[0], &j->trace);

	if (err)
		return err;
	if (j->no_run)
		return NULL;
	err = target_from_plait(&j->target, argv[0], argc > 1 ? argv + 1 : NULL);
	return err ? err : session_open(&j->target, &j->session);
}

static struct err *solve_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct solve_job j = { .options.seed = 1 };
	struct cmd_common common = { 0 };
	bool fail = false, trust = false;
	const struct opt table[] = {
		OPT_FLAG(0, "fail", &fail, "a schedule that fails as recorded (default)"),
		OPT_FLAG(0, "pass", &j.pass, "the nearest schedule that does not fail"),
		OPT_U64(0, "switches", "N", &j.switches, "status 4 if it has more than N switches"),
		OPT_STR('o', "output", "FILE", &j.output, "save the confirmed run as a plait"),
		OPT_STR(0, "dot", "FILE", &j.dot, "draw what the threads owe each other"),
		OPT_REAL(0, "time", "SEC", &j.options.seconds, "for each question (30)"),
		OPT_U64(0, "seed", "N", &j.options.seed, "of the search (1)"),
		OPT_FLAG(0, "no-run", &j.no_run, "do not run it natively: unconfirmed"),
		OPT_FLAG(0, "reference", &j.reference, "also by Z3, in the published encoding"),
		OPT_REAL(0, "timeout", "SEC", &j.target.timeout, "real time a run may take (10)"),
		OPT_FLAG(0, "trust", &trust, TRUST_HELP),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	if (err)
		return err;
	if (argc < 1)
		return cmd_usage(cmd, "which recording?");
	if (fail && j.pass)
		return cmd_usage(cmd, "--fail or --pass?");
	if (!j.no_run)
		err = trust_check(argv[0], argc > 1, trust);
	if (!err)
		err = pinned(argv[0], argv + 1, &j.target, NULL);
	if (!err)
		err = open_all(&j, argc, argv);
	if (!err)
		err = work(&j);
	if (!err)
		err = print(&j, &common);
	if (!err)
		*status = status_of(&j);
	order_reference_deinit(&j.published);
	question_close(&j.q);
	session_close(j.session);
	trace_close(j.trace);
	free(j.saved);
	return err;
}

const struct cmd cmd_solve = {
	.name = "solve",
	.synopsis = "[OPTION]... FILE.plait [-- PROGRAM [ARG]...]",
	.summary = "a schedule from recorded paths: which interleaving made this failure",
	.help = "Status: 1 a failing schedule, confirmed by a native run; 0 a passing one, or a "
		"proof "
		"that\nthere is none; 4 no answer in time, not confirmed, or parts that cannot be "
		"followed.\n"
		"Example: unplait record --mode path -o run.plait -- ./test; unplait solve "
		"run.plait "
		"-o fail.plait\n",
	.main = solve_main,
};
