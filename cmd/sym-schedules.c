/* cmd/sym-schedules.c - print what every schedule of a program leads to, and run it natively. */
#include "cmd/sym-schedules.h"

#include "base/interrupt.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/show-run.h"
#include "solve/solve.h"
#include "run/run.h"
#include "sym/sym.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct job {
	const struct sym_schedules_options *o;
	struct sym_schedules r;
	struct session *session;
	int *confirmed; /* per end: 0 not tried, 1 the native run ended so, -1 it did not */
	char **native;	/* what it did */
	size_t saved;	/* end + 1 */
};

static bool agrees(const struct sym_outcome *o, const struct run_result *r)
{
	if (o->kind == SYM_EXIT)
		return r->exit_code == o->code && !r->signal && r->end != PLAIT_END_DEADLOCK;
	if (o->kind == SYM_DEADLOCK)
		return r->end == PLAIT_END_DEADLOCK;
	return run_failed(r) && r->end != PLAIT_END_DEADLOCK;
}

static struct err *confirm_end(struct job *j, size_t i)
{
	const struct sym_end *e = &j->r.ends.data[i];
	struct run_result run = { 0 };
	struct carry_schedule schedule;
	bool followed = false;
	struct err *err;

	propose_schedule(e, &schedule);
	err = propose_carry_out(j->session, &schedule, &run, &followed);

	if (!err) {
		j->confirmed[i] = agrees(&e->outcome, &run) ? 1 : -1;
		j->native[i] = xasprintf("%s%s", outcome_name(run.outcome),
					 followed ? "" : ", not on the same schedule");
	}
	if (!err && j->confirmed[i] > 0 && j->o->output && !j->saved &&
	    sym_kind_is_error(e->outcome.kind)) {
		err = save_plait(j->session, &run, j->o->output);
		j->saved = i + 1;
	}
	run_result_deinit(&run);
	free(schedule.ops);
	return err;
}

static void job_deinit(struct job *j)
{
	for (size_t i = 0; i < j->r.ends.len; i++)
		free(j->native[i]);
	free(j->native);
	free(j->confirmed);
	sym_schedules_deinit(&j->r);
}

static struct err *confirm_all(struct job *j)
{
	struct target target = { .argv = j->o->argv, .input = j->o->input };
	struct err *err = session_open(&target, &j->session);

	for (size_t i = 0; !err && i < j->r.ends.len; i++)
		if (j->r.ends.data[i].outcome.kind == SYM_EXIT ||
		    sym_kind_is_error(j->r.ends.data[i].outcome.kind))
			err = confirm_end(j, i);
	session_close(j->session);
	return err;
}

static const char *confirmed_text(int c)
{
	return c > 0 ? "confirmed" : c < 0 ? "NOT confirmed" : "not tried";
}

static size_t switches(const struct sym_end *e)
{
	size_t n = 0;

	for (size_t i = 1; i < e->turns.len; i++)
		n += e->turns.data[i].thread != e->turns.data[i - 1].thread;
	return n;
}

static void print_text(const struct job *j)
{
	const struct sym_schedules *r = &j->r;
	int errors = 0;

	for (size_t i = 0; i < r->ends.len; i++) {
		const struct sym_end *e = &r->ends.data[i];
		const struct sym_outcome *o = &e->outcome;

		if (o->kind == SYM_EXIT)
			printf("exit %d, %" PRIu64 " times", o->code, e->times);
		else
			printf("%s: %s\n  at %s, thread %s\n  %zu operations, %zu switches",
			       sym_kind_name(o->kind), o->message, o->stack, o->thread,
			       e->turns.len, switches(e));
		if (j->confirmed[i])
			printf("%s native run: %s, %s", o->kind == SYM_EXIT ? ";" : "\n ",
			       confirmed_text(j->confirmed[i]), j->native[i]);
		putchar('\n');
		if (j->saved == i + 1)
			print_saved(j->o->output);
		errors += sym_kind_is_error(o->kind);
	}
	for (size_t i = 0; i < r->notes.len; i++)
		printf("note: %s\n", r->notes.text[i]);
	printf("%s: %" PRIu64 " states, %" PRIu64 " steps, at most %u deep; %d error%s\n",
	       r->complete ? "explored everything" : "not everything was explored", r->states,
	       r->steps, r->depth, errors, errors == 1 ? "" : "s");
}

static void write_json(const struct job *j, struct json *out)
{
	const struct sym_schedules *r = &j->r;

	json_begin_answer(out);
	json_bool(out, "complete", r->complete);
	json_uint(out, "states", r->states);
	json_uint(out, "steps", r->steps);
	json_uint(out, "depth", r->depth);
	json_real(out, "seconds", r->stats.seconds, 3);
	json_begin_array(out, "ends");
	for (size_t i = 0; i < r->ends.len; i++) {
		const struct sym_end *e = &r->ends.data[i];

		json_begin_object(out, NULL);
		json_str(out, "kind", sym_kind_name(e->outcome.kind));
		if (e->outcome.kind == SYM_EXIT)
			json_int(out, "code", e->outcome.code);
		json_str(out, "message", e->outcome.message);
		json_str(out, "stack", e->outcome.stack);
		json_uint(out, "times", e->times);
		json_uint(out, "operations", e->turns.len);
		json_uint(out, "switches", switches(e));
		json_str(out, "native", confirmed_text(j->confirmed[i]));
		json_str(out, "native_outcome", j->native[i]);
		json_end(out);
	}
	json_end(out);
	json_begin_array(out, "notes");
	for (size_t i = 0; i < r->notes.len; i++)
		json_str(out, NULL, r->notes.text[i]);
	json_end(out);
	json_end(out);
}

struct err *sym_schedules_show(const struct sym_schedules_options *o, struct sym_program *p,
			       const struct cmd_common *common, int *status)
{
	struct job j = { .o = o };
	struct err *err = sym_schedules(p, o->config, &j.r);
	struct json out;
	bool found = false;

	j.confirmed = xcalloc(j.r.ends.len + 1, sizeof(*j.confirmed));
	j.native = xcalloc(j.r.ends.len + 1, sizeof(*j.native));
	if (!err && !o->no_confirm && !interrupted())
		err = confirm_all(&j);
	if (err && interrupted()) { /* what was found is told all the same */
		err_free(err);
		err = NULL;
	}
	for (size_t i = 0; i < j.r.ends.len; i++)
		found |= sym_kind_is_error(j.r.ends.data[i].outcome.kind);
	if (!err && common->json) {
		json_init(&out);
		write_json(&j, &out);
		err = cmd_write_json(common, &out);
	} else if (!err) {
		print_text(&j);
	}
	*status = found ? 1 : j.r.complete ? 0 : 4;
	job_deinit(&j);
	return err;
}

static struct err *confirm_same(struct job *j, struct target *target, struct sym_path *path)
{
	struct err *err = session_open(target, &j->session);

	for (size_t i = 0; !err && i < j->r.ends.len && path->confirmed <= 0 && !interrupted();
	     i++) {
		const struct sym_outcome *o = &j->r.ends.data[i].outcome;

		if (o->kind != path->outcome.kind || strcmp(o->where, path->outcome.where) != 0)
			continue;
		err = confirm_end(j, i);
		if (err || j->confirmed[i] <= 0)
			continue;
		path->confirmed = 1;
		snprintf(path->native, sizeof(path->native), "%.40s, on the schedule found",
			 j->native[i]);
	}
	session_close(j->session);
	return err;
}

struct err *sym_schedules_confirm(struct sym_program *p, const char *argv0,
				  const struct sym_config *config, struct sym_path *path)
{
	struct sym_config c = { .args = (const char *const *)path->args,
				.nargs = path->nargs,
				.env = (const char *const *)path->env,
				.input = path->input,
				.input_len = path->input_len,
				.max_states = 1000000,
				.max_seconds = config->max_seconds > 0 ? config->max_seconds : 60,
				.interrupted = config->interrupted,
				.host_files = true,
				.all_errors = true };
	struct sym_schedules_options o = { .config = &c };
	struct job j = { .o = &o };
	VEC(char *) argv = { 0 };
	struct target target = { .env = path->nenv ? path->env : NULL,
				 .input_data = (char *)path->input,
				 .input_len = path->input_len };
	struct err *err = sym_schedules(p, &c, &j.r);

	for (uint32_t i = 0; i < path->nargs; i++)
		vec_push(&argv, i ? path->args[i] : (char *)argv0);
	vec_push(&argv, NULL);
	target.argv = argv.data;
	j.confirmed = xcalloc(j.r.ends.len + 1, sizeof(*j.confirmed));
	j.native = xcalloc(j.r.ends.len + 1, sizeof(*j.native));
	if (!err)
		err = confirm_same(&j, &target, path);
	vec_deinit(&argv);
	job_deinit(&j);
	return err;
}
