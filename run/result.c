/* run/result.c - how a run ended: is it a failure, is it the same one as before, and what in it was
 * not under control. */
#include "run/run.h"

#include "run/output.h"

#include "base/map.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

void run_result_deinit(struct run_result *r)
{
	free(r->text);
	free(r->out);
	free(r->errors);
	schedule_deinit(&r->schedule);
	vec_deinit(&r->blocked);
	memset(r, 0, sizeof(*r));
}

bool run_failed(const struct run_result *r)
{
	return r->outcome > PLAIT_OUTCOME_PASS;
}

void run_fail_by_exit(struct run_result *r)
{
	assert(r->outcome == PLAIT_OUTCOME_PASS || r->outcome == PLAIT_OUTCOME_EXIT);
	assert(r->exit_code > 0);
	r->outcome = r->schedule.outcome = PLAIT_OUTCOME_EXIT;
	free(r->text);
	r->text = output_headline(r->out, r->errors);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	return hash_u64(h ^ v);
}

uint64_t run_signature(const struct run_result *r)
{
	uint64_t h = mix(r->outcome, (uint64_t)r->signal);
	uint32_t i;

	if (r->outcome == PLAIT_OUTCOME_DEADLOCK || r->outcome == PLAIT_OUTCOME_HANG) {
		uint64_t sum = 0; /* threads in any order */
		size_t k;

		for (k = 0; k < r->blocked.len; k++) {
			const struct plait_blocked *b = &r->blocked.data[k];

			sum += mix(b->kind, b->nframes > 2 ? b->frames[2] : b->site);
		}
		return mix(h, sum);
	}
	if (r->outcome == PLAIT_OUTCOME_SANITIZER && r->text)
		return mix(h, output_fingerprint(r->text));
	if (r->outcome == PLAIT_OUTCOME_EXIT) /* which test failed, how */
		return mix(mix(h, (uint64_t)r->exit_code),
			   output_fingerprint(r->text ? r->text : ""));
	if (r->failure.text[0] && strcmp(r->failure.text, "abort()") != 0)
		return mix(h, hash_bytes(r->failure.text, strlen(r->failure.text), 0));
	if (r->text) /* an exception that nobody caught, a report of libc */
		h = mix(h, output_fingerprint(r->text));
	for (i = 0; i < r->failure.nframes && i < 3; i++)
		h = mix(h, r->failure.frames[i]);
	return h;
}

void uncontrolled_describe(uint32_t u, struct strbuf *out)
{
	static const struct {
		uint32_t bit;
		const char *text;
	} table[] = {
		{ PLAIT_UNCONTROLLED_EARLY_THREADS, "threads started before main" },
		{ PLAIT_UNCONTROLLED_FOREIGN, "threads not made by pthread_create" },
		{ PLAIT_UNCONTROLLED_FORK, "forked children" },
		{ PLAIT_UNCONTROLLED_CHILD_THREADS, "threads of forked children" },
		{ PLAIT_UNCONTROLLED_PARENT, "the process that forked the test" },
		{ PLAIT_UNCONTROLLED_IO, "waiting for the outside world" },
		{ PLAIT_UNCONTROLLED_SIGNAL, "asynchronous signal handlers" },
		{ PLAIT_UNCONTROLLED_SHARED, "process-shared synchronisation" },
		{ PLAIT_UNCONTROLLED_CANCEL, "asynchronous cancellation" },
		{ PLAIT_UNCONTROLLED_ROBUST, "robust mutexes of a thread that held many" },
		{ PLAIT_UNCONTROLLED_CONSTRAINT, "a constraint that could not be kept" },
		{ PLAIT_UNCONTROLLED_PROC, "numbers read from /proc" },
		{ PLAIT_UNCONTROLLED_AWAY,
		  "code that was not built with unplait and kept the processor" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (u & table[i].bit)
			strbuf_addf(out, "%s%s", out->len ? ", " : "", table[i].text);
}
