/* cmd/replay-script.c - see replay-script.h. */
#include "cmd/replay-script.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "cmd/cmd.h"
#include "cmd/show-run.h"
#include "run/ends.h"
#include "run/place.h"
#include "run/run.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct err *script_load(const char *plait, struct script *ret, bool *has)
{
	struct trace *t = NULL;
	const void *data = NULL;
	size_t len = 0;
	struct err *err = trace_open(plait, &t);

	*has = false;
	if (!err)
		err = trace_section(t, SCRIPT_SECTION, &data, &len);
	if (!err && data) {
		err = script_parse(data, len, ret);
		*has = !err;
	}
	trace_close(t);
	return err;
}

/* In the words of other runs. */
static void outcome_of(const struct director_result *d, struct run_result *ret)
{
	ret->signal = d->signal;
	ret->exit_code = d->exit_code;
	ret->outcome = d->signal	   ? PLAIT_OUTCOME_SIGNAL
		       : d->stuck	   ? PLAIT_OUTCOME_DEADLOCK
		       : d->hangs	   ? PLAIT_OUTCOME_HANG
		       : d->exit_code == 0 ? PLAIT_OUTCOME_PASS
					   : PLAIT_OUTCOME_EXIT;
	if (d->signal)
		ret->text = xstrdup(strsignal(d->signal));
	else if (d->stuck)
		ret->text = xstrdup("everybody waits for somebody else");
}

static struct err *print_json(const struct cmd_common *common, const struct run_result *r,
			      const struct script *s, uint64_t times, uint64_t same)
{
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_uint(&j, "times", times);
	json_uint(&j, "same", same);
	json_bool(&j, "diverged", same < times);
	json_str(&j, "shipped", s->program);
	json_uint(&j, "turns", s->turns.len);
	json_outcome(&j, "outcome", r, NULL);
	json_end(&j);
	return cmd_write_json(common, &j);
}

static void print_text(const struct run_result *r, const struct script *s,
		       const struct places *places, uint64_t times, uint64_t same)
{
	struct strbuf sb = { 0 };

	show_outcome(r, &sb);
	show_places(places, "    ", &sb);
	strbuf_adds(&sb, "  the shipped binary ");
	strbuf_add_printable(&sb, s->program, "");
	strbuf_addf(&sb,
		    ", one thread at a time\n  replayed %" PRIu64 " of %" PRIu64
		    " times, %zu turns\n",
		    same, times, s->turns.len);
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
}

static struct err *play_times(const struct script *s, const struct target *t, uint64_t times,
			      const char *core, struct played *last, uint64_t *same)
{
	struct err *err = NULL;

	for (uint64_t i = 0; !err && i < times; i++) {
		err = script_play(t, s, core, last);
		*same += !err && last->same;
		progress("%" PRIu64 " of %" PRIu64 " replays", i + 1, times);
	}
	progress_done();
	return err;
}

struct err *script_replay(const struct script *s, const struct target *t, uint64_t times,
			  const struct cmd_common *common, int *status)
{
	struct places places = { 0 };
	struct run_result r = { 0 };
	struct played last = { 0 };
	char *folder = NULL, *core = NULL;
	uint64_t same = 0;
	struct err *err = file_temp_dir(&folder);

	if (!err) {
		core = xasprintf("%s/core", folder);
		err = play_times(s, t, times, core, &last, &same);
	}
	if (!err && last.result.dumped)
		err = places_of_dump(s, core, &places);
	if (!err) {
		outcome_of(&last.result, &r);
		*status = same < times ? 4 : 1;
		if (common->json)
			err = print_json(common, &r, s, times, same);
		else
			print_text(&r, s, &places, times, same);
	}
	if (folder)
		file_remove_tree(folder);
	free(folder);
	free(core);
	places_deinit(&places);
	run_result_deinit(&r);
	return err;
}
