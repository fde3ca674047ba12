/* The collector in the runtime against the obvious derivation from recorded events: random programs
 * run under control with both, and must give the same edges with the same contexts. What runs
 * freely in mode graph is other code (the graph variant): a program whose threads take turns as a
 * seed says runs alike with and without control, and is compared with itself. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "graph/derive.h"
#include "run/run.h"
#include "trace/trace.h"
#include "unplait/graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads that draw what to do next from a seed: words, halves, ranges, atomics, fresh blocks, what
 * is not aligned. */
static const char steps[] =
	"#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n"
	"#include <stdlib.h>\n#include <string.h>\n"
	"int w[8]; long wide[4]; char bytes[64]; atomic_int count; int *block; unsigned seed;\n"
	"pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
	"struct s { int a, b; long c; } one, two;\n"
	"volatile int out;\n"
	"typedef short __attribute__((aligned(1), may_alias)) short1;\n"
	"typedef int __attribute__((aligned(1), may_alias)) int1;\n"
	"typedef long __attribute__((aligned(1), may_alias)) long1;\n"
	"static unsigned draw(unsigned *r) { return (*r = *r * 1103515245 + 12345) >> 16; }\n"
	"static void step(unsigned *r) {\n"
	"  unsigned i = draw(r) % 8;\n"
	"  switch (draw(r) % 20) {\n"
	"  case 0: w[i] = i; break;\n"
	"  case 1: out = w[i]; break;\n"
	"  case 2: w[i]++; break;\n"
	"  case 3: wide[i % 4] = w[i]; break;\n"
	"  case 4: w[i] = (int)wide[i % 4]; break;\n"
	"  case 5: memcpy(bytes + i, w, sizeof(w)); break;\n"
	"  case 6: bytes[i * 7] = 1; break;\n"
	"  case 7: out = bytes[i * 5]; break;\n"
	"  case 8: atomic_fetch_add(&count, 1); break;\n"
	"  case 9: out = atomic_load(&count); break;\n"
	"  case 10: pthread_mutex_lock(&m); one = two; pthread_mutex_unlock(&m); break;\n"
	"  case 11: pthread_mutex_lock(&m); two.a = one.b; two.c++; pthread_mutex_unlock(&m); "
	"break;\n"
	"  case 12: pthread_mutex_lock(&m); free(block); block = malloc(16); block[1] = 1;\n"
	"    pthread_mutex_unlock(&m); break;\n"
	"  case 13: pthread_mutex_lock(&m); if (block) out = block[1]; pthread_mutex_unlock(&m); "
	"break;\n"
	"  case 14: *(short1 *)(bytes + i * 3) = 1; break;\n"
	"  case 15: out = *(short1 *)(bytes + i * 5); break;\n"
	"  case 16: *(int1 *)(bytes + i * 5) = 1; break;\n"
	"  case 17: out = *(int1 *)(bytes + i * 7); break;\n"
	"  case 18: *(long1 *)(bytes + i * 5) = 1; break;\n"
	"  case 19: out = (int)*(long1 *)(bytes + i * 7); break;\n"
	"  }\n}\n";
static const char free_threads[] =
	"static void *run(void *arg) {\n"
	"  unsigned r = seed * 31 + (unsigned)(long)arg;\n"
	"  for (int i = 0; i < 40; i++) step(&r);\n  return 0;\n}\n"
	"int main(int argc, char **argv) {\n"
	"  pthread_t t[3]; seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;\n"
	"  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, run, (void *)(i + 1));\n"
	"  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n"
	"  out = w[0] + w[7];\n  return 0;\n}\n";
static const char threads_in_turn[] =
	"sem_t go[3], done; int stop;\n"
	"static void *run(void *arg) {\n"
	"  unsigned r = seed * 31 + (unsigned)(long)arg;\n"
	"  for (;;) { sem_wait(&go[(long)arg]); if (stop) return 0; step(&r); sem_post(&done); "
	"}\n}\n"
	"int main(int argc, char **argv) {\n"
	"  pthread_t t[3]; unsigned r = seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;\n"
	"  sem_init(&done, 0, 0);\n"
	"  for (long i = 0; i < 3; i++) sem_init(&go[i], 0, 0);\n"
	"  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, run, (void *)i);\n"
	"  for (int i = 0; i < 400; i++) { sem_post(&go[draw(&r) % 3]); sem_wait(&done); }\n"
	"  stop = 1;\n"
	"  for (int i = 0; i < 3; i++) { sem_post(&go[i]); pthread_join(t[i], 0); }\n"
	"  return 0;\n}\n";

struct plain_edge {
	uint32_t src, src_context, sink, sink_context;
};
struct plain_edges VEC_FIELDS(struct plain_edge);

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct plain_edge));
}

static void sort_unique(struct plain_edges *v)
{
	size_t kept = 0;

	vec_sort(v, by_bytes);
	for (size_t i = 0; i < v->len; i++)
		if (!kept || by_bytes(&v->data[kept - 1], &v->data[i]) != 0)
			v->data[kept++] = v->data[i];
	v->len = kept;
}

static void add_derived(const struct derived_edge *e, void *arg)
{
	struct plain_edges *v = arg;

	vec_push(v,
		 (struct plain_edge){ e->src_site, e->src_context, e->sink_site, e->sink_context });
}

static void collected(struct trace *t, struct plain_edges *v)
{
	const struct plait_graph_header *h;
	const struct plait_graph_node *nodes;
	const struct plait_graph_edge *edges;
	const void *data;
	size_t len;

	cr_assert_null(trace_section(t, "graph", &data, &len));
	cr_assert_not_null(data, "no graph was collected");
	h = data;
	nodes = (const void *)(h + 1);
	edges = (const void *)(nodes + h->nnodes);
	cr_assert_eq(h->lost, 0);
	for (uint64_t i = 0; i < h->edges; i++) {
		bool initial = edges[i].src == PLAIT_GRAPH_INITIAL;

		vec_push(v, (struct plain_edge){ initial ? UINT32_MAX : nodes[edges[i].src].site,
						 initial ? 0 : nodes[edges[i].src].context,
						 nodes[edges[i].sink].site,
						 nodes[edges[i].sink].context });
	}
}

static struct trace *open_run(const char *dir)
{
	struct trace *t = NULL;
	struct err *err = trace_open(dir, &t);

	cr_assert_null(err, "%s", err ? err_message(err) : "");
	return t;
}

/* The events of one run, the graph of another. */
static void compare(const char *events, const char *graph, const struct derive_options *o,
		    const char *what)
{
	struct plain_edges want = { 0 }, got = { 0 };
	struct trace *t = open_run(events), *u = open_run(graph);

	cr_assert_null(graph_derive(t, o, add_derived, NULL, &want));
	collected(u, &got);
	sort_unique(&want);
	sort_unique(&got);
	cr_assert_gt(want.len, 20, "%s: hardly any communication", what);
	for (size_t i = 0; i < want.len && i < got.len; i++)
		cr_assert(by_bytes(&want.data[i], &got.data[i]) == 0,
			  "%s: edge %zu: %u[%u]->%u[%u] derived, %u[%u]->%u[%u] collected", what, i,
			  want.data[i].src, want.data[i].src_context, want.data[i].sink,
			  want.data[i].sink_context, got.data[i].src, got.data[i].src_context,
			  got.data[i].sink, got.data[i].sink_context);
	cr_assert_eq(want.len, got.len, "%s: %zu edges collected, %zu derived", what, got.len,
		     want.len);
	vec_deinit(&want);
	vec_deinit(&got);
	trace_close(t);
	trace_close(u);
}

/* Under control, with everything recorded, into `dir`. */
static void run_controlled(const char *binary, const char *dir, unsigned seed, const char *options)
{
	_cleanup_(xfreep) char *number = xasprintf("%u", seed);
	char *argv[] = { (char *)binary, number, NULL };
	struct target target = { .argv = argv };
	struct run_request req = { .strategy = PLAIT_STRATEGY_RANDOM,
				   .seed = seed,
				   .points = PLAIT_POINTS_ALL,
				   .record_dir = dir };
	struct run_result r = { 0 };
	struct session *s;

	setenv("UNPLAIT_OPTIONS", options, 1);
	cr_assert_null(file_make_dirs(dir));
	cr_assert_null(session_open(&target, &s));
	cr_assert_null(session_run(s, &req, &r));
	cr_assert_eq(r.outcome, PLAIT_OUTCOME_PASS);
	run_result_deinit(&r);
	session_close(s);
}

static void run_one(const char *binary, const char *top, unsigned seed,
		    const struct derive_options *o, const char *options)
{
	_cleanup_(xfreep) char *dir = xasprintf("%s/run%u-%s", top, seed, options);
	_cleanup_(xfreep) char *what = xasprintf("seed %u, UNPLAIT_OPTIONS=%s", seed, options);

	run_controlled(binary, dir, seed, options);
	compare(dir, dir, o, what);
}

static void run_freely(const char *binary, const char *top, unsigned seed,
		       const struct derive_options *o, const char *options)
{
	_cleanup_(xfreep) char *events = xasprintf("%s/events%u-%s", top, seed, options);
	_cleanup_(xfreep) char *graph = xasprintf("%s/graph%u-%s", top, seed, options);
	_cleanup_(xfreep) char *what = xasprintf("freely, seed %u, options %s", seed, options);
	_cleanup_(xfreep) char *command =
		xasprintf("UNPLAIT_MODE=graph UNPLAIT_DIR=%s UNPLAIT_OPTIONS=%s %s %u", graph,
			  options, binary, seed);

	run_controlled(binary, events, seed, ".");
	cr_assert_null(file_make_dirs(graph));
	cr_assert_eq(system(command), 0);
	compare(events, graph, o, what);
}

/* In a new folder: the program of both parts, built. False: there is no unplait-cc. */
static bool build(const char *threads, char **top, char **binary)
{
	_cleanup_(xfreep) char *cc = file_find_part("unplait-cc");
	_cleanup_(xfreep) char *source = NULL, *command = NULL, *text = NULL;

	if (!cc)
		return false;
	cr_assert_null(file_temp_dir(top));
	source = xasprintf("%s/random.c", *top);
	*binary = xasprintf("%s/random", *top);
	text = xasprintf("%s%s", steps, threads);
	command = xasprintf("%s -g -O1 -pthread -o %s %s", cc, *binary, source);
	cr_assert_null(file_write(source, text, strlen(text)));
	cr_assert_eq(system(command), 0);
	return true;
}

Test(graph, the_collector_sees_what_the_events_say, .timeout = 120)
{
	static const struct {
		struct derive_options derive;
		const char *options;
	} cases[] = {
		{ { 5, 2, true, true }, "graph" },
		{ { 0, 2, true, true }, "graph,context=0" },
		{ { 2, 2, false, true }, "graph,context=2,no-first-read" },
		{ { 5, 2, true, false }, "graph,no-first-write" },
		{ { 16, 2, false, false },
		  "graph,context=16,no-first-read,no-first-write,no-racy" },
		{ { 5, 6, true, true }, "graph,granularity=line" },
	};
	_cleanup_(xfreep) char *binary = NULL;
	char *top = NULL;

	if (!build(free_threads, &top, &binary))
		cr_skip_test("unplait-cc was not built");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (unsigned seed = 1; seed <= 4; seed++)
			run_one(binary, top, seed, &cases[i].derive, cases[i].options);
	file_remove_tree(top);
	free(top);
}

Test(graph, so_does_the_graph_variant, .timeout = 120)
{
	static const struct {
		struct derive_options derive;
		const char *options;
	} cases[] = {
		{ { 5, 2, true, true }, "." },
		{ { 0, 2, true, true }, "context=0" },
		{ { 16, 2, true, true }, "context=16" },
		{ { 2, 2, false, true }, "context=2,no-first-read" },
		{ { 5, 2, true, false }, "no-first-write" },
		{ { 5, 2, false, false }, "no-first-read,no-first-write,no-racy" },
		{ { 5, 6, true, true }, "granularity=line" },
	};
	_cleanup_(xfreep) char *binary = NULL;
	char *top = NULL;

	if (!build(threads_in_turn, &top, &binary))
		cr_skip_test("unplait-cc was not built");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		for (unsigned seed = 1; seed <= 3; seed++)
			run_freely(binary, top, seed, &cases[i].derive, cases[i].options);
	file_remove_tree(top);
	free(top);
}
