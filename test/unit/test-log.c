/* Logs of mode sync: what the runtime may map, and nothing else. */
#include "run/log.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/format.h"
#include "unplait/log.h"

#include <criterion/criterion.h>
#include <string.h>

/* Two threads, a hand-over, a result, a signal that came after it, a check mark, two times, an answer of three bytes and a
 * soft one. */
static void make(struct strbuf *out)
{
	struct plait_log head = { .version = PLAIT_FORMAT_VERSION,
				  .nthreads = 2,
				  .nhandovers = 2,
				  .nresults = 1,
				  .nsignals = 1,
				  .nmarks = 1,
				  .ntimes = 2,
				  .nanswers = 2,
				  .nbytes = 3 };
	struct plait_log_thread threads[2] = {
		{ .synced = 4,
		  .handovers = { 0, 0 },
		  .results = { 0, 1 },
		  .signals = { 0, 1 },
		  .marks = { 0, 0 },
		  .times = { 0, 1 },
		  .answers = { 0, 1 },
		  .soft = { 1, 0 } },
		{ .ordinal = 1,
		  .synced = 2,
		  .handovers = { 0, 1 },
		  .results = { 1, 0 },
		  .signals = { 1, 0 },
		  .marks = { 0, 1 },
		  .times = { 1, 1 },
		  .answers = { 1, 0 },
		  .soft = { 1, 1 } },
	};
	struct plait_log_handover h[2] = { { .at = 2, .count = 3, .thread = 0 },
					   { .count = 1, .thread = 1 } };
	struct plait_log_signal s = { .at = 2, .after = { 1, 1 }, .number = 15 };
	struct plait_log_mark m = { .at = 2, .value = 7 };
	struct plait_log_time times[2] = { { 1, 100, 0, 0 }, { 2, 90, 1, 0 } };
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
	strbuf_add(out, &m, sizeof(m));
	strbuf_add(out, times, sizeof(times));
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
	struct plait_log_arrays arrays = plait_log_arrays(log);
	const struct plait_log_thread *t = arrays.threads;
	const struct plait_log_handover *h = arrays.handovers;
	const struct plait_log_signal *s = arrays.signals;
	const struct plait_log_answer *a = arrays.answers;
	const char *bytes = (const char *)arrays.bytes, *end = (const char *)log + len;

	for (uint32_t i = 0; i < log->nthreads; i++) {
		cr_assert(t[i].handovers.first + t[i].handovers.n <= log->nhandovers);
		cr_assert(t[i].results.first + t[i].results.n <= log->nresults);
		cr_assert(t[i].signals.first + t[i].signals.n <= log->nsignals);
		cr_assert(t[i].marks.first + t[i].marks.n <= log->nmarks);
		cr_assert(t[i].times.first + t[i].times.n <= log->ntimes);
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

/* What mode sync calls a lock and the control engine an attempt that succeeded is one thing. */
Test(log, marks)
{
	uint64_t ab, ba, other;

	for (uint32_t kind = 0; kind < PLAIT_EV_COUNT; kind++)
		cr_assert(plait_log_class(plait_log_class(kind)) == plait_log_class(kind));
	ab = plait_log_mix(plait_log_mix(0, PLAIT_EV_LOCK, 64), PLAIT_EV_LOCK, 128);
	ba = plait_log_mix(plait_log_mix(0, PLAIT_EV_LOCK, 128), PLAIT_EV_LOCK, 64);
	other = plait_log_mix(plait_log_mix(0, PLAIT_EV_LOCK, 64), PLAIT_EV_RDLOCK, 128);
	cr_assert(plait_log_mark_of(ab) != plait_log_mark_of(ba));
	cr_assert(plait_log_mark_of(ab) != plait_log_mark_of(other));
	cr_assert(!plait_log_is_mixed(PLAIT_EV_UNLOCK) && plait_log_is_mixed(PLAIT_EV_TRYLOCK));
}

/* ---- from a recording ---- */

/* A record; a count below 0 ends its fields. */
static void record(struct strbuf *sb, uint32_t kind, const int64_t *fields)
{
	strbuf_addc(sb, (char)kind);
	for (; *fields >= 0; fields++) {
		uint64_t v = (uint64_t)*fields;

		for (; v >= 0x80; v >>= 7)
			strbuf_addc(sb, (char)(v | 0x80));
		strbuf_addc(sb, (char)v);
	}
}
#define RECORD(sb, kind, ...) record(sb, PLAIT_EV_##kind, (const int64_t[]){ __VA_ARGS__, -1 })

static void put_thread(const char *dir, int thread, uint64_t synced, struct strbuf *events)
{
	struct plait_window head = { .synced = synced };
	char *path = xasprintf("%s/w%05d", dir, thread);
	struct strbuf w = { 0 };

	strbuf_add(&w, &head, sizeof(head));
	strbuf_add(&w, events->data, events->len);
	strbuf_pad(&w, 0, 100);
	cr_assert_null(file_write(path, w.data, w.len));
	strbuf_deinit(&w);
	strbuf_deinit(events);
	free(path);
}

/* The log of a recording with a signal behind operation 5 of thread 0. Behind it that thread says that its operations 3
 * and 7 came before operations 2 and 3 of thread 1. Marks: of operations 4 and 8. */
static const struct plait_log *log_with_signal(bool cut, struct strbuf *ret)
{
	static struct plait_run run;
	struct strbuf first = { 0 }, second = { 0 }, data = { 0 };
	char *dir = NULL, *path;
	struct trace *t = NULL;
	struct err *err;

	cr_assert_null(file_temp_dir(&dir));
	run = (struct plait_run){ .version = PLAIT_FORMAT_VERSION,
				  .size = sizeof(run),
				  .mode = PLAIT_MODE_SYNC,
				  .nthreads = 2,
				  .threads[1] = { .ordinal = 1 } };
	memcpy(run.magic, PLAIT_RUN_MAGIC, 8);
	path = xasprintf("%s/run", dir);
	cr_assert_null(file_write(path, &run, sizeof(run)));
	RECORD(&first, MARK, 4, 77);
	RECORD(&first, INTERRUPTED, 1, 15 << 1, 0);
	RECORD(&first, CAME_BEFORE, 3, 1, 2);
	RECORD(&first, CAME_BEFORE, 7, 1, 3);
	RECORD(&first, MARK, 3, 78);
	put_thread(dir, 0, 9, &first);
	put_thread(dir, 1, 4, &second);
	cr_assert_null(trace_seal_memory(dir, NULL, &data));
	cr_assert_null(trace_open_memory("test.plait", data.data, data.len, &t));
	err = log_from_trace(t, cut, ret);
	cr_assert_null(err, "%s", err ? err_message(err) : "");
	trace_close(t);
	strbuf_deinit(&data);
	file_remove_tree(dir);
	free(dir);
	free(path);
	return (const struct plait_log *)ret->data;
}

Test(log, cut_at_a_signal)
{
	struct strbuf bytes = { 0 };
	const struct plait_log *log = log_with_signal(true, &bytes);
	struct plait_log_arrays a = plait_log_arrays(log);

	cr_assert(log->cut && log->nsignals == 0);
	cr_assert_eq(a.threads[0].synced, 5);
	cr_assert_eq(a.threads[0].marks.n, 1);
	cr_assert_eq(a.threads[1].handovers.n, 1, "what it said later of operation 3 holds");
	cr_assert_eq(a.handovers[a.threads[1].handovers.first].at, 2);
	cr_assert_eq(a.handovers[a.threads[1].handovers.first].count, 3);
	cr_assert_eq(a.handovers[a.threads[1].handovers.first].thread, 0);
	strbuf_deinit(&bytes);
}

Test(log, with_its_signals)
{
	struct strbuf bytes = { 0 };
	const struct plait_log *log = log_with_signal(false, &bytes);
	struct plait_log_arrays a = plait_log_arrays(log);

	cr_assert(!log->cut && log->nsignals == 1);
	cr_assert_eq(a.threads[0].synced, 9);
	cr_assert_eq(a.threads[1].handovers.n, 2);
	cr_assert_eq(a.threads[0].marks.n, 1, "no mark behind a signal");
	cr_assert(a.marks[0].at == 4 && a.marks[0].value == 77);
	strbuf_deinit(&bytes);
}
