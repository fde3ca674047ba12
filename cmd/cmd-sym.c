/* cmd/cmd-sym.c - `unplait sym`: look at what the symbolic machine does with a program. */
#include "cmd/cmd.h"
#include "cmd/sym-plait.h"
#include "cmd/sym-schedules.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "base/interrupt.h"
#include "sym/sym.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct err *sym_main(const struct cmd *cmd, int argc, char **argv, int *status);

const struct cmd cmd_sym = {
	.name = "sym",
	.synopsis = "run|explore|schedules|trace [options] PROGRAM|FILE.plait [ARG...]",
	.summary = "run a program's bitcode in the symbolic machine",
	.help = "run      execute PROGRAM concretely, like the native program\n"
		"explore  follow every path of symbolic arguments, input or environment\n"
		"schedules  every interleaving of the threads of PROGRAM (built with `unplait "
		"cc`),\n"
		"         each state once; what is found is run natively\n"
		"trace    follow a recording (FILE.plait, of mode path or full): per thread, what\n"
		"         it read, wrote and decided, in terms of what other threads wrote; or "
		"run\n"
		"         PROGRAM, then follow its path with the arguments and input unknown\n"
		"\n"
		"PROGRAM is a C or C++ file, LLVM 19 bitcode, or a binary built with `unplait "
		"cc`.\n"
		"\n"
		"  unplait sym run prog.c 3 4\n"
		"  unplait sym explore --sym-args 2 --sym-arg-len 3 prog.c\n"
		"\n"
		"Status: 0 nothing found, 1 an error of the program was found, 3 bad input or "
		"unsupported,\n"
		"4 a budget ran out before every path was followed, 130 after Ctrl-C (what was "
		"found is told).\n",
	.main = sym_main,
};

struct options {
	struct sym_config c;
	struct strings cflags, sym_env;
	bool stats, files, no_confirm, paths, summary;
	const char *input, *check, *output;
	uint64_t sym_args, sym_arg_len, sym_stdin, sym_env_len, query_ms, preemptions;
};

static void print_stats(const struct sym_stats *s, FILE *to)
{
	double rate = s->seconds > 0 ? (double)s->ops / s->seconds / 1e6 : 0;
	uint64_t asked = s->queries, cached = s->by_model + s->by_cache + s->by_core;

	fprintf(to, "operations %llu in %.3f s (%.1f M/s)\n", (unsigned long long)s->ops,
		s->seconds, rate);
	fprintf(to, "states %llu (at once %llu), forks %llu, paths ended %llu\n",
		(unsigned long long)s->states, (unsigned long long)s->max_states,
		(unsigned long long)s->forks, (unsigned long long)s->paths);
	if (asked)
		fprintf(to,
			"queries %llu: models %llu, answers %llu, cores %llu, enumeration %llu, "
			"values "
			"%llu, Z3 %llu, unknown %llu; %.1f %% from caches\n",
			(unsigned long long)asked, (unsigned long long)s->by_model,
			(unsigned long long)s->by_cache, (unsigned long long)s->by_core,
			(unsigned long long)s->by_enum, (unsigned long long)s->by_local,
			(unsigned long long)s->by_z3, (unsigned long long)s->unknown,
			100.0 * (double)cached / (double)asked);
	fprintf(to, "time: solver %.3f s, of it Z3 %.3f s; expressions %llu, symbols %llu\n",
		s->solver_seconds, s->z3_seconds, (unsigned long long)s->exprs,
		(unsigned long long)s->symbols);
}

static void json_stats(struct json *j, const struct sym_stats *s)
{
	json_begin_object(j, "stats");
	json_uint(j, "operations", s->ops);
	json_real(j, "seconds", s->seconds, 3);
	json_uint(j, "states", s->states);
	json_uint(j, "max_states", s->max_states);
	json_uint(j, "forks", s->forks);
	json_uint(j, "paths", s->paths);
	json_uint(j, "branches", s->branches);
	json_uint(j, "queries", s->queries);
	json_uint(j, "by_model", s->by_model);
	json_uint(j, "by_cache", s->by_cache);
	json_uint(j, "by_core", s->by_core);
	json_uint(j, "by_enumeration", s->by_enum);
	json_uint(j, "by_values", s->by_local);
	json_uint(j, "by_z3", s->by_z3);
	json_uint(j, "unknown", s->unknown);
	json_real(j, "solver_seconds", s->solver_seconds, 3);
	json_real(j, "z3_seconds", s->z3_seconds, 3);
	json_uint(j, "expressions", s->exprs);
	json_end(j);
}

static void json_outcome(struct json *j, const char *key, const struct sym_outcome *o)
{
	json_begin_object(j, key);
	json_str(j, "kind", sym_kind_name(o->kind));
	if (o->kind == SYM_EXIT)
		json_int(j, "code", o->code);
	json_str(j, "message", o->message);
	json_str(j, "where", o->where);
	json_str(j, "function", o->function);
	json_str(j, "thread", o->thread);
	json_str(j, "stack", o->stack);
	json_end(j);
}

static void json_notes(struct json *j, const struct names *notes)
{
	json_begin_array(j, "notes");
	for (size_t i = 0; i < notes->len; i++)
		json_str(j, NULL, notes->text[i]);
	json_end(j);
}

static void to_stdout(void *arg, int fd, const void *data, size_t len)
{
	(void)arg;
	fwrite(data, 1, len, fd == 2 ? stderr : stdout);
}

static struct err *do_run(struct options *o, const struct cmd_common *common, struct sym_program *p,
			  int *status)
{
	struct sym_result r = { 0 };
	struct err *err = sym_run(p, &o->c, common->json ? NULL : to_stdout, NULL, &r);
	struct json j;

	if (err)
		return err;
	fflush(stdout);
	*status = sym_kind_is_error(r.outcome.kind)   ? 1
		  : r.outcome.kind == SYM_UNSUPPORTED ? 3
		  : r.outcome.kind == SYM_BUDGET      ? 4
						      : 0;
	if (common->json) {
		json_init(&j);
		json_begin_answer(&j);
		json_outcome(&j, "outcome", &r.outcome);
		json_strn(&j, "stdout", strbuf_str(&r.out), r.out.len);
		json_strn(&j, "stderr", strbuf_str(&r.err_out), r.err_out.len);
		json_notes(&j, &r.notes);
		json_stats(&j, &r.stats);
		json_end(&j);
		err = cmd_write_json(common, &j);
	} else {
		if (r.outcome.kind != SYM_EXIT)
			log_note("%s: %s\n  at %s", sym_kind_name(r.outcome.kind),
				 r.outcome.message, r.outcome.stack);
		else if (r.outcome.code)
			log_note("the program ended with status %d", r.outcome.code);
		for (size_t i = 0; i < r.notes.len; i++)
			log_note("note: %s", r.notes.text[i]);
		if (o->stats)
			print_stats(&r.stats, stderr);
	}
	sym_result_deinit(&r);
	return err;
}

/* --- explore --- */

static void add_quoted(struct strbuf *sb, const char *s, size_t len)
{
	bool plain = len > 0;

	for (size_t i = 0; i < len; i++)
		plain &= s[i] && ((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
				  (s[i] >= '0' && s[i] <= '9') || strchr("-_./=,:+%", s[i]));
	if (plain) {
		strbuf_add(sb, s, len);
		return;
	}
	strbuf_adds(sb, "$'");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '\'' || c == '\\')
			strbuf_addf(sb, "\\%c", c);
		else if (c >= 32 && c < 127)
			strbuf_addc(sb, (char)c);
		else
			strbuf_addf(sb, "\\x%02x", c);
	}
	strbuf_adds(sb, "'");
}

/* The command line that repeats the path in a shell. */
static void add_command(struct strbuf *sb, const struct sym_path *p)
{
	if (p->input_len) {
		strbuf_adds(sb, "printf '");
		for (size_t i = 0; i < p->input_len; i++) {
			uint8_t c = p->input[i];

			if (c > 32 && c < 127 && !strchr("'\\%", c))
				strbuf_addc(sb, (char)c);
			else
				strbuf_addf(sb, "\\%03o", c);
		}
		strbuf_adds(sb, "' | ");
	}
	for (uint32_t i = 0; i < p->nenv; i++) {
		add_quoted(sb, p->env[i], strlen(p->env[i]));
		strbuf_addc(sb, ' ');
	}
	for (uint32_t i = 0; i < p->nargs; i++) {
		if (i)
			strbuf_addc(sb, ' ');
		add_quoted(sb, p->args[i], strlen(p->args[i]));
	}
}

static const char *confirmed_text(int c)
{
	return c > 0 ? "confirmed" : c < 0 ? "not confirmed" : "not tried";
}

static void json_path(struct json *j, const struct sym_path *p)
{
	struct strbuf sb = { 0 };

	json_begin_object(j, NULL);
	json_uint(j, "id", p->id);
	json_outcome(j, "outcome", &p->outcome);
	json_begin_array(j, "args");
	for (uint32_t i = 0; i < p->nargs; i++)
		json_strn(j, NULL, p->args[i], strlen(p->args[i]));
	json_end(j);
	json_strn(j, "stdin", (const char *)p->input, p->input_len);
	add_command(&sb, p);
	json_str(j, "command", strbuf_str(&sb));
	strbuf_deinit(&sb);
	json_str(j, "native", confirmed_text(p->confirmed));
	json_str(j, "native_outcome", p->native);
	json_uint(j, "constraints", p->constraints);
	json_uint(j, "operations", p->ops);
	json_end(j);
}

static void print_path(const struct sym_path *p, bool error)
{
	struct strbuf sb = { 0 };

	add_command(&sb, p);
	if (error)
		printf("%s%s%s: %s\n  at %s\n  input: %s\n  native run: %s%s%s\n", color(COLOR_RED),
		       sym_kind_name(p->outcome.kind), color(COLOR_OFF), p->outcome.message,
		       p->outcome.stack, strbuf_str(&sb), confirmed_text(p->confirmed),
		       *p->native ? ", " : "", p->native);
	else
		printf("path %u: %s %d: %s\n", p->id, sym_kind_name(p->outcome.kind),
		       p->outcome.code, strbuf_str(&sb));
	strbuf_deinit(&sb);
}

static struct err *report_explore(struct options *o, const struct cmd_common *common,
				  struct sym_result *r, int errors)
{
	struct json j;

	if (common->json) {
		json_init(&j);
		json_begin_answer(&j);
		json_bool(&j, "complete", r->complete);
		json_int(&j, "errors", errors);
		json_begin_array(&j, "paths");
		for (size_t i = 0; i < r->paths.len; i++)
			json_path(&j, &r->paths.data[i]);
		json_end(&j);
		json_notes(&j, &r->notes);
		json_stats(&j, &r->stats);
		json_end(&j);
		return cmd_write_json(common, &j);
	}
	for (size_t i = 0; i < r->paths.len; i++) {
		bool error = r->paths.data[i].outcome.kind != SYM_EXIT;

		if (error || o->paths)
			print_path(&r->paths.data[i], error);
	}
	for (size_t i = 0; i < r->notes.len; i++)
		printf("note: %s\n", r->notes.text[i]);
	printf("%llu paths, %d error%s%s\n", (unsigned long long)r->stats.paths, errors,
	       errors == 1 ? "" : "s",
	       r->complete ? "" : "; not every path was followed to its end");
	if (o->stats)
		print_stats(&r->stats, stdout);
	return NULL;
}

/* The operating system may never choose the schedule that fails: run it under control. */
static void confirm_schedules(struct options *o, struct sym_program *p, struct sym_result *r)
{
	for (size_t i = 0; o->preemptions && i < r->paths.len && !interrupted(); i++) {
		struct sym_path *path = &r->paths.data[i];
		struct err *err;

		if (path->confirmed >= 0 || !sym_kind_is_error(path->outcome.kind))
			continue;
		err = sym_schedules_confirm(p, o->c.args[0], &o->c, path);
		if (err)
			names_intern(&r->notes,
				     "a schedule is carried out natively in programs that "
				     "`unplait cc` built: build it, and explore that");
		err_free(err);
	}
}

static struct err *do_explore(struct options *o, const struct cmd_common *common,
			      struct sym_program *p, int *status)
{
	struct sym_result r = { 0 };
	struct err *err = sym_explore(p, &o->c, &r);
	int errors = 0;

	if (!err && !o->no_confirm)
		err = sym_confirm(p, &o->c, &r);
	if (!err && !o->no_confirm)
		confirm_schedules(o, p, &r);
	for (size_t i = 0; i < r.paths.len; i++)
		errors += sym_kind_is_error(r.paths.data[i].outcome.kind);
	if (!err)
		err = report_explore(o, common, &r, errors);
	*status = errors ? 1 : r.complete ? 0 : 4;
	sym_result_deinit(&r);
	return err;
}

/* --- trace --- */

struct bits {
	struct sym_recording recording;
	VEC(uint8_t) data[64]; /* per thread */
	size_t at[64];
	struct json *json; /* or NULL: text */
};

static void keep_bit(void *arg, uint32_t thread, bool bit)
{
	struct bits *b = arg;

	if (thread < ARRAY_SIZE(b->data))
		vec_push(&b->data[thread], bit);
}

static bool next_bit(void *arg, uint32_t thread, bool *ret)
{
	struct bits *b = arg;

	if (thread >= ARRAY_SIZE(b->data) || b->at[thread] >= b->data[thread].len)
		return false;
	*ret = b->data[thread].data[b->at[thread]++];
	return true;
}

static void print_step(void *arg, const struct sym_step *s)
{
	struct bits *b = arg;

	if (!b->json) {
		printf("%u %s: %s\n", s->thread, s->where, s->text);
		return;
	}
	json_begin_object(b->json, NULL);
	json_uint(b->json, "thread", s->thread);
	json_str(b->json, "where", s->where);
	json_str(b->json, "condition", s->text);
	json_end(b->json);
}

static struct err *do_trace(struct options *o, const struct cmd_common *common,
			    struct sym_program *p, int *status)
{
	struct bits b = { .recording = { .next_branch_bit = next_bit, .arg = &b } };
	struct sym_result first = { 0 }, r = { 0 };
	struct err *err = sym_record(p, &o->c, keep_bit, &b, &first);
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_begin_array(&j, "steps");
	b.json = common->json ? &j : NULL;
	o->c.sym_given = true;
	if (!err)
		err = sym_follow(p, &o->c, &b.recording, print_step, &b, &r);
	json_end(&j);
	if (!err && !o->no_confirm)
		err = sym_confirm(p, &o->c, &r);
	if (!err && common->json) {
		json_begin_array(&j, "paths");
		json_path(&j, &r.paths.data[0]);
		json_end(&j);
		json_notes(&j, &r.notes);
		json_stats(&j, &r.stats);
		json_end(&j);
		err = cmd_write_json(common, &j);
	} else if (!err) {
		struct strbuf sb = { 0 };

		add_command(&sb, &r.paths.data[0]);
		printf("%s: %s\n  an input that takes this path: %s\n  native run: %s\n",
		       sym_kind_name(r.outcome.kind), r.outcome.message, strbuf_str(&sb),
		       confirmed_text(r.paths.data[0].confirmed));
		strbuf_deinit(&sb);
		for (size_t i = 0; i < r.notes.len; i++)
			printf("note: %s\n", r.notes.text[i]);
		if (o->stats)
			print_stats(&r.stats, stdout);
	}
	*status = r.outcome.kind != first.outcome.kind ? 4 : sym_kind_is_error(r.outcome.kind);
	json_deinit(&j);
	for (size_t i = 0; i < ARRAY_SIZE(b.data); i++)
		vec_deinit(&b.data[i]);
	sym_result_deinit(&first);
	sym_result_deinit(&r);
	return err;
}

static bool is_plait(const char *path)
{
	size_t n = strlen(path);

	return n > 6 && !strcmp(path + n - 6, ".plait");
}

/* The configuration of the machine from the options. Only `explore` has unknown arguments, input
 * and environment; `run` and `schedules` have ours. */
static void fill_config(struct options *o, const char *what, int argc, char **argv,
			const struct strbuf *input)
{
	bool explore = !strcmp(what, "explore");
	extern char **environ;

	o->c.interrupted = interrupted;
	o->c.args = (const char *const *)argv;
	o->c.nargs = (uint32_t)argc;
	o->c.input = strbuf_str(input);
	o->c.input_len = input->len;
	o->c.sym_arg_len = (uint32_t)o->sym_arg_len;
	o->c.sym_env_len = (uint32_t)o->sym_env_len;
	o->c.query_ms = (uint32_t)o->query_ms;
	o->c.preemptions = (uint32_t)o->preemptions;
	o->c.keep_paths = o->paths;
	o->c.host_files = o->files || !explore;
	if (explore) {
		o->c.sym_args = (uint32_t)o->sym_args;
		o->c.sym_stdin = (uint32_t)o->sym_stdin;
		o->c.sym_env = o->sym_env.data;
	}
	if (!strcmp(what, "run") || !strcmp(what, "schedules"))
		o->c.env = (const char *const *)environ;
}

static struct err *run_way(struct options *o, const char *what, const struct cmd_common *common,
			   struct sym_program *p, int *status)
{
	struct sym_schedules_options schedules = { .config = &o->c,
						   .argv = (char **)o->c.args,
						   .input = o->input,
						   .output = o->output,
						   .no_confirm = o->no_confirm };

	if (!strcmp(what, "run"))
		return do_run(o, common, p, status);
	if (!strcmp(what, "schedules"))
		return sym_schedules_show(&schedules, p, common, status);
	if (!strcmp(what, "trace"))
		return do_trace(o, common, p, status);
	return do_explore(o, common, p, status);
}

static struct err *parse(const struct cmd *cmd, struct options *o, struct cmd_common *common,
			 int *argc, char ***argv)
{
	const struct opt table[] = {
		OPT_U64(0, "sym-args", "N", &o->sym_args, "explore: N more arguments, symbolic"),
		OPT_U64(0, "sym-arg-len", "BYTES", &o->sym_arg_len,
			"explore: longest symbolic argument (4)"),
		OPT_U64(0, "sym-stdin", "BYTES", &o->sym_stdin,
			"explore: BYTES of symbolic standard input"),
		OPT_LIST(0, "sym-env", "NAME", &o->sym_env,
			 "explore: a symbolic environment variable"),
		OPT_U64(0, "sym-env-len", "BYTES", &o->sym_env_len,
			"explore: longest symbolic value (8)"),
		OPT_STR(0, "order", "ORDER", &o->c.order,
			"explore: depth, breadth or cover (default)"),
		OPT_U64(0, "preemptions", "N", &o->preemptions,
			"explore, schedules: every thread schedule with up to N preemptions"),
		OPT_U64(0, "max-states", "N", &o->c.max_states,
			"explore: waiting states at most; schedules: states at most"),
		OPT_U64(0, "max-paths", "N", &o->c.max_paths, "explore: stop after N paths"),
		OPT_U64(0, "max-errors", "N", &o->c.max_errors, "explore: stop after N errors"),
		OPT_FLAG(0, "all-errors", &o->c.all_errors,
			 "explore: every path to an error, not one per place; schedules: go on "
			 "after the first"),
		OPT_STR('o', "output", "FILE", &o->output,
			"schedules: save the first confirmed failure as a plait"),
		OPT_FLAG(0, "paths", &o->paths, "explore: print the input of every path"),
		OPT_FLAG(0, "no-confirm", &o->no_confirm, "explore: do not run the native program"),
		OPT_U64(0, "query-ms", "MS", &o->query_ms,
			"longest time of one solver query (5000)"),
		OPT_STR(0, "query-log", "FILE", &o->c.query_log,
			"write every solver query as SMT-LIB"),
		OPT_U64(0, "max-ops", "N", &o->c.max_ops, "operations per path at most"),
		OPT_REAL(0, "seconds", "S", &o->c.max_seconds, "stop after S seconds"),
		OPT_U64(0, "seed", "N", &o->c.seed, "switch threads at random"),
		OPT_FLAG(0, "summary", &o->summary, "trace FILE.plait: no steps, only the totals"),
		OPT_STR(0, "check", "FULL.plait", &o->check,
			"trace FILE.plait: compare with a full recording of the same schedule"),
		OPT_STR(0, "stdin", "FILE", &o->input, "run: standard input (- is our own)"),
		OPT_FLAG(0, "files", &o->files, "the program may read this machine's files"),
		OPT_LIST(0, "cflag", "FLAG", &o->cflags, "for compiling a source file"),
		OPT_FLAG(0, "stats", &o->stats, "print counts and times"),
		OPT_END,
	};

	return cmd_parse(cmd, table, common, false, argc, argv);
}

static bool is_way(const char *what)
{
	return !strcmp(what, "run") || !strcmp(what, "explore") || !strcmp(what, "trace") ||
	       !strcmp(what, "schedules");
}

static struct err *sym_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct options o = { .sym_arg_len = 4, .sym_env_len = 8, .query_ms = 5000 };
	struct cmd_common common = { 0 };
	_cleanup_(strbuf_deinit) struct strbuf input = { 0 };
	struct sym_program *p = NULL;
	struct err *err;
	const char *what = NULL;

	if (argc > 0 && argv[0][0] != '-') {
		what = argv[0];
		argc--;
		argv++;
	}
	err = parse(cmd, &o, &common, &argc, &argv);
	if (err)
		return err;
	if (!what || !is_way(what))
		return cmd_usage(cmd, "what to do: run, explore, schedules or trace");
	if (!strcmp(what, "trace") && argc && is_plait(argv[0]))
		return sym_plait_trace(&(struct sym_plait_options){ .path = argv[0],
								    .check = o.check,
								    .stats = o.stats,
								    .summary = o.summary,
								    .max_ops = o.c.max_ops,
								    .seconds = o.c.max_seconds },
				       &common, status);
	if (argc < 1)
		return cmd_usage(cmd, "which program?");
	if (o.input) {
		err = file_read(strcmp(o.input, "-") ? o.input : "/dev/stdin", &input);
		if (err)
			return err;
	}
	vec_push(&o.cflags, NULL);
	vec_push(&o.sym_env, NULL);
	err = sym_open(argv[0], o.cflags.data, &p);
	if (err)
		return err;
	interrupt_catch();
	fill_config(&o, what, argc, argv, &input);
	err = run_way(&o, what, &common, p, status);
	if (interrupted())
		*status = 128 + interrupted();
	sym_close(p);
	vec_deinit(&o.cflags);
	vec_deinit(&o.sym_env);
	return err;
}
