/* test/fuzz/dump.c - core dumps and minidumps, as far as they are read without the files that a dump names, and crumbs. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "debug/dump.h"
#include "debug/waits.h"
#include "crumbs/crumbs.h"
#include "crumbs/format.h"

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
