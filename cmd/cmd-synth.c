/* cmd/cmd-synth.c - from a core dump to an execution that leads to it. */
#include "cmd/cmd.h"

#include "base/interrupt.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cmd/show-run.h"
#include "crumbs/crumbs.h"
#include "synth/synth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- text ---- */

static void show_goal(const struct synth_goal *g, struct strbuf *out)
{
	strbuf_addf(out, "%s", synth_kind_name(g->kind));
	if (g->signal)
		strbuf_addf(out, " by signal %d (%s)", g->signal, strsignal(g->signal));
	strbuf_adds(out, ":\n");
	if (g->message) {
		strbuf_adds(out, "  it said: ");
		strbuf_add_printable(out, g->message, "");
		strbuf_addc(out, '\n');
	}
	for (size_t i = 0; i < g->stacks.len; i++) {
		const struct synth_stack *k = &g->stacks.data[i];

		strbuf_addf(out, "  thread %u%s\n", k->tid,
			    k->guessed ? ", its stack was repaired"
			    : k->whole ? ""
				       : ", its stack ends early");
		for (size_t n = 0; n < k->points.len; n++) {
			strbuf_adds(out, "    ");
			strbuf_add_printable(out, k->points.data[n].function, "");
			strbuf_adds(out, " at ");
			strbuf_add_printable(out, k->points.data[n].file, "");
			if (k->points.data[n].line)
				strbuf_addf(out, ":%u\n", k->points.data[n].line);
			else
				strbuf_addf(out, ", at a merged call\n");
		}
	}
	if (!g->has_lines)
		strbuf_adds(out, "  the shipped binary has no debug information: addresses are "
				 "compared, not lines\n");
}

/* The command line that repeats it, as a shell reads it. */
static void show_inputs(const struct synth_inputs *in, const char *program, struct strbuf *out)
{
	strbuf_adds(out, "  ");
	for (size_t i = 0; i + 1 < in->env.len; i++) {
		strbuf_add_shell(out, in->env.data[i]);
		strbuf_addc(out, ' ');
	}
	strbuf_add_shell(out, program);
	for (size_t i = 1; i + 1 < in->args.len; i++) {
		strbuf_addc(out, ' ');
		strbuf_add_shell(out, in->args.data[i]);
	}
	if (in->input)
		strbuf_addf(out, "   with %zu bytes of standard input", in->input_len);
	strbuf_addc(out, '\n');
}

/* Which variables hold what the dump's do. */
static void show_globals(const struct synth_result *r, struct strbuf *out)
{
	size_t all = r->agree.len + r->differ.len;

	if (!r->shipped || !all)
		return;
	strbuf_addf(out, "  %zu of %zu global variables hold the same as in the dump%s",
		    r->agree.len, all, r->differ.len ? "; not: " : "");
	for (size_t i = 0; i < r->differ.len; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", r->differ.text[i]);
	strbuf_addc(out, '\n');
}

static void show_fidelity(const struct synth_result *r, struct strbuf *out)
{
	if (!r->replays)
		return;
	strbuf_addf(out, "  replayed %u of %u times; ", r->same, r->replays);
	fidelity_show(&r->fidelity, out);
	strbuf_addf(out, ", against %.3f s of %s\n", r->original,
		    r->original_in_dump ? "processor time in the dump" : "one replay");
}

static void show_causes(const struct synth_result *r, struct strbuf *out)
{
	strbuf_addf(out, "%zu cause%s told apart; %s\n", r->causes.len,
		    r->causes.len == 1 ? " was" : "s were",
		    r->causes_complete ? "with all of them mended, no schedule that was tried fails"
				       : "there may be more");
	for (size_t i = 0; i < r->causes.len; i++) {
		const struct synth_cause *c = &r->causes.data[i];

		strbuf_addf(out, "  %zu. %s: %s\n", i + 1, c->kind ? c->kind : "not known",
			    c->summary ? c->summary : "");
		if (c->advice)
			strbuf_addf(out, "     %s\n", c->advice);
		strbuf_addf(out, "     unplait explain %s\n", c->plait);
	}
}

static void print_text(const struct synth_options *o, const struct synth_result *r)
{
	struct strbuf sb = { 0 };

	show_goal(&r->goal, &sb);
	for (size_t i = 0; i < r->facts.len; i++)
		strbuf_addf(&sb, "  the dump has %s\n", r->facts.text[i]);
	for (size_t i = 0; i < r->crumbs.len; i++)
		strbuf_addf(&sb, "  crumbs: %s\n", r->crumbs.text[i]);
	for (size_t i = 0; i < r->notes.len; i++) {
		strbuf_adds(&sb, "  note: ");
		strbuf_add_printable(&sb, r->notes.text[i], "");
		strbuf_addc(&sb, '\n');
	}
	if (r->found) {
		strbuf_addf(&sb, "found by %s: it fails the same way, run natively\n", r->how);
		show_inputs(&r->inputs, o->program, &sb);
		strbuf_addf(&sb, "  confirmed in the unplait build%s\n",
			    r->shipped ? " and in the shipped binary"
				       : "; NOT in the shipped binary");
		show_globals(r, &sb);
		strbuf_addf(&sb,
			    "  %" PRIu64 " native runs, %" PRIu64 " states, %" PRIu64
			    " questions\n",
			    r->attempts, r->states, r->questions);
		show_fidelity(r, &sb);
		if (r->plait)
			show_saved(r->plait, &sb);
		if (o->all_causes)
			show_causes(r, &sb);
		if (r->shipped_plait)
			strbuf_addf(&sb, "  the shipped binary in gdb:  unplait replay --gdb %s\n",
				    r->shipped_plait);
	} else {
		strbuf_addf(&sb,
			    "%s after %" PRIu64 " native runs, %" PRIu64 " states, %" PRIu64
			    " questions\n",
			    r->interrupted ? "interrupted"
			    : r->exhausted ? "not found: every path within the bounds was tried"
					   : "not found within the budget",
			    r->attempts, r->states, r->questions);
	}
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
}

/* ---- JSON ---- */

static void json_names(struct json *j, const char *key, const struct names *names)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < names->len; i++)
		json_str(j, NULL, names->text[i]);
	json_end(j);
}

static void json_goal(struct json *j, const struct synth_goal *g)
{
	json_begin_array(j, "goal");
	for (size_t i = 0; i < g->stacks.len; i++) {
		const struct synth_stack *k = &g->stacks.data[i];

		json_begin_object(j, NULL);
		json_uint(j, "thread", k->tid);
		json_bool(j, "repaired", k->guessed);
		json_begin_array(j, "stack");
		for (size_t n = 0; n < k->points.len; n++) {
			json_begin_object(j, NULL);
			json_str(j, "file", k->points.data[n].file);
			json_uint(j, "line", k->points.data[n].line);
			json_str(j, "function", k->points.data[n].function);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void json_words(struct json *j, const char *key, char *const *words, size_t n)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < n && words[i]; i++)
		json_str(j, NULL, words[i]);
	json_end(j);
}

static void json_inputs(struct json *j, const struct synth_result *r)
{
	const struct synth_inputs *in = &r->inputs;

	if (!r->found) {
		json_null(j, "inputs");
		return;
	}
	json_begin_object(j, "inputs");
	json_words(j, "args", in->args.data + 1, in->args.len - 1);
	json_words(j, "env", in->env.data, in->env.len);
	if (in->input)
		json_strn(j, "stdin", in->input, in->input_len);
	else
		json_null(j, "stdin");
	json_end(j);
}

static void json_fidelity(struct json *j, const struct synth_result *r)
{
	json_begin_object(j, "replays");
	json_uint(j, "tried", r->replays);
	json_uint(j, "same", r->same);
	json_end(j);
	json_begin_object(j, "original");
	json_real(j, "seconds", r->original, 6);
	json_str(j, "from", !r->replays ? NULL : r->original_in_dump ? "dump" : "replay");
	json_end(j);
	fidelity_json(&r->fidelity, j);
}

/* df: of each alone, if it is not the original cause. */
static void json_causes(struct json *j, const struct synth_result *r)
{
	json_bool(j, "complete", r->causes_complete);
	json_begin_array(j, "causes");
	for (size_t i = 0; i < r->causes.len; i++) {
		const struct synth_cause *c = &r->causes.data[i];

		json_begin_object(j, NULL);
		json_str(j, "kind", c->kind);
		json_str(j, "summary", c->summary);
		json_str(j, "advice", c->advice);
		json_str(j, "plait", c->plait);
		json_real(j, "df", 1.0 / (double)r->causes.len, 3);
		json_end(j);
	}
	json_end(j);
}

static struct err *print_json(const struct cmd_common *common, const struct synth_result *r,
			      bool all)
{
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_bool(&j, "found", r->found);
	json_begin_object(&j, "confirmed");
	json_bool(&j, "instrumented", r->found);
	json_bool(&j, "shipped", r->found && r->shipped);
	json_end(&j);
	json_str(&j, "kind", synth_kind_name(r->goal.kind));
	if (r->found)
		json_outcome(&j, "outcome", &r->run, r->plait);
	else
		json_null(&j, "outcome");
	json_inputs(&j, r);
	json_str(&j, "plait", r->plait);
	json_str(&j, "shipped_plait", r->shipped_plait);
	json_goal(&j, &r->goal);
	json_str(&j, "message", r->goal.message);
	json_names(&j, "facts", &r->facts);
	json_begin_object(&j, "globals");
	json_names(&j, "agree", &r->agree);
	json_names(&j, "differ", &r->differ);
	json_end(&j);
	json_names(&j, "crumbs", &r->crumbs);
	json_names(&j, "notes", &r->notes);
	json_str(&j, "how", r->found ? r->how : NULL);
	json_bool(&j, "exhausted", r->exhausted);
	json_uint(&j, "runs", r->attempts);
	json_uint(&j, "states", r->states);
	json_uint(&j, "questions", r->questions);
	json_fidelity(&j, r);
	if (all)
		json_causes(&j, r);
	json_begin_object(&j, "seconds");
	json_real(&j, "read", r->seconds_read, 3);
	json_real(&j, "search", r->seconds_search, 3);
	json_real(&j, "native", r->seconds_native, 3);
	json_end(&j);
	json_end(&j);
	return cmd_write_json(common, &j);
}

/* ---- the command ---- */

static struct err *work(const struct synth_options *o, const struct cmd_common *common, int *status)
{
	struct synth_result r = { 0 };
	struct err *err;

	interrupt_catch();
	err = synth_run(o, &r);
	if (err && interrupted()) {
		err_free(err);
		err = NULL;
		r.interrupted = true;
	}
	if (!err && common->json)
		err = print_json(common, &r, o->all_causes);
	else if (!err)
		print_text(o, &r);
	if (!err)
		*status = r.found ? 1 : r.interrupted ? 128 + interrupted() : r.exhausted ? 0 : 4;
	synth_result_deinit(&r);
	return err;
}

static struct err *synth_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct synth_options o = {
		.facts = SYNTH_FACTS_ALL, .seconds = 60, .seed = 1, .timeout = 10
	};
	struct cmd_common common = { 0 };
	struct crumbs crumbs = { 0 };
	struct strings files = { 0 };
	const char *kind = NULL, *facts = NULL;
	const struct opt table[] = {
		OPT_STR(0, "kind", "KIND", &kind, "crash, deadlock, race or hang (the dump says)"),
		OPT_STR(0, "facts", "WHICH", &facts,
			"use of the dump: stack, args or all (default: all)"),
		OPT_LIST(0, "crumbs", "FILE", &files,
			 "what else is known of the run: a log, a fingerprint of watch"),
		OPT_FLAG(0, "all-causes", &o.all_causes, "go on: what else leads to this failure?"),
		OPT_STR('o', "output", "FILE", &o.output,
			"where to save (synth.plait; with --all-causes: a folder, synth)"),
		OPT_STR(0, "shipped", "BIN", &o.shipped, "the binary that the dump is of"),
		OPT_STR(0, "sysroot", "DIR", &o.sysroot, "its libraries are below DIR"),
		OPT_FLAG(0, "force", &o.force, "go on with a binary of another build"),
		OPT_REAL(0, "time", "SEC", &o.seconds, "stop after SEC seconds (60)"),
		OPT_REAL(0, "timeout", "SEC", &o.timeout, "real time a run may take (10)"),
		OPT_U64(0, "seed", "N", &o.seed, "same seed, same answer (1)"),
		OPT_STR(0, "guide", "HOW", &o.guide,
			"goal (default), or depth, random-path: to compare with"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	if (err)
		return err;
	if (argc != 2)
		return cmd_usage(cmd, "a core dump and the unplait build of its program");
	if (kind && !synth_kind_parse(kind, &o.kind))
		return cmd_usage(cmd, "--kind is crash, deadlock, race or hang");
	if (facts && !synth_facts_parse(facts, &o.facts))
		return cmd_usage(cmd, "--facts is stack, args or all");
	if (o.guide && strcmp(o.guide, "goal") != 0 && strcmp(o.guide, "depth") != 0 &&
	    strcmp(o.guide, "random-path") != 0)
		return cmd_usage(cmd, "--guide is goal, depth or random-path");
	o.core = argv[0];
	o.program = argv[1];
	if (o.all_causes && o.output && !*o.output)
		return cmd_usage(cmd, "--all-causes needs a folder for its plaits");
	if (!o.output)
		o.output = o.all_causes ? "synth" : "synth.plait";
	else if (!*o.output)
		o.output = NULL;
	o.crumbs = &crumbs;
	err = crumbs_read_all(&crumbs, files.data, files.len);
	if (!err)
		err = work(&o, &common, status);
	crumbs_deinit(&crumbs);
	return err;
}

const struct cmd cmd_synth = {
	.name = "synth",
	.synopsis = "[OPTION]... CORE PROGRAM",
	.summary = "from a core dump to an execution that leads to it",
	.help = "CORE is a dump of the program as it was shipped; PROGRAM is the same source, "
		"built "
		"with unplait cc: with -O0, or with --unplait-source-bitcode where its makefile "
		"says -O2.\nStatus: 1 found, run natively and saved; 0 every path within "
		"the "
		"bounds was tried; 4 not found\nwithin the budget; 2 usage; 3 bad input.\n"
		"Example: unplait synth core ./prog.unplait; unplait replay --gdb synth.plait\n",
	.main = synth_main,
};
