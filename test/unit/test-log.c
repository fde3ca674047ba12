/* Logs of mode sync: what the runtime may map, and nothing else. */
#include "run/log.h"

#include "base/err.h"
#include "unplait/log.h"

#include <criterion/criterion.h>
#include <string.h>

/* Two threads, a hand-over, a result, a signal that came after it, an answer of three bytes and a soft one. */
static void make(struct strbuf *out)
{
	struct plait_log head = { .version = PLAIT_FORMAT_VERSION,
				  .nthreads = 2,
				  .nhandovers = 2,
				  .nresults = 1,
				  .nsignals = 1,
				  .nanswers = 2,
				  .nbytes = 3 };
	struct plait_log_thread threads[2] = {
		{ .synced = 4,
		  .handovers = { 0, 0 },
		  .results = { 0, 1 },
		  .signals = { 0, 1 },
		  .answers = { 0, 1 },
		  .soft = { 1, 0 } },
		{ .ordinal = 1,
		  .synced = 2,
		  .handovers = { 0, 1 },
		  .results = { 1, 0 },
		  .signals = { 1, 0 },
		  .answers = { 1, 0 },
		  .soft = { 1, 1 } },
	};
	struct plait_log_handover h[2] = { { .at = 2, .count = 3, .thread = 0 },
					   { .count = 1, .thread = 1 } };
	struct plait_log_signal s = { .at = 2, .after = { 1, 1 }, .number = 15 };
	struct plait_log_result r = { .at = 1, .result = 16 };
	struct plait_log_answer a[2] = {
		{ .call = PLAIT_CALL_read, .result = 3, .bytes = 0, .nbytes = 3 },
		{ .call = PLAIT_CALL_time, .result = 5, .bytes = 3, .nbytes = 0 }
	};

	memcpy(head.magic, PLAIT_LOG_MAGIC, 8);
	strbuf_add(out, &head, sizeof(head));
	strbuf_add(out, threads, sizeof(threads));
	strbuf_add(out, h, sizeof(h));
	strbuf_add(out, &r, sizeof(r));
	strbuf_add(out, &s, sizeof(s));
	strbuf_add(out, a, sizeof(a));
	strbuf_add(out, "abc", 3);
}

static bool is_good(const void *data, size_t len)
{
	struct err *err = log_check(data, len);

	err_free(err);
	return !err;
}

Test(log, good)
{
	struct strbuf log = { 0 };

	make(&log);
	cr_assert(is_good(log.data, log.len));
	strbuf_deinit(&log);
}

Test(log, cut)
{
	struct strbuf log = { 0 };

	make(&log);
	for (size_t n = 0; n < log.len; n++)
		cr_assert(!is_good(log.data, n), "%zu of %zu bytes", n, log.len);
	strbuf_add(&log, "d", 1);
	cr_assert(!is_good(log.data, log.len));
	strbuf_deinit(&log);
}

/* Whatever is accepted stays inside: every part, every thread of a hand-over, every answer's bytes. */
static void walk(const struct plait_log *log, size_t len)
{
	const struct plait_log_thread *t = (const void *)(log + 1);
	const struct plait_log_handover *h = (const void *)(t + log->nthreads);
	const struct plait_log_signal *s =
		(const void *)((const struct plait_log_result *)(h + log->nhandovers) +
			       log->nresults);
	const struct plait_log_answer *a = (const void *)(s + log->nsignals);
	const char *bytes = (const char *)(a + log->nanswers), *end = (const char *)log + len;

	for (uint32_t i = 0; i < log->nthreads; i++) {
		cr_assert(t[i].handovers.first + t[i].handovers.n <= log->nhandovers);
		cr_assert(t[i].results.first + t[i].results.n <= log->nresults);
		cr_assert(t[i].signals.first + t[i].signals.n <= log->nsignals);
		cr_assert(t[i].answers.first + t[i].answers.n <= log->nanswers);
		cr_assert(t[i].soft.first + t[i].soft.n <= log->nanswers);
	}
	for (uint64_t i = 0; i < log->nhandovers; i++)
		cr_assert(h[i].thread < log->nthreads);
	for (uint64_t i = 0; i < log->nsignals; i++)
		cr_assert(s[i].after.first + s[i].after.n <= log->nhandovers);
	for (uint64_t i = 0; i < log->nanswers; i++)
		cr_assert(a[i].bytes + a[i].nbytes <= (uint64_t)(end - bytes));
}

Test(log, damaged)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct strbuf log = { 0 };
	size_t accepted = 0;

	make(&log);
	for (size_t i = 0; i < log.len; i++) {
		for (size_t k = 0; k < sizeof(values); k++) {
			char before = log.data[i];

			log.data[i] = (char)values[k];
			if (is_good(log.data, log.len)) {
				walk((const void *)log.data, log.len);
				accepted++;
			}
			log.data[i] = before;
		}
	}
	cr_assert(accepted > 0);
	strbuf_deinit(&log);
}

Test(log, calls)
{
	cr_assert(plait_call_how(PLAIT_CALL_read) == PLAIT_CALL_IN);
	cr_assert(plait_call_how(PLAIT_CALL_write) == PLAIT_CALL_OUT);
	cr_assert(plait_call_how(PLAIT_CALL_clock_gettime) == PLAIT_CALL_SOFT);
	cr_assert(plait_call_how(PLAIT_CALL_COUNT) == PLAIT_CALL_IN, "a number that is no call");
}
