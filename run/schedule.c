/* run/schedule.c - schedules as plait sections: a line of text with the facts, then the decisions
 * as bytes (sched/decisions.h). */
#include "run/run.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <inttypes.h>

#define HEAD "unplait-schedule 1 "

enum { LONG_RUN = 10000000 }; /* steps */

void schedule_deinit(struct schedule *s)
{
	vec_deinit(&s->decisions);
	memset(s, 0, sizeof(*s));
}

/* A run that was recorded in mode sync may be longer than any that hunt allows: it gets what it needs, and a replay
 * that goes another way still ends. 0: the usual budget does. */
static uint64_t event_budget(const struct schedule *s)
{
	if (s->outcome == PLAIT_OUTCOME_HANG || s->flags & PLAIT_CONTROL_CUT)
		return s->steps;
	return s->steps > LONG_RUN ? 2 * s->steps : 0;
}

struct run_request schedule_request(const struct schedule *s)
{
	assert(!s->decisions.len || s->decisions.data);
	return (struct run_request){
		.strategy = PLAIT_STRATEGY_REPLAY,
		.seed = s->seed,
		.flags = s->flags,
		.decisions = s->decisions.data,
		.ndecisions = s->decisions.len,
		.event_budget = event_budget(s),
		.point_budget = s->steps > LONG_RUN ? INT32_MAX : 0,
	};
}

struct run_request fair_request(const struct run_result *hung, uint64_t point_budget)
{
	struct run_request req = schedule_request(&hung->schedule);

	req.strategy = PLAIT_STRATEGY_FAIR;
	req.seed = 1;
	req.points = PLAIT_POINTS_ALL;
	req.flags |= PLAIT_CONTROL_PREFIX;
	req.event_budget = 0;
	req.point_budget = point_budget;
	req.ndecisions = schedule_prefix(&hung->schedule, hung->steps / 2);
	return req;
}

void schedule_write(const struct schedule *s, struct strbuf *out)
{
	uint8_t bytes[DECISION_MAX_BYTES];
	uint64_t last = 0;
	size_t i;

	strbuf_addf(out,
		    HEAD "steps=%" PRIu64 " hash=%016" PRIx64 " flags=%u outcome=%u "
			 "strategy=%s seed=%" PRIu64 " decisions=%zu\n",
		    s->steps, s->hash, s->flags, s->outcome, s->strategy[0] ? s->strategy : "-",
		    s->seed, s->decisions.len);
	for (i = 0; i < s->decisions.len; i++) {
		uint8_t *end = decision_write(bytes, &s->decisions.data[i], last);

		last = s->decisions.data[i].step;
		strbuf_add(out, bytes, (size_t)(end - bytes));
	}
}

struct err *schedule_parse(const void *data, size_t len, struct schedule *ret)
{
	const char *end = memchr(data, '\n', len);
	struct decision_reader r;
	struct decision d;
	char line[512];
	size_t n;

	memset(ret, 0, sizeof(*ret));
	if (!end || (size_t)(end - (const char *)data) >= sizeof(line))
		return err_new(ERR_ENV, "not a schedule");
	memcpy(line, data, (size_t)(end - (const char *)data));
	line[end - (const char *)data] = 0;
	if (sscanf(line,
		   HEAD "steps=%" SCNu64 " hash=%" SCNx64 " flags=%u outcome=%u strategy=%15s "
			"seed=%" SCNu64 " decisions=%zu",
		   &ret->steps, &ret->hash, &ret->flags, &ret->outcome, ret->strategy, &ret->seed,
		   &n) != 7)
		return err_new(ERR_ENV, "not a schedule, or of another version");
	decision_reader_init(&r, end + 1, len - (size_t)(end + 1 - (const char *)data));
	while (decision_read(&r, &d)) {
		r.damaged |= d.kind != DECISION_CHOICE && d.value >= PLAIT_MAX_THREADS;
		vec_push(&ret->decisions, d);
	}
	if (!r.damaged && ret->decisions.len == n)
		return NULL;
	schedule_deinit(ret);
	return err_new(ERR_ENV, "the schedule is damaged: %zu decisions expected", n);
}

/* A schedule of one build, of the program or of a library, may mean another run in the next. */
static void warn_of_other_build(struct trace *t, const char *path)
{
	const struct trace_meta *m = trace_meta(t);

	for (size_t i = 0; i < m->nmodules; i++) {
		const struct trace_module *module = &m->modules[i];
		char now[41] = "";

		if (!module->build_id[0] || !module->path || module->path[0] != '/')
			continue; /* the vdso has no file */
		err_free(binary_build_id(module->path, now));
		if (now[0] && strcmp(now, module->build_id) != 0)
			log_warn("%s was recorded with another build of %s; it may go another way "
				 "now",
				 path, module->path);
	}
}

struct err *schedule_load(const char *path, struct schedule *ret)
{
	struct file_map m = { 0 };
	struct trace *t = NULL;
	const void *data = NULL;
	struct err *err;
	size_t len = 0;

	err = file_map_open(path, &m);
	if (err)
		return err;
	if (m.len > strlen(HEAD) && !memcmp(m.data, HEAD, strlen(HEAD))) {
		err = schedule_parse(m.data, m.len, ret);
	} else {
		err = trace_open(path, &t);
		if (err) {
			file_map_close(&m);
			return err; /* it names the file */
		}
		warn_of_other_build(t, path);
		err = trace_section(t, "schedule", &data, &len);
		if (!err && !data)
			err = err_new(ERR_ENV,
				      "it has no schedule: only runs of `hunt`, `replay` and "
				      "`minimize` can be replayed");
		if (!err)
			err = schedule_parse(data, len, ret);
		trace_close(t);
	}
	file_map_close(&m);
	return err_wrap(err, "%s", path);
}

size_t schedule_switches(const struct schedule *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->decisions.len; i++)
		n += s->decisions.data[i].kind == DECISION_SWITCH ||
		     s->decisions.data[i].kind == DECISION_OUTSIDE;
	return n;
}

void schedule_copy(const struct schedule *s, struct schedule *ret)
{
	*ret = *s;
	memset(&ret->decisions, 0, sizeof(ret->decisions));
	for (size_t i = 0; i < s->decisions.len; i++)
		vec_push(&ret->decisions, s->decisions.data[i]);
}

/* Clocks count from 1 and decisions from 0: the step with clock c runs when c - 1 steps have, and a
 * switch to its thread is a decision at c - 1, which must not be followed. Which waiter the step
 * before it wakes is a decision at c - 1 too, and belongs to that step. */
size_t schedule_prefix(const struct schedule *s, uint64_t clock)
{
	size_t n = 0;

	for (; n < s->decisions.len; n++) {
		const struct decision *d = &s->decisions.data[n];

		if (d->step + 1 > clock || (d->step + 1 == clock && d->kind != DECISION_CHOICE))
			break;
	}
	return n;
}

uint64_t schedule_events(const struct schedule *s, uint32_t thread, uint64_t steps)
{
	uint64_t start = 0, n = 0;
	uint32_t running = 0;

	for (size_t i = 0; i < s->decisions.len; i++) {
		const struct decision *d = &s->decisions.data[i];

		if (d->kind == DECISION_CHOICE)
			continue;
		if (d->step >= steps)
			break;
		n += running == thread ? d->step - start : 0;
		start = d->step;
		running = d->value;
	}
	return n + (running == thread ? steps - start : 0);
}
