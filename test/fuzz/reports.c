/* test/fuzz/reports.c - race reports and witnesses of other tools, and suppression files. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "race/reports.h"
#include "race/suppress.h"
#include "witness/witness.h"

#include <assert.h>

void fuzz_reports(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data;
	struct race_reports r = { 0 };

	reports_from_tsan(text, len, &r);
	reports_from_helgrind(text, len, &r);
	err_free(reports_from_std(text, len, &r));
	for (size_t i = 0; i < r.len; i++)
		for (int k = 0; k < 2; k++)
			assert(r.data[i].place[k].site ||
			       (r.data[i].place[k].file && r.data[i].place[k].line));
	race_reports_deinit(&r);
	err_free(race_reports_read(fuzz_file("fuzzed.log", data, len), &r));
	race_reports_deinit(&r);
}

void fuzz_suppressions(const uint8_t *data, size_t len)
{
	struct suppressions s = { 0 };

	err_free(suppressions_load(&s, fuzz_file("fuzzed.supp", data, len)));
	for (size_t i = 0; i < s.len; i++) {
		suppression_pattern_matches(s.data[i].pattern, "std::vector<int>::push_back");
		suppression_pattern_matches(s.data[i].pattern, s.data[i].pattern);
	}
	suppressions_deinit(&s);
}

void fuzz_witness(const uint8_t *data, size_t len)
{
	struct witness w;
	struct err *err = witness_parse(data, len, &w);

	for (size_t i = 0; !err && i < w.waypoints.len; i++)
		assert(w.waypoints.data[i].line && w.waypoints.data[i].file &&
		       w.waypoints.data[i].function);
	if (!err)
		witness_deinit(&w);
	err_free(err);
}
