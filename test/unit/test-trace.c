/* Plaits: made from a run folder that this test writes byte by byte, read back, damaged. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "trace/format.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static char *dir;
static struct plait_run run;

static void setup(void)
{
	cr_assert_null(file_temp_dir(&dir));
	memcpy(run.magic, PLAIT_RUN_MAGIC, 8);
	run.version = PLAIT_FORMAT_VERSION;
	run.size = sizeof(run);
	run.mode = PLAIT_MODE_FULL;
	run.nthreads = 2;
	run.threads[0] = (struct plait_thread_info){ .state = 1 };
	run.threads[1] = (struct plait_thread_info){ .parent = 0, .ordinal = 1, .state = 2 };
}

static void teardown(void)
{
	file_remove_tree(dir);
	free(dir);
}

TestSuite(trace, .init = setup, .fini = teardown);

static void put(const char *name, const void *data, size_t len)
{
	char *path = xasprintf("%s/%s", dir, name);

	cr_assert_null(file_write(path, data, len));
	free(path);
}

static void varint(struct strbuf *sb, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_addc(sb, (char)(v | 0x80));
	strbuf_addc(sb, (char)v);
}

static uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

/* A read at site +1, address +8, with the index as value; the clock moves by `step` before. */
static void reads(struct strbuf *sb, size_t n, uint64_t step)
{
	for (size_t i = 0; i < n; i++) {
		strbuf_addc(sb, PLAIT_EV_CLOCK);
		varint(sb, step);
		strbuf_addc(sb, PLAIT_EV_READ);
		varint(sb, zigzag(1));
		varint(sb, zigzag(8));
		varint(sb, 4);
		varint(sb, i);
	}
}

/* Two threads with n reads each; thread 1 has even clocks, thread 0 odd ones. */
static void make_folder(size_t n)
{
	struct strbuf a = { 0 }, b = { 0 };

	strbuf_addc(&a, PLAIT_EV_CLOCK);
	varint(&a, 1);
	reads(&a, n, 2);
	reads(&b, n, 2);
	strbuf_pad(&a, 0, 100);
	put("run", &run, sizeof(run));
	put("t00000", a.data, a.len);
	put("t00001", b.data, b.len);
	strbuf_deinit(&a);
	strbuf_deinit(&b);
}

static struct trace *sealed(struct strbuf *data, const struct trace_seal_options *o)
{
	struct trace *t = NULL;
	struct err *err = trace_seal_memory(dir, o, data);

	cr_assert_null(err, "%s", err ? err_message(err) : "");
	err = trace_open_memory("test.plait", data->data, data->len, &t);
	cr_assert_null(err, "%s", err ? err_message(err) : "");
	return t;
}

/* n reads of thread 0, the first `before` in its event file (and more bytes than count there), the
 * rest in its window. */
static struct trace *with_window(struct strbuf *data, size_t n, size_t before, bool stale)
{
	struct plait_window head = { 0 };
	struct strbuf t = { 0 }, w = { 0 };

	reads(&t, before, 2);
	head.before = t.len | (stale ? PLAIT_WINDOW_STALE : 0);
	strbuf_add(&w, &head, sizeof(head));
	reads(&t, 5, 2);
	reads(&w, n - before, 2);
	strbuf_pad(&w, 0, 100);
	put("run", &run, sizeof(run));
	put("t00000", t.data, t.len);
	put("w00000", w.data, w.len);
	strbuf_deinit(&t);
	strbuf_deinit(&w);
	return sealed(data, NULL);
}

Test(trace, window_after_the_event_file)
{
	struct strbuf data = { 0 };
	struct trace *t = with_window(&data, 30, 20, false);

	cr_assert_eq(trace_meta(t)->nevents, 30);
	cr_assert_eq(trace_meta(t)->lost, 0);
	trace_close(t);
	strbuf_clear(&data);
	t = with_window(&data, 30, 0, false); /* an event file that was begun and never counted */
	cr_assert_eq(trace_meta(t)->nevents, 30);
	trace_close(t);
	strbuf_clear(&data);
	t = with_window(&data, 30, 20, true); /* killed before the window was cleared */
	cr_assert_eq(trace_meta(t)->nevents, 20);
	trace_close(t);
	strbuf_deinit(&data);
}

Test(trace, merged_by_clock_and_random_access)
{
	enum { N = 200000 };
	struct strbuf data = { 0 };
	struct trace *t;
	struct cursor c;
	const struct event *ev;
	uint64_t last = 0, n = 0;

	make_folder(N);
	t = sealed(&data, NULL);
	cr_assert_str_eq(trace_meta(t)->threads[1].name, "0.1");
	cr_assert_eq(trace_meta(t)->nevents, 2 * N);
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!cursor_next(&c, &ev) && ev) {
		cr_assert_gt(ev->clock, last);
		cr_assert_eq(ev->thread, ev->clock % 2 ? 0 : 1);
		last = ev->clock;
		n++;
	}
	cr_assert_eq(n, 2 * N);
	cursor_deinit(&c);
	cursor_init(&c, t, 1, 123456);
	cr_assert_null(cursor_next(&c, &ev));
	cr_assert_eq(ev->index, 123456);
	cr_assert_eq(ev->value, 123456);
	cr_assert_eq(ev->site, 123457);
	cr_assert_eq(ev->address, 8 * 123457);
	cr_assert_eq(ev->n, 4);
	cursor_deinit(&c);
	trace_close(t);
	strbuf_deinit(&data);
}

Test(trace, outcome_sections_and_copy)
{
	struct trace_outcome judged = { .kind = PLAIT_OUTCOME_SIGNAL,
					.signal = 11,
					.exit_code = -1 };
	struct trace_extra extra = { "schedule", "abc", 3 };
	struct trace_seal_options o = { .outcome = &judged, .extra = &extra, .nextra = 1 };
	struct trace_extra other = { "schedule", "defg", 4 };
	char *path = xasprintf("%s/out.plait", dir);
	struct strbuf data = { 0 };
	struct trace *t, *u;
	const void *section;
	size_t len;

	snprintf(run.failure.text, sizeof(run.failure.text), "why");
	run.failure.kind = PLAIT_OUTCOME_SIGNAL;
	run.failure.nframes = 1;
	run.failure.frames[0] = 0xfedcba9876543210;
	make_folder(10);
	t = sealed(&data, &o);
	cr_assert_eq(trace_meta(t)->outcome.signal, 11);
	cr_assert_str_eq(trace_meta(t)->outcome.message, "why");
	cr_assert_eq(trace_meta(t)->outcome.frames[0], 0xfedcba9876543210);
	cr_assert_null(trace_section(t, "schedule", &section, &len));
	cr_assert_eq(len, 3);
	cr_assert_null(trace_section(t, "graph", &section, &len));
	cr_assert_null(section);
	cr_assert_null(trace_copy(t, &other, 1, path));
	cr_assert_null(trace_open(path, &u));
	cr_assert_null(trace_section(u, "schedule", &section, &len));
	cr_assert(len == 4 && memcmp(section, "defg", 4) == 0);
	cr_assert_eq(trace_meta(u)->nevents, 20);
	trace_close(u);
	trace_close(t);
	strbuf_deinit(&data);
	free(path);
}

/* Reads everything; false and a message when refused. */
static bool readable(const void *data, size_t len, char **message)
{
	struct trace *t;
	struct cursor c;
	const struct event *ev;
	struct err *err = trace_open_memory("x.plait", data, len, &t);

	*message = NULL;
	if (!err) {
		cursor_init(&c, t, CURSOR_ALL, 0);
		while (!(err = cursor_next(&c, &ev)) && ev)
			;
		cursor_deinit(&c);
		trace_close(t);
	}
	if (!err)
		return true;
	*message = xstrdup(err_message(err));
	err_free(err);
	return false;
}

Test(trace, every_cut_and_every_flipped_byte_is_refused)
{
	struct strbuf data = { 0 };
	char *message;

	make_folder(50);
	cr_assert_null(trace_seal_memory(dir, NULL, &data));
	for (size_t len = 0; len < data.len; len++) {
		cr_assert_not(readable(data.data, len, &message), "cut to %zu bytes", len);
		free(message);
	}
	for (size_t i = 0; i < data.len; i++) {
		bool good;

		data.data[i] ^= 0x41;
		good = readable(data.data, data.len, &message);
		/* nothing depends on the reserved bytes and the padding */
		cr_assert(!good || (i >= 16 && i < 32) || data.data[i] == 0x41, "byte %zu", i);
		cr_assert(good || strchr(message, '\n') == NULL);
		free(message);
		data.data[i] ^= 0x41;
	}
	strbuf_deinit(&data);
}

Test(trace, foreign_files_are_named)
{
	struct strbuf data = { 0 };
	char *message;
	uint32_t v = 99, endian = 0x04030201;

	make_folder(1);
	cr_assert_null(trace_seal_memory(dir, NULL, &data));
	cr_assert_not(readable("hello", 5, &message));
	cr_assert_str_eq(message, "x.plait is not a plait");
	free(message);
	memcpy(data.data + 8, &v, 4);
	cr_assert_not(readable(data.data, data.len, &message));
	cr_assert_str_eq(message, "x.plait has format version 99; this unplait reads version 1");
	free(message);
	memcpy(data.data + 12, &endian, 4);
	cr_assert_not(readable(data.data, data.len, &message));
	cr_assert(strstr(message, "other byte order"));
	free(message);
	strbuf_deinit(&data);
}

Test(trace, a_killed_run_loses_its_last_record_only)
{
	struct strbuf bytes = { 0 }, data = { 0 };
	struct trace *t;

	reads(&bytes, 100, 1);
	make_folder(1);
	/* any prefix, then zeros: what a kill leaves when the tag is written last */
	bytes.data[bytes.len - 5] = 0;
	put("t00001", bytes.data, bytes.len);
	t = sealed(&data, NULL);
	cr_assert_eq(trace_meta(t)->threads[1].nevents, 99);
	trace_close(t);
	strbuf_deinit(&bytes);
	strbuf_deinit(&data);
}

Test(trace, steps_count_by_themselves)
{
	struct strbuf bytes = { 0 }, data = { 0 };
	struct trace *t;
	struct cursor c;
	const struct event *ev;

	run.clock = PLAIT_CLOCK_STEPS;
	run.nthreads = 1;
	for (int i = 0; i < 3; i++) {
		if (i == 2) { /* other threads made 6 steps */
			strbuf_addc(&bytes, PLAIT_EV_CLOCK);
			varint(&bytes, 7);
		}
		strbuf_addc(&bytes, PLAIT_EV_YIELD);
		varint(&bytes, 0);
	}
	put("run", &run, sizeof(run));
	put("t00000", bytes.data, bytes.len);
	t = sealed(&data, NULL);
	cursor_init(&c, t, 0, 2);
	cr_assert_null(cursor_next(&c, &ev));
	cr_assert_eq(ev->clock, 9);
	cr_assert_null(cursor_next(&c, &ev));
	cr_assert_null(ev);
	cursor_deinit(&c);
	trace_close(t);
	strbuf_deinit(&bytes);
	strbuf_deinit(&data);
}

/* What one unplait writes, the next one reads, however well it compresses; what no unplait writes
 * is refused before memory is asked for. */
Test(trace, a_small_file_does_not_ask_for_much_memory)
{
	enum { LEN = 8 << 20 };
	char *zeros = xcalloc(1, LEN), *message = NULL;
	struct trace_extra extra = { "regular", zeros, LEN };
	struct trace_seal_options o = { .extra = &extra, .nextra = 1 };
	struct strbuf data = { 0 };
	struct format_footer f;
	struct format_entry e;
	const void *section;
	struct trace *t;
	size_t len, at;

	make_folder(10);
	t = sealed(&data, &o);
	cr_assert_null(trace_section(t, "regular", &section, &len));
	cr_assert_eq(len, LEN);
	trace_close(t);
	/* the first entry now claims to unpack to 2 GB */
	memcpy(&f, data.data + data.len - sizeof(f), sizeof(f));
	at = f.directory;
	memcpy(&e, data.data + at, sizeof(e));
	e.raw = 1u << 31;
	e.coding = 1;
	memcpy(data.data + at, &e, sizeof(e));
	f.hash = XXH64(data.data + at, f.nentries * sizeof(e), 0);
	memcpy(data.data + data.len - sizeof(f), &f, sizeof(f));
	cr_assert_not(readable(data.data, data.len, &message));
	cr_assert(strstr(message, "claims to be larger"), "%s", message);
	free(message);
	strbuf_deinit(&data);
	free(zeros);
}

Test(trace, an_access_has_an_end)
{
	struct strbuf data = { 0 }, events = { 0 };
	char *message = NULL;

	strbuf_addc(&events, PLAIT_EV_WRITE_RANGE);
	varint(&events, zigzag(1));
	varint(&events, zigzag(4096));
	varint(&events, 1ull << 60);
	run.nthreads = 1;
	put("run", &run, sizeof(run));
	put("t00000", events.data, events.len);
	cr_assert_null(trace_seal_memory(dir, NULL, &data));
	cr_assert_not(readable(data.data, data.len, &message));
	cr_assert(strstr(message, "an access of 1152921504606846976 bytes"), "%s", message);
	free(message);
	strbuf_deinit(&data);
	strbuf_deinit(&events);
}

static struct err *parse_meta(const char *text, struct trace_meta *m)
{
	return meta_read(text, strlen(text), m);
}

Test(meta, comes_back_as_it_was_written)
{
	char *command[] = { "./prog", "an argument", "\033[2J", NULL };
	char *names[] = { "PATH", NULL };
	struct trace_thread threads[] = { { .kernel_tid = 7 },
					  { .parent = 0, .ordinal = 2, .nevents = 5 },
					  { .parent = 1, .ordinal = 1, .stack_low = ~0ull } };
	struct trace_module modules[] = { { .path = "/bin/x", .build_id = "c0ffee", .nsites = 3 } };
	struct trace_meta m = { .mode = PLAIT_MODE_PATH,
				.clock = PLAIT_CLOCK_STEPS,
				.start_ns = -5,
				.command = command,
				.environment = names,
				.cwd = "/a\nb",
				.lost = 1ull << 40,
				.outcome = { .kind = PLAIT_OUTCOME_ASSERT,
					     .message = "x > \"0\"",
					     .exit_code = -1,
					     .nframes = 1,
					     .frames = { 0xfedcba9876543210 } },
				.threads = threads,
				.nthreads = 3,
				.modules = modules,
				.nmodules = 1 },
			  got;
	struct strbuf text = { 0 };

	meta_write(&m, &text);
	cr_assert_null(meta_read(text.data, text.len, &got));
	cr_assert_eq(got.mode, PLAIT_MODE_PATH);
	cr_assert_eq(got.clock, PLAIT_CLOCK_STEPS);
	cr_assert_eq(got.start_ns, -5);
	cr_assert_str_eq(got.command[1], "an argument");
	cr_assert_str_eq(got.command[2], "\033[2J");
	cr_assert_null(got.command[3]);
	cr_assert_str_eq(got.environment[0], "PATH");
	cr_assert_str_eq(got.cwd, "/a\nb");
	cr_assert_eq(got.lost, 1ull << 40);
	cr_assert_str_eq(got.outcome.message, "x > \"0\"");
	cr_assert_eq(got.outcome.exit_code, -1);
	cr_assert_eq(got.outcome.frames[0], 0xfedcba9876543210);
	cr_assert_str_eq(got.threads[2].name, "0.2.1");
	cr_assert_eq(got.threads[2].stack_low, ~0ull);
	cr_assert_str_eq(got.modules[0].build_id, "c0ffee");
	meta_deinit(&got);
	strbuf_deinit(&text);
}

Test(meta, ill_typed_members_are_zero_and_bad_threads_are_refused)
{
	struct trace_meta m;
	struct err *err =
		parse_meta("{\"mode\": \"full\", \"command\": 7, \"pid\": -1, \"events\": "
			   "1e300, \"outcome\": [], \"threads\": {}, \"modules\": null}",
			   &m);

	cr_assert_null(err);
	cr_assert_eq(m.pid, 0);
	cr_assert_eq(m.nevents, 0);
	cr_assert_null(m.command[0]);
	cr_assert_eq(m.nthreads, 0);
	meta_deinit(&m);
	err = parse_meta("{}", &m);
	cr_assert_not_null(err);
	err_free(err);
	err = parse_meta("[[[[", &m);
	cr_assert_not_null(err);
	err_free(err);
	err = parse_meta("{\"mode\": \"full\", \"threads\": [{}, {\"parent\": 1}]}", &m);
	cr_assert(err && strstr(err_message(err), "thread table"));
	err_free(err);
	meta_deinit(&m);
}

Test(trace, a_stamp_holds_for_these_bytes_only)
{
	struct trace_seal_options o = { .made_here = true };
	char *path = xasprintf("%s/out.plait", dir);
	struct strbuf data = { 0 };
	struct trace *t;

	setenv("XDG_STATE_HOME", dir, 1);
	make_folder(5);
	cr_assert_null(trace_seal(dir, &o, path));
	cr_assert_null(file_read(path, &data));
	cr_assert_null(trace_open_memory("x", data.data, data.len, &t));
	cr_assert(trace_made_here(t));
	trace_close(t);
	data.data[16] ^= 1; /* of the stamp */
	cr_assert_null(trace_open_memory("x", data.data, data.len, &t));
	cr_assert_not(trace_made_here(t));
	trace_close(t);
	data.data[16] ^= 1;
	setenv("XDG_STATE_HOME", "/dev/null/state", 1); /* another key, in /tmp */
	cr_assert_null(trace_open_memory("x", data.data, data.len, &t));
	cr_assert_not(trace_made_here(t));
	trace_close(t);
	o.made_here = false;
	setenv("XDG_STATE_HOME", dir, 1);
	cr_assert_null(trace_seal(dir, &o, path));
	cr_assert_null(trace_open(path, &t));
	cr_assert_not(trace_made_here(t));
	trace_close(t);
	strbuf_deinit(&data);
	free(path);
}
