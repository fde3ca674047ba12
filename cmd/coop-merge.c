/* cmd/coop-merge.c - `coop add`, `coop merge` and `coop stats`: logs into a store, out of it, and
 * into one replayable order. */
#include "cmd/coop.h"
#include "cmd/show-run.h"

#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "coop/store.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
			err_free(coop_program_open(trace_meta(t)->modules[0].path,
						   trace_meta(t)->mode == PLAIT_MODE_BLOCK
							   ? PLAIT_MODE_BLOCK
							   : PLAIT_MODE_ORDER,
						   &p));
		trace_close(t);
	}
	return p;
}

struct err *coop_cmd_add(const struct cmd *cmd, struct coop_options *o, int argc, char **argv)
{
	struct coop_program *p = NULL;
	struct coop c = { 0 };
	uint64_t added = 0, unusable = 0;
	struct err *err = NULL;

	if (argc < 2)
		return cmd_usage(cmd, "coop add STORE LOG...");
	if (o->command)
		err = coop_program_open(o->command[0], o->plait_mode, &p);
	else
		p = program_of(argc - 1, argv + 1);
	if (!err)
		err = load_logs(&c, argc - 1, argv + 1, p, &unusable);
	if (!err && c.logs.len)
		err = coop_add_to_store(argv[0], &c, &added);
	if (!err)
		printf("%" PRIu64 " logs added, %zu known already, %" PRIu64 " not usable\n", added,
		       c.logs.len - (size_t)added, unusable);
	if (!err && !c.logs.len)
		err = err_new(ERR_ENV, "none of the logs can be used");
	coop_deinit(&c);
	coop_program_close(p);
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
		if (coop_program_find(p, c->elements.data[i].id) != COOP_NONE)
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

static void show_merge(const struct coop_options *o, const struct coop *c,
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

static struct err *json_merge(const struct coop_options *o, const struct coop *c,
			      const struct coop_merge_result *r)
{
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
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
	return cmd_write_json(&o->common, &j);
}

static struct err *replay_merge(struct coop_options *o, struct coop *c, struct coop_program *p,
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
		print_saved(o->output);
	map_deinit(&tried);
	coop_merge_result_deinit(&r);
	run_result_deinit(&result);
	return err;
}

struct err *coop_cmd_merge(const struct cmd *cmd, struct coop_options *o, int argc, char **argv,
			   int *status)
{
	struct coop_program *p = NULL;
	struct session *s = NULL;
	struct coop_store *store = NULL;
	struct coop c = { 0 };
	struct err *err;

	if (argc < 1 || !o->command)
		return cmd_usage(cmd, "coop merge STORE|LOG... -- PROGRAM [ARG]...");
	err = coop_open_program(o, o->command[0], &p, &s);
	if (!err)
		err = load_any(&c, argc, argv, p, &store);
	if (!err && c.mode && c.mode != p->mode) {
		/* the logs say which scheme it is */
		o->plait_mode = (enum plait_mode)c.mode;
		coop_program_close(p);
		p = NULL;
		err = coop_program_open(o->command[0], o->plait_mode, &p);
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
	coop_program_close(p);
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

struct err *coop_cmd_stats(const struct cmd *cmd, int argc, char **argv, int *status)
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
	coop_program_close(p);
	coop_store_close(store);
	coop_deinit(&c);
	return err;
}
