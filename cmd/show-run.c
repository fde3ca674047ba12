/* cmd/show-run.c - see show-run.h. */
#include "cmd/show-run.h"

#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "run/run.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <string.h>

void show_outcome(const struct run_result *r, struct strbuf *out)
{
	strbuf_addf(out, "%s%s%s", color(run_failed(r) ? COLOR_RED : COLOR_GREEN),
		    outcome_name(r->outcome), color(COLOR_OFF));
	if (r->outcome == PLAIT_OUTCOME_SIGNAL)
		strbuf_addf(out, " %d (%s)", r->signal, strsignal(r->signal));
	if (r->outcome == PLAIT_OUTCOME_EXIT)
		strbuf_addf(out, " %d", r->exit_code);
	if (r->text) {
		strbuf_adds(out, ": ");
		strbuf_add_printable(out, r->text, "");
	}
	strbuf_addc(out, '\n');
}

void show_uncontrolled(uint32_t uncontrolled, const char *note, struct strbuf *out)
{
	struct strbuf sb = { 0 };

	uncontrolled_describe(uncontrolled, &sb);
	if (sb.len)
		strbuf_addf(out, "not under control: %s\n", strbuf_str(&sb));
	if (note) {
		strbuf_adds(out, "note: ");
		strbuf_add_printable(out, note, "");
		strbuf_addc(out, '\n');
	}
	strbuf_deinit(&sb);
}

void json_outcome(struct json *j, const char *key, const struct run_result *r)
{
	json_begin_object(j, key);
	json_str(j, "kind", outcome_name(r->outcome));
	json_str(j, "message", r->text);
	if (r->signal)
		json_int(j, "signal", r->signal);
	if (r->exit_code >= 0)
		json_int(j, "exit", r->exit_code);
	json_end(j);
}

struct err *run_options(const char *fail_on, const char *gate, const char *points,
			struct target *target, uint32_t *ret)
{
	static const char *const names[] = { "sync", "learned", "all" };
	uint32_t i;

	if (fail_on && strcmp(fail_on, "exit"))
		return err_new(ERR_USAGE, "--fail-on is exit, not '%s'", fail_on);
	target->fail_on_exit = fail_on != NULL;
	if (gate && strcmp(gate, "futex") && strcmp(gate, "fiber"))
		return err_new(ERR_USAGE, "--gate is futex or fiber, not '%s'", gate);
	target->gate = !gate ? 0 : !strcmp(gate, "futex") ? 1 : 2;
	if (!points || !strcmp(points, "auto"))
		return NULL;
	for (i = 0; i < 3; i++)
		if (!strcmp(points, names[i])) {
			*ret = i;
			return NULL;
		}
	return err_new(ERR_USAGE, "--points is auto, sync, learned or all, not '%s'", points);
}
