/* cmd/cmd-coop.c - `unplait coop`: record a little on many machines, merge, replay. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "coop/program.h"
#include "run/record.h"
#include "run/run.h"
#include "sched/strategy.h"
#include "trace/trace.h"
#include "unplait/vectors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct cmd_common common;
	const char *share, *mode, *heuristic, *metric, *output, *store, *plan, *scheduler, *fail_on;
	uint64_t instances, seed, attempts, jobs;
	bool informed, at_start, again;
	struct target target;
	/* derived */
	enum plait_mode plait_mode;
	struct plan_options choose;
	struct coop_merge_options merge;
	char **command; /* behind --; NULL = none */
};

/* ---- options ---- */

static struct err *parse_share(const char *text, double *ret)
{
	char *end;

	if (strcmp(text, "1") == 0 || strcmp(text, "1spe") == 0) {
		*ret = 0;
		return NULL;
	}
	*ret = strtod(text, &end) / 100;
	if (end == text || (*end && strcmp(end, "%") != 0) || *ret <= 0 || *ret > 1)
		return err_new(ERR_USAGE,
			       "--share is a percentage such as 25%%, or 1 for a single element");
	return NULL;
}

static struct err *check(struct options *o)
{
	struct err *err = parse_share(o->share, &o->choose.share);

	if (err)
		return err;
	if (strcmp(o->mode, "order") != 0 && strcmp(o->mode, "block") != 0)
		return err_new(ERR_USAGE, "--mode is order or block, not '%s'", o->mode);
	o->plait_mode = o->mode[0] == 'b' ? PLAIT_MODE_BLOCK : PLAIT_MODE_ORDER;
	if (!coop_heuristic_find(o->heuristic, &o->merge.heuristic))
		return err_new(ERR_USAGE, "--heuristic is sgm, dgm or 1spe, not '%s'",
			       o->heuristic);
	if (!coop_metric_find(o->metric, &o->merge.metric))
		return err_new(ERR_USAGE, "--metric is psim, dsim or dhs, not '%s'", o->metric);
	if (o->fail_on && strcmp(o->fail_on, "exit") != 0)
		return err_new(ERR_USAGE, "--fail-on knows 'exit' only, not '%s'", o->fail_on);
	if (strcmp(o->scheduler, "native") != 0 &&
	    sched_strategy_find(o->scheduler) == PLAIT_STRATEGY_COUNT)
		return err_new(ERR_USAGE, "--scheduler is native, random, pct or pos, not '%s'",
			       o->scheduler);
	if (o->instances < 1 || o->instances > 1000000 || o->attempts < 1)
		return err_new(ERR_USAGE, "--instances and --attempts begin at 1");
	o->target.fail_on_exit = o->fail_on != NULL;
	o->choose.instances = (uint32_t)o->instances;
	o->choose.seed = o->merge.seed = o->seed;
	o->choose.informed = o->informed;
	o->merge.limit = (uint32_t)o->attempts;
	return NULL;
}

/* ---- plan ---- */

static struct err *open_program(struct options *o, const char *binary, struct coop_program **p,
				struct session **s)
{
	struct err *err = program_open(binary, o->plait_mode, p);

	if (!err && o->command) {
		o->target.argv = o->command;
		err = session_open(&o->target, s);
	}
	return err;
}

static struct err *write_profiles(const struct options *o, const struct coop_program *p)
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

static void show_plan(const struct options *o, const struct coop_program *p)
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
		const struct program_element *e = &p->elements.data[i];

		_cleanup_(xfreep) char *name = printable(e->name);

		if (e->seen)
			printf("  %-32s %8" PRIu64 " accesses, dispersion %.2f\n", name,
			       e->accesses, e->dispersion);
	}
	if (o->choose.share < 1 && !o->informed)
		printf("the chance that nobody of %u records a given element: %.2g\n",
		       o->choose.instances, plan_miss(p, &o->choose));
}

static struct err *do_plan(const struct cmd *cmd, struct options *o, int argc, char **argv)
{
	struct coop_program *p = NULL;
	struct session *s = NULL;
	struct err *err;

	if (!o->command && argc != 1)
		return cmd_usage(cmd, "which program? coop plan [OPTION]... -- PROGRAM [ARG]..., "
				      "or only BINARY");
	err = open_program(o, o->command ? o->command[0] : argv[0], &p, &s);
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
	program_close(p);
	return err;
}

/* ---- record ---- */

struct fleet {
	struct options *o;
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
	struct options *o = f->o;
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

static struct err *add_to_store(const char *path, const struct coop *c, uint64_t *added)
{
	struct coop_store *s = NULL;
	struct err *err = coop_store_open(path, &s);

	if (!err)
		err = coop_store_add(s, c, added);
	coop_store_close(s);
	return err;
}

/* Controlled instances have no files of their own: name them after their seeds. */
static void name_logs(struct fleet *f)
{
	for (size_t i = 0; i < f->logs.logs.len; i++)
		f->logs.logs.data[i].name = arena_printf(&f->logs.arena, "%s seed %" PRIu64,
							 f->o->scheduler, f->o->seed + i);
}

static struct err *do_record(const struct cmd *cmd, struct options *o, int *status)
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
	err = open_program(o, o->command[0], &f.p, &f.s);
	if (!err)
		err = fleet_pilot(f.s, f.p, 8, o->seed);
	if (!err && native)
		err = file_make_dirs(o->output);
	if (!err)
		err = run_fleet(&f);
	if (!err && !native)
		name_logs(&f);
	if (!err && o->store)
		err = add_to_store(o->store, &f.logs, &added);
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
	program_close(f.p);
	return err;
}

/* ---- add ---- */

static bool is_store(const char *path)
{
	struct strbuf head = { 0 };
	struct err *err = file_exists(path) ? file_read(path, &head) : NULL;
	bool store = !err && head.len > 15 && memcmp(head.data, "SQLite format 3", 15) == 0;

	err_free(err);
	strbuf_deinit(&head);
	return store;
}

/* Load files; each one that cannot be used is named with the reason. */
static struct err *load_logs(struct coop *c, int n, char **paths, struct coop_program *p,
			     uint64_t *unusable)
{
	struct err *err = NULL;

	for (int i = 0; i < n && !err; i++) {
		char *why = NULL;

		err = coop_load(c, paths[i], p, &why);
		if (why)
			log_warn("%s: not used: %s", paths[i], why);
		*unusable += why != NULL;
		free(why);
	}
	return err;
}

/* The program of the first readable log, for the names of its elements; NULL when it is gone. */
static struct coop_program *program_of(int n, char **paths)
{
	struct coop_program *p = NULL;
	bool known = false;

	for (int i = 0; i < n && !known; i++) {
		struct trace *t = NULL;

		err_free(trace_open(paths[i], &t));
		if (!t)
			continue;
		known = trace_meta(t)->nmodules > 0;
		if (known)
			err_free(program_open(trace_meta(t)->modules[0].path,
					      trace_meta(t)->mode == PLAIT_MODE_BLOCK
						      ? PLAIT_MODE_BLOCK
						      : PLAIT_MODE_ORDER,
					      &p));
		trace_close(t);
	}
	return p;
}

static struct err *do_add(const struct cmd *cmd, struct options *o, int argc, char **argv)
{
	struct coop_program *p = NULL;
	struct coop c = { 0 };
	uint64_t added = 0, unusable = 0;
	struct err *err = NULL;

	if (argc < 2)
		return cmd_usage(cmd, "coop add STORE LOG...");
	if (o->command)
		err = program_open(o->command[0], o->plait_mode, &p);
	else
		p = program_of(argc - 1, argv + 1);
	if (!err)
		err = load_logs(&c, argc - 1, argv + 1, p, &unusable);
	if (!err && c.logs.len)
		err = add_to_store(argv[0], &c, &added);
	if (!err)
		printf("%" PRIu64 " logs added, %zu known already, %" PRIu64 " not usable\n", added,
		       c.logs.len - (size_t)added, unusable);
	if (!err && !c.logs.len)
		err = err_new(ERR_ENV, "none of the logs can be used");
	coop_deinit(&c);
	program_close(p);
	return err;
}

/* ---- merge and stats ---- */

static struct err *load_any(struct coop *c, int argc, char **argv, struct coop_program *p,
			    struct coop_store **store)
{
	uint64_t unusable = 0;
	struct err *err;

	if (argc != 1 || !is_store(argv[0]))
		return load_logs(c, argc, argv, p, &unusable);
	err = coop_store_open(argv[0], store);
	return err ? err : coop_store_load(*store, c);
}

static struct err *need_failures(const struct coop *c)
{
	if (!c->logs.len)
		return err_new(ERR_ENV, "there are no usable logs");
	if (coop_main_signature(c) == COOP_NONE)
		return err_new(ERR_INCONCLUSIVE,
			       "all %zu logs are of runs that passed: there is no failure to "
			       "replay; record more",
			       c->logs.len);
	return NULL;
}

static void note_signatures(const struct coop *c)
{
	size_t others = 0;

	for (size_t i = 0; i < c->logs.len; i++)
		others += c->logs.data[i].signature != COOP_NONE &&
			  c->logs.data[i].signature != c->signature;
	if (others)
		log_note("%zu failing logs have another signature and are left out", others);
}

static bool is_recorded(const struct coop *c, uint32_t id)
{
	for (size_t i = 0; i < c->elements.len; i++)
		if (c->elements.data[i].id == id)
			return c->elements.data[i].recorded > 0;
	return false;
}

/* Elements of the program that no chosen log has: by no profile, or only by profiles of runs that
 * passed or failed otherwise. */
static void note_missing(const struct coop *c, const struct coop_program *p)
{
	enum { MOST = 10 };
	double share = 0;
	size_t missing = 0, n = p->elements.len;

	for (size_t i = 0; i < c->chosen.len; i++)
		share += c->logs.data[c->chosen.data[i]].n;
	for (size_t i = 0; i < p->elements.len; i++) {
		if (is_recorded(c, p->elements.data[i].id))
			continue;
		if (missing++ < MOST)
			log_note("no failing log has %s: its order is left open",
				 p->elements.data[i].name);
	}
	/* synchronisation objects are known from the logs of other runs only */
	for (size_t i = 0; i < c->elements.len; i++) {
		if (program_find(p, c->elements.data[i].id) != COOP_NONE)
			continue;
		n++;
		if (c->elements.data[i].recorded)
			continue;
		if (missing++ < MOST)
			log_note("no failing log has %s: its order is left open",
				 c->elements.data[i].name);
	}
	if (missing > MOST)
		log_note("... nor %zu other elements", missing - MOST);
	if (missing && c->chosen.len) {
		double per_log = MIN(share / (double)c->chosen.len / (double)n, 1);

		log_note("with %zu failing log%s that record%s %.0f %% of the elements%s, an "
			 "element "
			 "is missed with probability %.2g",
			 c->chosen.len, c->chosen.len == 1 ? "" : "s",
			 c->chosen.len == 1 ? "s" : "", 100 * per_log,
			 c->chosen.len == 1 ? "" : " each",
			 pow(1 - per_log, (double)c->chosen.len));
	}
}

/* Vectors of other logs give way first. */
static void show_dropped(const struct coop_merge_result *r, uint32_t dropped)
{
	uint32_t others = 0;

	for (size_t i = 0; i < r->choices.len; i++)
		others += r->choices.data[i].strength != COOP_HARD;
	if (MIN(dropped, others))
		printf("  %u vector%s of other logs contradicted the base log and gave way\n",
		       MIN(dropped, others), MIN(dropped, others) == 1 ? "" : "s");
	if (dropped > others)
		printf("  %u vector%s of the base log could not be followed to the end, because of "
		       "what "
		       "no log says, and gave way\n",
		       dropped - others, dropped - others == 1 ? "" : "s");
}

static void show_choice(const struct coop *c, const struct coop_choice *x)
{
	bool other = x->strength != COOP_HARD && x->from != COOP_NONE;
	_cleanup_(xfreep) char *element = printable(c->elements.data[x->element].name);
	_cleanup_(xfreep) char *log = printable(other ? c->logs.data[x->from].name : "");

	printf("  %-32s %8" PRIu64 " accesses %s%s\n", element, c->vectors.data[x->vector].accesses,
	       x->strength == COOP_HARD ? "of the base log"
	       : other			? "from "
					: "",
	       log);
}

static void show_merge(const struct options *o, const struct coop *c,
		       const struct coop_merge_result *r, const struct coop_replay *replay,
		       size_t nlogs)
{
	if (!r->reproduced) {
		printf("not reproduced in %u attempts (%u infeasible, %u ended otherwise); %zu "
		       "failing logs\n",
		       r->attempts, r->infeasible, r->other, nlogs);
		puts("  more logs, or a larger --share, or --attempts may help");
		return;
	}
	printable_puts(c->signatures.text[c->signature], stdout);
	puts("");
	printf("  reproduced in attempt %u, from %zu failing logs (%s, %s%s)\n", r->attempts, nlogs,
	       coop_heuristic_name(o->merge.heuristic), coop_metric_name(o->merge.metric),
	       r->brute ? ", brute force" : "");
	if (r->base != COOP_NONE) {
		_cleanup_(xfreep) char *name = printable(c->logs.data[r->base].name);

		printf("  base log: %s\n", name);
	}
	for (size_t i = 0; i < r->choices.len; i++)
		show_choice(c, &r->choices.data[i]);
	show_dropped(r, replay->dropped);
}

static struct err *json_merge(const struct options *o, const struct coop *c,
			      const struct coop_merge_result *r)
{
	struct json j;
	struct err *err;

	json_init(&j);
	json_begin_object(&j, NULL);
	json_int(&j, "unplait", 1);
	json_bool(&j, "reproduced", r->reproduced);
	json_uint(&j, "attempts", r->attempts);
	json_uint(&j, "infeasible", r->infeasible);
	json_uint(&j, "otherwise", r->other);
	json_uint(&j, "logs", c->chosen.len);
	json_str(&j, "signature", c->signatures.text[c->signature]);
	json_bool(&j, "brute_force", r->brute);
	if (o->output && r->reproduced)
		json_str(&j, "plait", o->output);
	json_end(&j);
	err = cmd_write_json(&o->common, &j);
	json_deinit(&j);
	return err;
}

static struct err *replay_merge(struct options *o, struct coop *c, struct coop_program *p,
				struct session *s, struct coop_store *store, int *status)
{
	struct run_result result = { 0 };
	struct coop_replay replay = { s, c, p, &result, 0 };
	struct coop_merge_result r = { 0 };
	struct map tried = { 0 };
	struct err *err = NULL;

	if (store && !o->again)
		err = coop_store_tried(store, &tried);
	o->merge.tried = store ? &tried : NULL;
	if (!err)
		err = coop_merge(c, &o->merge, coop_replay_oracle, &replay, &r);
	if (!err && store)
		err = coop_store_note_tried(store, &tried);
	if (!err && r.reproduced && o->output)
		err = save_plait(s, &result, o->output);
	*status = r.reproduced ? 1 : 4;
	if (!err && o->common.json)
		err = json_merge(o, c, &r);
	else if (!err)
		show_merge(o, c, &r, &replay, c->chosen.len);
	if (!err && r.reproduced && o->output && !o->common.json)
		printf("  saved; see it again with:  unplait replay %s\n", o->output);
	map_deinit(&tried);
	coop_merge_result_deinit(&r);
	run_result_deinit(&result);
	return err;
}

static struct err *do_merge(const struct cmd *cmd, struct options *o, int argc, char **argv,
			    int *status)
{
	struct coop_program *p = NULL;
	struct session *s = NULL;
	struct coop_store *store = NULL;
	struct coop c = { 0 };
	struct err *err;

	if (argc < 1 || !o->command)
		return cmd_usage(cmd, "coop merge STORE|LOG... -- PROGRAM [ARG]...");
	err = open_program(o, o->command[0], &p, &s);
	if (!err)
		err = load_any(&c, argc, argv, p, &store);
	if (!err && c.mode && c.mode != p->mode) {
		/* the logs say which scheme it is */
		o->plait_mode = (enum plait_mode)c.mode;
		program_close(p);
		p = NULL;
		err = program_open(o->command[0], o->plait_mode, &p);
	}
	if (!err)
		err = need_failures(&c);
	if (!err && strcmp(c.build, p->build) != 0)
		err = err_new(ERR_ENV,
			      "%s is another build than the one the logs were recorded with "
			      "(%.12s, not %.12s)",
			      o->command[0], p->build, c.build);
	if (!err) {
		coop_choose(&c, coop_main_signature(&c));
		note_signatures(&c);
		note_missing(&c, p);
		err = replay_merge(o, &c, p, s, store, status);
	}
	coop_store_close(store);
	coop_deinit(&c);
	session_close(s);
	program_close(p);
	return err;
}

static void show_stats(const struct coop *c)
{
	size_t passed = 0;

	for (size_t i = 0; i < c->logs.len; i++)
		passed += c->logs.data[i].signature == COOP_NONE;
	printf("%zu logs: %zu passed, %zu failed; %zu different vectors\n", c->logs.len, passed,
	       c->logs.len - passed, c->vectors.len);
	for (uint32_t s = 0; s < c->signatures.len; s++) {
		_cleanup_(xfreep) char *text = printable(c->signatures.text[s]);
		size_t n = 0;

		for (size_t i = 0; i < c->logs.len; i++)
			n += c->logs.data[i].signature == s;
		printf("  %6zu  %s%s\n", n, text, s == c->signature ? "   (the one below)" : "");
	}
	printf("%-32s %9s %9s %12s %12s\n", "element", "recorded", "different", "individual",
	       "overall");
	for (uint32_t i = 0; i < c->elements.len; i++) {
		const struct coop_element *e = &c->elements.data[i];
		_cleanup_(xfreep) char *name = printable(e->name);

		printf("%-32s %9u %9u %12.3f %12.3f%s\n", name, e->recorded, e->distinct,
		       coop_individual_dispersion(c, i), coop_overall_dispersion(c, i),
		       e->recorded ? "" : "   missing");
	}
}

static struct err *do_stats(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct coop_program *p;
	struct coop_store *store = NULL;
	struct coop c = { 0 };
	struct err *err;

	if (argc < 1)
		return cmd_usage(cmd, "coop stats STORE|LOG...");
	p = program_of(argc, argv);
	err = load_any(&c, argc, argv, p, &store);
	if (!err && !c.logs.len)
		err = err_new(ERR_ENV, "there are no usable logs");
	if (!err) {
		coop_choose(&c, coop_main_signature(&c));
		show_stats(&c);
		*status = 0;
	}
	program_close(p);
	coop_store_close(store);
	coop_deinit(&c);
	return err;
}

/* ---- the command ---- */

/* Everything behind -- is the program; cut it off. */
static void take_command(struct options *o, int *argc, char **argv)
{
	for (int i = 0; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		o->command = i + 1 < *argc ? argv + i + 1 : NULL;
		argv[i] = NULL;
		*argc = i;
		return;
	}
}

static struct err *coop_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct options o = { .share = "25%",
			     .mode = "order",
			     .heuristic = "sgm",
			     .metric = "dsim",
			     .scheduler = "native",
			     .instances = 100,
			     .attempts = 500,
			     .seed = 1 };
	const struct opt table[] = {
		OPT_STR(0, "share", "P", &o.share,
			"share of the elements per profile (default 25%)"),
		OPT_U64('n', "instances", "N", &o.instances, "how many instances (default 100)"),
		OPT_FLAG(0, "informed", &o.informed,
			 "profiles by load (share of the accesses), not uniform"),
		OPT_FLAG(0, "random-at-start", &o.at_start,
			 "plan: a pool of 1000 profiles, for instances that draw one at start"),
		OPT_STR('m', "mode", "MODE", &o.mode, "order (variables) or block (basic blocks)"),
		OPT_U64(0, "seed", "N", &o.seed, "of every random choice (default 1)"),
		OPT_STR('o', "output", "PATH", &o.output,
			"plan: folder of profiles; record: of logs; merge: the plait"),
		OPT_STR(0, "plan", "DIR", &o.plan, "record: the profiles that `coop plan` wrote"),
		OPT_STR(0, "store", "FILE", &o.store, "record: add the logs to this store"),
		OPT_STR(0, "scheduler", "S", &o.scheduler,
			"record: native (default), or under control: random, pct, pos"),
		OPT_STR(0, "heuristic", "H", &o.heuristic, "merge: sgm (default), dgm or 1spe"),
		OPT_STR(0, "metric", "M", &o.metric, "merge: dsim (default), psim or dhs"),
		OPT_U64(0, "attempts", "N", &o.attempts, "merge: give up after N (default 500)"),
		OPT_FLAG(0, "again", &o.again, "merge: try what was tried before, too"),
		OPT_REAL(0, "timeout", "SEC", &o.target.timeout,
			 "real seconds per run (default 10)"),
		OPT_STR(0, "input", "FILE", &o.target.input, "standard input of the program"),
		OPT_STR(0, "fail-on", "exit", &o.fail_on, "a non-zero exit status is a failure"),
		OPT_END,
	};
	const char *what;
	struct err *err;

	take_command(&o, &argc, argv);
	err = cmd_parse(cmd, table, &o.common, true, &argc, &argv);
	if (!err)
		err = check(&o);
	if (err)
		return err;
	what = argc > 0 ? argv[0] : "";
	if (strcmp(what, "plan") == 0)
		return do_plan(cmd, &o, argc - 1, argv + 1);
	if (strcmp(what, "record") == 0)
		return do_record(cmd, &o, status);
	if (strcmp(what, "add") == 0)
		return do_add(cmd, &o, argc - 1, argv + 1);
	if (strcmp(what, "merge") == 0)
		return do_merge(cmd, &o, argc - 1, argv + 1, status);
	if (strcmp(what, "stats") == 0)
		return do_stats(cmd, argc - 1, argv + 1, status);
	return cmd_usage(cmd, "plan, record, add, merge or stats?");
}

const struct cmd cmd_coop = {
	.name = "coop",
	.synopsis = "plan|record|add|merge|stats [OPTION]... [STORE|LOG...] [-- PROGRAM [ARG]...]",
	.summary = "record a little on many machines, merge it, replay the failure",
	.help = "Status 1 when a failure was recorded or reproduced, 4 when the attempts ran "
		"out.\n\n"
		"    unplait coop plan --share 25% -n 200 -o profiles -- ./server --test\n"
		"    unplait coop record -n 200 --plan profiles --store logs.db -- ./server "
		"--test\n"
		"    unplait coop add logs.db from-the-field/*.plait\n"
		"    unplait coop stats logs.db\n"
		"    unplait coop merge logs.db -o fail.plait -- ./server --test\n",
	.main = coop_main,
};
