/* cmd/cmd-watch.c - `unplait watch`: deadlock fingerprints of programs as they are. */
#include "cmd/cmd.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "debug/modules.h"
#include "deadlock/deadlock.h"
#include "deadlock/foreign.h"
#include "deadlock/launch.h"
#include "deadlock/merge.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct options {
	struct cmd_common common;
	const char *out, *core, *area, *sarif, *action;
	uint64_t pid, history;
	double stuck_after, timeout;
	bool report, all;
};

/* What reporting needs besides the options. */
struct printer {
	const struct options *o;
	struct modules *modules;
	unsigned shown;
};

static struct err *write_file(const struct options *o, const struct fingerprint *f, int pid,
			      const struct strbuf *json)
{
	_cleanup_(xfreep) char *path = NULL;
	struct err *err = file_make_dirs(o->out);

	if (err)
		return err;
	path = xasprintf("%s/%s-%s-%d.json", o->out,
			 strcmp(fingerprint_kind(f), "none") == 0 ? "state" : fingerprint_kind(f),
			 *fingerprint_bucket(f) ? fingerprint_bucket(f) : "0", pid);
	for (unsigned i = 2; file_exists(path); i++) {
		free(path);
		path = xasprintf("%s/%s-%s-%d-%u.json", o->out, fingerprint_kind(f),
				 fingerprint_bucket(f), pid, i);
	}
	err = file_write(path, strbuf_str(json), json->len);
	if (!err)
		log_note("fingerprint written to %s", path);
	return err;
}

static const struct report_format *format_of(const struct options *o)
{
	return o->common.json ? &report_json : &report_term;
}

static struct err *print(struct printer *p, const struct snapshot *s, const struct deadlock *d)
{
	_cleanup_(strbuf_deinit) struct strbuf shown = { 0 }, sarif = { 0 }, json = { 0 };
	const struct options *o = p->o;
	struct report_view view = { .all = o->all };
	struct fingerprint *f;
	struct err *err;

	if (!p->modules)
		p->modules = modules_new();
	f = fingerprint_new(s, d, p->modules);
	format_of(o)->fingerprint(f, &view, &shown);
	err = cmd_write_report(&o->common, &shown);
	fflush(stdout);
	if (!err && o->sarif) {
		report_sarif.fingerprint(f, &view, &sarif);
		err = file_write(o->sarif, strbuf_str(&sarif), sarif.len);
	}
	if (!err && o->out) {
		report_json.fingerprint(f, &view, &json);
		err = write_file(o, f, (int)s->pid, &json);
	}
	p->shown++;
	fingerprint_free(f);
	return err;
}

/* ---- launch ---- */

static struct err *on_report(void *context, enum watch_why why, const struct snapshot *s,
			     const struct deadlock *d)
{
	struct printer *p = context;

	/* a process that was killed is of interest when it was blocked; its state goes to -o */
	if (why == WATCH_WHY_DEATH && !d->ncycles && !p->o->out && !p->o->all)
		return NULL;
	return print(p, s, d);
}

static struct err *parse_action(const char *name, enum watch_action *ret)
{
	static const char *const names[] = { "kill", "abort", "leave" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (!name || strcmp(name, names[i]) == 0) {
			*ret = (enum watch_action)i;
			return NULL;
		}
	}
	return err_new(ERR_USAGE, "--on-deadlock is kill, abort or leave, not '%s'", name);
}

static void note_end(const struct watch_result *r, const char *program)
{
	if (!r->ended)
		log_note("%s is left running", program);
	else if (WIFSIGNALED(r->wait_status) && !r->findings)
		log_note("%s was ended by signal %d (%s)", program, WTERMSIG(r->wait_status),
			 strsignal(WTERMSIG(r->wait_status)));
	else if (WIFEXITED(r->wait_status) && WEXITSTATUS(r->wait_status))
		log_note("%s ended with status %d", program, WEXITSTATUS(r->wait_status));
	if (!r->areas)
		log_verbose("no lock was used, no thread created: there was nothing to watch");
}

static struct err *launch(struct printer *p, char **argv, int *status)
{
	const struct options *o = p->o;
	_cleanup_(xfreep) char *library = file_find_part("libplait-watch.so");
	struct watch_opts w = {
		.argv = argv,
		.library = library,
		.history = o->history,
		.stuck_after = o->stuck_after,
		.timeout = o->timeout,
		.report = on_report,
		.context = p,
	};
	struct watch_result r;
	struct err *err = parse_action(o->action, &w.action);

	if (err)
		return err;
	if (!library)
		return err_new(ERR_ENV, "libplait-watch.so is not next to unplait nor installed");
	err = watch_run(&w, &r);
	if (err)
		return err;
	if (r.ended && WIFEXITED(r.wait_status) && WEXITSTATUS(r.wait_status) == 127 && !r.areas)
		return err_new(ERR_ENV, "%s could not be run", argv[0]);
	note_end(&r, argv[0]);
	*status = r.findings ? 1 : 0;
	if (o->common.json && !p->shown) {
		/* one object per command, found or not */
		struct snapshot none = { 0 };
		struct deadlock nothing = { 0 };

		return print(p, &none, &nothing);
	}
	return NULL;
}

/* ---- attach, core, area ---- */

static struct err *conclude(struct printer *p, struct snapshot *s, struct deadlock *d, int *status)
{
	struct err *err = print(p, s, d);

	*status = d->ndeadlocks || d->stuck ? 1 : 0;
	deadlock_deinit(d);
	snapshot_deinit(s);
	return err;
}

/* The nearest thing for a process that was started without the library, or its dump. */
static struct err *show_without(struct printer *p, int *status)
{
	_cleanup_(strbuf_deinit) struct strbuf shown = { 0 };
	struct report_view view = { 0 };
	struct foreign f;
	struct err *err =
		p->o->core ? foreign_from_core(p->o->core, &f) : foreign_read((int)p->o->pid, &f);

	if (!err) {
		format_of(p->o)->foreign(&f, &view, &shown);
		err = cmd_write_report(&p->o->common, &shown);
	}
	*status = f.ncycle ? 1 : 0;
	foreign_deinit(&f);
	return err;
}

static struct err *attach(struct printer *p, int *status)
{
	struct snapshot s;
	struct deadlock d;
	struct err *err = NULL;
	bool has;

	if (p->o->pid > INT32_MAX)
		return err_new(ERR_ENV, "there is no process %llu", (unsigned long long)p->o->pid);
	err = snapshot_has_library((int)p->o->pid, &has);
	if (err)
		return err;
	if (!has) {
		log_warn("process %llu was started without the watch library (or has used no lock "
			 "yet): nobody noted where its locks were taken. These are its stacks now.",
			 (unsigned long long)p->o->pid);
		return show_without(p, status);
	}
	err = watch_sample((int)p->o->pid, 0.1, p->o->stuck_after, &s, &d);
	return err ? err : conclude(p, &s, &d, status);
}

static struct err *examine_file(struct printer *p, int *status)
{
	struct snapshot s;
	struct deadlock d;
	struct err *err;
	bool has = true;

	err = p->o->core ? snapshot_from_core(p->o->core, &s, &has)
			 : snapshot_from_file(p->o->area, &s);
	if (err)
		return err;
	if (!has) {
		log_warn("%s holds no area of the watch library: the program ran without it, or "
			 "shared memory was left out of the dump (coredump_filter). Nobody noted "
			 "where its locks were taken; these are its stacks.",
			 p->o->core);
		return show_without(p, status);
	}
	deadlock_find(&s, &d);
	return conclude(p, &s, &d, status);
}

/* ---- merge ---- */

static struct err *merge(const struct options *o, int argc, char **argv, int *status)
{
	_cleanup_(strbuf_deinit) struct strbuf shown = { 0 };
	struct report_view view = { 0 };
	struct merge *m = merge_new();
	struct err *err = NULL;

	for (int i = 0; i < argc && !err; i++)
		err = merge_add(m, argv[i]);
	if (!err) {
		format_of(o)->merge(m, &view, &shown);
		err = cmd_write_report(&o->common, &shown);
	}
	*status = m->buckets.len ? 1 : 0;
	merge_free(m);
	return err;
}

static struct err *run(struct options *o, const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct printer p = { .o = o };
	unsigned sources = (o->pid != 0) + (o->core != NULL) + (o->area != NULL);
	struct err *err;

	if (o->report)
		return argc ? merge(o, argc, argv, status)
			    : cmd_usage(cmd, "--report needs folders or files to merge");
	if (sources > 1 || (sources && argc))
		return cmd_usage(cmd, "give one of --pid, --core, --area or a program");
	if (!sources && !argc)
		return cmd_usage(cmd, "what shall be watched?");
	if (o->pid)
		err = attach(&p, status);
	else if (sources)
		err = examine_file(&p, status);
	else
		err = launch(&p, argv, status);
	modules_free(p.modules);
	return err;
}

static struct err *watch_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct options o = { .stuck_after = 3 };
	const struct opt table[] = {
		OPT_STR('o', "output", "DIR", &o.out,
			"also write every fingerprint to DIR, as JSON"),
		OPT_U64(0, "pid", "PID", &o.pid, "look at a running process"),
		OPT_STR(0, "core", "FILE", &o.core,
			"look at a core dump, best of a watched process"),
		OPT_STR(0, "area", "FILE", &o.area,
			"look at the area a watched process left behind"),
		OPT_FLAG(0, "report", &o.report,
			 "merge fingerprints: the words are folders or files"),
		OPT_U64(0, "history", "N", &o.history,
			"keep the last N releases per thread, and look for lock-order inversions"),
		OPT_REAL(
			0, "stuck-after", "SEC", &o.stuck_after,
			"report a program in which no thread moves for SEC seconds (3; 0 = never)"),
		OPT_REAL(0, "timeout", "SEC", &o.timeout, "end the program after SEC seconds"),
		OPT_STR(0, "on-deadlock", "WHAT", &o.action,
			"then kill the program (default), abort it (core dump), or leave it"),
		OPT_STR(0, "sarif", "FILE", &o.sarif, "write SARIF to FILE"),
		OPT_FLAG(0, "all", &o.all, "print all threads with full stacks, and the history"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &o.common, false, &argc, &argv);

	if (err)
		return err;
	return run(&o, cmd, argc, argv, status);
}

const struct cmd cmd_watch = {
	.name = "watch",
	.synopsis = "[OPTION]... [--] PROGRAM [ARG]... | --pid PID | --core FILE | --report DIR...",
	.summary = "find deadlocks in unmodified programs, with the stacks of every lock involved",
	.help = "Examples:\n"
		"  unplait watch -- ./server --port 8080\n"
		"  unplait watch --pid $(pidof server)\n"
		"  unplait watch -o found -- make test; unplait watch --report found\n"
		"\n"
		"SIGUSR1 to unplait prints the state of the program; an interrupt does, too.\n"
		"Status: 0 no deadlock, 1 deadlock or stuck, 2 usage, 3 cannot look.\n",
	.main = watch_main,
};
