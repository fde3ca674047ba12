/* test/fuzz/plait.c - the plait reader. Checksums are not compared in this build, or the fuzzer would
 * get no further. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "report/export.h"
#include "run/log.h"

#include <stdio.h>

void fuzz_plait(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_deinit) struct strbuf log = { 0 };
	static FILE *null;
	struct trace *t;
	const void *section;
	size_t n;
	struct err *err = trace_open_memory("fuzz.plait", data, len, &t);

	if (err) {
		err_free(err);
		return;
	}
	if (!null)
		null = fopen("/dev/null", "w");
	for (const struct export_format *f = export_formats; f->name; f++)
		err_free(export_run(t, NULL, f, NULL, null));
	for (uint32_t i = 0; i < trace_meta(t)->nthreads && i < 4; i++) {
		struct cursor c;
		const struct event *ev;

		cursor_init(&c, t, i, trace_meta(t)->threads[i].nevents / 2);
		err_free(cursor_next(&c, &ev));
		cursor_deinit(&c);
	}
	err_free(log_from_trace(t, len % 2, &log));
	err_free(trace_section(t, "schedule", &section, &n));
	trace_made_here(t);
	trace_close(t);
}
