/* test/fuzz/sections.c - what stands inside a plait: schedule, script, graph, vectors. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "coop/program.h"
#include "graph/load.h"
#include "graph/ranking.h"
#include "run/run.h"
#include "run/script.h"
#include "trace/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void fuzz_schedule(const uint8_t *data, size_t len)
{
	struct strbuf again = { 0 };
	struct schedule s = { 0 };
	struct turns turns = { 0 };
	struct err *err = schedule_parse(data, len, &s);

	if (!err) {
		schedule_write(&s, &again);
		schedule_turns(&s, &turns);
		turns_link(&turns);
	}
	err_free(err);
	vec_deinit(&turns);
	strbuf_deinit(&again);
	schedule_deinit(&s);
}

/* What is understood means the same when it is written and read again. */
void fuzz_script(const uint8_t *data, size_t len)
{
	struct strbuf text = { 0 }, again = { 0 };
	struct script s = { 0 }, t = { 0 };
	struct err *err = script_parse(data, len, &s);

	if (!err) {
		script_write(&s, &text);
		err = script_parse(strbuf_str(&text), text.len, &t);
		assert(!err);
		script_write(&t, &again);
		assert(!strcmp(strbuf_str(&text), strbuf_str(&again)));
	}
	err_free(err);
	strbuf_deinit(&text);
	strbuf_deinit(&again);
	script_deinit(&s);
	script_deinit(&t);
}

/* The bytes are the section of an otherwise good plait. */
void fuzz_graph(const uint8_t *data, size_t len)
{
	static const char *path;
	static struct trace *base;
	struct graph_loader l = { .context = GRAPH_CONTEXT_ANY };
	void *aligned = malloc(len + 1);

	if (!base)
		err_free(trace_open(path = fuzz_base("graph.plait"), &base));
	assert(base);
	memcpy(aligned, data, len);
	l.first = base;
	graph_set_begin(&l.set, true);
	err_free(graph_loader_add_section(&l, base, aligned, len));
	graph_set_end(&l.set);
	l.first = NULL;
	graph_loader_deinit(&l);
	free(aligned);
}

void fuzz_vectors(const uint8_t *data, size_t len)
{
	static const char *const threads[] = { "0", "0.1", "0.2" };
	struct coop c = { 0 };
	void *aligned = malloc(len + 1);

	memcpy(aligned, data, len);
	if (!coop_load_section(&c, "log", "assert: x", threads, 3, aligned, len)) {
		coop_choose(&c, coop_main_signature(&c));
		for (uint32_t i = 0; i < c.elements.len; i++)
			coop_overall_dispersion(&c, i);
	}
	coop_deinit(&c);
	free(aligned);
}
