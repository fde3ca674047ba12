/* cmd/witness-file.c - see witness-file.h. */
#include "cmd/witness-file.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/show-run.h"
#include "run/run.h"
#include "trace/trace.h"
#include "witness/witness.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_RUNS = 500, REPLAYS = 5 };

struct err *witness_save(const struct hunt_result *r, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct trace *t = NULL;
	struct err *err;

	if (!path || !r->failures.len)
		return NULL;
	if (!r->failures.data[0].plait)
		return err_new(ERR_USAGE, "--witness needs a saved plait: -o says where");
	err = trace_open(r->failures.data[0].plait, &t);
	if (err)
		return err;
	err = witness_write(t, &text);
	trace_close(t);
	if (err) {
		log_warn("no witness was written: %s", err_message(err));
		err_free(err);
		return NULL;
	}
	return file_write(path, strbuf_str(&text), text.len);
}

static void print_text(const struct witness *w, const struct followed *f, unsigned same,
		       const char *saved)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };

	if (f->failed) {
		show_outcome(&f->run, &sb);
		show_failure_stack(&f->run, saved, &sb);
		strbuf_addf(&sb, "  found in run %u along the witness\n", f->runs);
		strbuf_addf(&sb, "  replayed %u of %d times\n", same, REPLAYS);
		if (saved)
			show_saved(saved, &sb);
	} else {
		strbuf_addf(&sb,
			    "no failure in %u runs along the witness; %zu of %zu waypoints were "
			    "reached\n",
			    f->runs, f->passed, w->waypoints.len);
		if (f->passed + 1 < w->waypoints.len)
			strbuf_addf(&sb, "  nobody came to line %u of %s\n",
				    w->waypoints.data[f->passed].line,
				    w->waypoints.data[f->passed].file);
	}
	fputs(strbuf_str(&sb), stdout);
}

static struct err *print_json(const struct cmd_common *common, const struct witness *w,
			      const struct followed *f, unsigned same, const char *saved)
{
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_bool(&j, "found", f->failed);
	json_uint(&j, "runs", f->runs);
	json_uint(&j, "waypoints", w->waypoints.len);
	json_uint(&j, "passed", f->passed);
	if (f->failed) {
		json_outcome(&j, "outcome", &f->run, saved);
		json_uint(&j, "same", same);
	}
	json_end(&j);
	return cmd_write_json(common, &j);
}

static struct err *follow(const struct witness *w, struct session *s, const char *output,
			  const struct cmd_common *common, int *status)
{
	struct followed f = { 0 };
	unsigned same = 0, tried = REPLAYS;
	struct err *err = witness_follow(s, w, MOST_RUNS, &f);

	if (!err && f.failed)
		err = confirm(s, &f.run, &tried, &same);
	if (!err && f.failed && output)
		err = save_plait(s, &f.run, output);
	if (!err) {
		*status = f.failed && same == REPLAYS ? 1 : 4;
		if (common->json)
			err = print_json(common, w, &f, same, f.failed ? output : NULL);
		else
			print_text(w, &f, same, f.failed ? output : NULL);
	}
	followed_deinit(&f);
	return err;
}

struct err *witness_replay(const char *path, const struct target *target, const char *output,
			   const struct cmd_common *common, int *status)
{
	struct session *session = NULL;
	struct witness w;
	struct err *err = witness_read(path, &w);

	if (err)
		return err;
	if (!target->argv || !target->argv[0])
		err = err_new(ERR_USAGE, "a witness names no program: unplait replay %s PROGRAM",
			      path);
	if (!err)
		err = session_open(target, &session);
	if (!err)
		err = follow(&w, session, output, common, status);
	session_close(session);
	witness_deinit(&w);
	return err;
}
