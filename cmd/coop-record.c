/* cmd/coop-record.c - `coop plan` and `coop record`: who records what, and recording it. */
#include "cmd/coop.h"

#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "run/record.h"
#include "sched/strategy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plan ---- */

static struct err *write_profiles(const struct coop_options *o, const struct coop_program *p)
{
	bool *chosen = xcalloc(p->elements.len + 1, sizeof(*chosen));
	struct err *err = file_make_dirs(o->output);

	for (uint32_t i = 0; i < o->instances && !err; i++) {
		_cleanup_(xfreep) char *path = xasprintf("%s/%04u.profile", o->output, i + 1);
		struct strbuf text = { 0 };

		plan_choose(p, &o->choose, i, chosen);
		profile_write(p, chosen, &text);
		err = file_write(path, text.data, text.len);
		strbuf_deinit(&text);
	}
	free(chosen);
	return err;
}

static void show_plan(const struct coop_options *o, const struct coop_program *p)
{
	double elements, accesses;
	size_t seen = 0;

	for (size_t i = 0; i < p->elements.len; i++)
		seen += p->elements.data[i].seen;
	plan_load(p, &o->choose, &elements, &accesses);
	printf("%zu elements, %zu of them used by the pilot runs; a profile has %.1f of them and "
	       "%.0f %% of the accesses\n",
	       p->elements.len, seen, elements, 100 * accesses);
	for (size_t i = 0; i < p->elements.len; i++) {
		const struct coop_program_element *e = &p->elements.data[i];

		_cleanup_(xfreep) char *name = printable(e->name);

		if (e->seen)
			printf("  %-32s %8" PRIu64 " accesses, dispersion %.2f\n", name,
			       e->accesses, e->dispersion);
	}
	if (o->choose.share < 1 && !o->informed)
		printf("the chance that nobody of %u records a given element: %.2g\n",
		       o->choose.instances, plan_miss(p, &o->choose));
}

struct err *coop_cmd_plan(const struct cmd *cmd, struct coop_options *o, int argc, char **argv)
{
	struct coop_program *p = NULL;
	struct session *s = NULL;
	struct err *err;

	if (!o->command && argc != 1)
		return cmd_usage(cmd, "which program? coop plan [OPTION]... -- PROGRAM [ARG]..., "
				      "or only BINARY");
	err = coop_open_program(o, o->command ? o->command[0] : argv[0], &p, &s);
	if (!err && o->command)
		err = fleet_pilot(s, p, 8, o->seed);
	for (size_t i = 0; !err && !o->command && i < p->elements.len; i++)
		p->elements.data[i].seen = true; /* nobody can say: any may be drawn */
	if (!err && o->at_start)
		o->instances = 1000;
	if (!err && o->output)
		err = write_profiles(o, p);
	if (!err)
		show_plan(o, p);
	if (!err && o->output)
		printf("%" PRIu64 " profiles in %s\n", o->instances, o->output);
	session_close(s);
	coop_program_close(p);
	return err;
}

/* ---- record ---- */

struct fleet {
	struct coop_options *o;
	struct coop_program *p;
	struct session *s;
	struct coop logs;
	uint64_t failed, unusable;
};

/* The profile of an instance: from the plan's folder, or drawn now. */
static struct err *profile_of(struct fleet *f, uint32_t instance, bool **ret)
{
	_cleanup_(xfreep) char *path = NULL;
	uint32_t k = instance;

	if (!f->o->plan) {
		*ret = xcalloc(f->p->elements.len + 1, sizeof(**ret));
		plan_choose(f->p, &f->o->choose, instance, *ret);
		return NULL;
	}
	for (;; k /= 2) {
		free(path);
		path = xasprintf("%s/%04u.profile", f->o->plan, k + 1);
		if (file_exists(path) || k == 0)
			break;
	}
	return profile_read(path, f->p, ret);
}

/* A run outside control: what an instance in the field does. */
static struct err *run_native(struct fleet *f, const bool *chosen, uint32_t instance)
{
	_cleanup_(xfreep) char *profile = xasprintf("%s/profile", f->o->output);
	_cleanup_(xfreep) char *options = NULL, *cwd = NULL;
	struct record_options r = { .command = f->o->command,
				    .mode = f->o->mode,
				    .runs = 1,
				    .timeout = f->o->target.timeout,
				    .judge.fail_on_exit = f->o->target.fail_on_exit,
				    .output_to_stderr = true };
	_cleanup_(xfreep) char *plait = xasprintf("%s/%04u.plait", f->o->output, instance + 1);
	struct record_runs runs = { 0 };
	struct strbuf text = { 0 };
	char *why = NULL;
	struct err *err;

	profile_write(f->p, chosen, &text);
	err = file_write(profile, text.data, text.len);
	strbuf_deinit(&text);
	if (err)
		return err;
	cwd = realpath(profile, NULL);
	options = xasprintf("profile=%s", cwd ? cwd : profile);
	r.options = options;
	r.output = plait;
	err = record_run_all(&r, &runs);
	if (!err)
		err = coop_load(&f->logs, plait, f->p, &why);
	if (!err && why)
		log_note("%s: not used: %s", plait, why);
	f->unusable += why != NULL;
	free(why);
	record_runs_deinit(&runs);
	return err;
}

static struct err *run_fleet(struct fleet *f)
{
	struct coop_options *o = f->o;
	struct err *err = NULL;

	for (uint32_t i = 0; i < o->instances && !err; i++) {
		bool *chosen = NULL;

		err = profile_of(f, i, &chosen);
		if (!err && strcmp(o->scheduler, "native") == 0)
			err = run_native(f, chosen, i);
		else if (!err)
			err = fleet_run(f->s, f->p, sched_strategy_find(o->scheduler), o->seed + i,
					chosen, &f->logs);
		free(chosen);
		progress("%u of %u instances", i + 1, (unsigned)o->instances);
	}
	progress_done();
	for (size_t i = 0; i < f->logs.logs.len; i++)
		f->failed += f->logs.logs.data[i].signature != COOP_NONE;
	return err;
}

/* Controlled instances have no files of their own: name them after their seeds. */
static void name_logs(struct fleet *f)
{
	for (size_t i = 0; i < f->logs.logs.len; i++)
		f->logs.logs.data[i].name = arena_printf(&f->logs.arena, "%s seed %" PRIu64,
							 f->o->scheduler, f->o->seed + i);
}

struct err *coop_cmd_record(const struct cmd *cmd, struct coop_options *o, int *status)
{
	struct fleet f = { .o = o };
	bool native = strcmp(o->scheduler, "native") == 0;
	uint64_t added = 0;
	struct err *err;

	if (!o->command)
		return cmd_usage(cmd, "which program? coop record [OPTION]... -- PROGRAM [ARG]...");
	if (!o->output && native)
		o->output = "logs";
	if (!o->store && !native)
		return err_new(ERR_USAGE, "instances under control need --store");
	err = coop_open_program(o, o->command[0], &f.p, &f.s);
	if (!err)
		err = fleet_pilot(f.s, f.p, 8, o->seed);
	if (!err && native)
		err = file_make_dirs(o->output);
	if (!err)
		err = run_fleet(&f);
	if (!err && !native)
		name_logs(&f);
	if (!err && o->store)
		err = coop_add_to_store(o->store, &f.logs, &added);
	if (!err) {
		printf("%zu logs, %" PRIu64 " of them failing", f.logs.logs.len, f.failed);
		if (o->store)
			printf("; %" PRIu64 " new in %s", added, o->store);
		else
			printf("; in %s", o->output);
		puts("");
		*status = f.failed > 0;
	}
	coop_deinit(&f.logs);
	session_close(f.s);
	coop_program_close(f.p);
	return err;
}
