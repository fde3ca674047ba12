/* test/fuzz/dump.c - core dumps and minidumps, as far as they are read without the files that a dump names;
 * crumbs; the code of a binary; what triage of dumps reads beside them. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "debug/dump.h"
#include "debug/landmarks.h"
#include "debug/waits.h"
#include "crumbs/crumbs.h"
#include "crumbs/format.h"
#include "rewind/triage-files.h"
#include "rewind/triage.h"

#include <assert.h>
#include <string.h>

void fuzz_dump(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file("fuzzed.core", data, len);
	struct dump_words words = { 0 };
	struct dump_cycle cycle = { 0 };
	struct dump_waits waits = { 0 };
	struct dump d;
	struct err *err;

	if (len > 2 && data[0] != 0x7f && data[0] != 'M')
		return; /* packed: starts another program */
	err = dump_open(path, &d);
	if (!err) {
		dump_words(&d, false, &words);
		dump_words(&d, true, &words);
		dump_waits(&d, &waits);
		dump_cycle(&d, &cycle);
		for (size_t i = 0; i < d.threads.len; i++)
			dump_text(&d, d.threads.data[i].registers.rsp, 4096);
	}
	err_free(err);
	vec_deinit(&words);
	vec_deinit(&cycle);
	vec_deinit(&waits);
	dump_close(&d);
}

void fuzz_crumbs(const uint8_t *data, size_t len)
{
	struct crumbs c = { 0 };

	err_free(crumbs_read(&c, fuzz_file("fuzzed.crumb", data, len)));
	for (size_t i = 1; i < c.lines.len && i < 100; i++)
		format_fits(c.lines.data[i - 1].text, c.lines.data[i].text);
	crumbs_deinit(&c);
}

void fuzz_landmarks(const uint8_t *data, size_t len)
{
	struct landmarks l;
	struct err *err = landmarks_open(fuzz_file("fuzzed.binary", data, len), &l);

	for (size_t i = 0; !err && i < l.all.len; i++) {
		landmarks_function(&l, l.all.data[i].address);
		landmarks_call_before(&l, l.all.data[i].address);
		assert(l.all.data[i].kind == LANDMARK_CALL || strlen(l.all.data[i].text) < len);
	}
	err_free(err);
	landmarks_close(&l);
}

/* An index is JSON; anything else names buckets. */
void fuzz_triage(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file("fuzzed.triage", data, len);
	struct annotations names = { 0 };
	struct triage t = { 0 };

	if (len && data[0] == '{') {
		vec_push(&t.dumps,
			 (struct triaged){ .path = strdup("a"), .size = 7, .changed = 7 });
		err_free(triage_read_index(&t, path));
		assert(t.dumps.len >= t.known);
	} else {
		err_free(annotations_read(path, &names));
		for (size_t i = 0; i < names.len; i++)
			assert(*names.data[i].name && strlen(names.data[i].object) < len);
	}
	vec_deinit(&names);
	triage_deinit(&t);
}
