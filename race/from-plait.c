/* race/from-plait.c - races in a recorded run: the detector's pairs of sites. */
#include "race/reports.h"

#include "base/err.h"
#include "base/mem.h"
#include "debug/names.h"
#include "race/detect.h"
#include "trace/trace.h"

static struct report_place place_of(struct symbols *symbols, const struct race_access *a)
{
	struct code_point p;

	symbols_site(symbols, a->site, &p);
	return (struct report_place){ .file = xstrdup(p.file),
				      .function = xstrdup(p.function),
				      .line = p.line,
				      .column = p.column,
				      .site = a->site,
				      .writes = a->is_write };
}

struct err *reports_from_plait(const char *path, struct race_reports *ret)
{
	struct race_instances found = { 0 };
	struct symbols *symbols = NULL;
	struct trace *t = NULL;
	struct err *err = trace_open(path, &t);

	ret->tool = "the recording";
	if (!err)
		err = race_detect(t, &found);
	if (!err)
		err = symbols_open(t, &symbols);
	for (size_t i = 0; i < found.len && !err; i++) {
		struct race_report report = { .place = {
						      place_of(symbols, &found.data[i].first),
						      place_of(symbols, &found.data[i].second) } };

		reports_take(ret, &report);
	}
	race_instances_deinit(&found);
	symbols_close(symbols);
	trace_close(t);
	return err;
}
