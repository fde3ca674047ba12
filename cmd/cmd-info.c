/* cmd/cmd-info.c - look inside a plait, or inside a binary that unplait built. */
#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/pinned.h"
#include "cmd/show-last.h"
#include "run/log.h"
#include "report/export.h"
#include "run/run.h"
#include "unplait/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct info_options {
	bool events, sites, elements;
	const char *thread, *kind;
	uint64_t first, count;
};

/* ---- plaits ---- */

static void frame_name(struct symbols *s, uint64_t pc, struct strbuf *out)
{
	struct code_point at;

	if (s && symbols_pc(s, pc, &at))
		strbuf_addf(out, "%s at %s:%u", at.function[0] ? at.function : "?",
			    at.file[0] ? at.file : "?", at.line);
	else
		strbuf_addf(out, "0x%llx", (unsigned long long)pc);
}

/* A label and text from the plait. */
static void print_line(const char *label, const char *text)
{
	printf("%s ", label);
	printable_puts(text, stdout);
	puts("");
}

/* Somebody else's text behind some of ours. */
static void print_text(const char *before, const char *text)
{
	fputs(before, stdout);
	printable_puts(text, stdout);
}

static void print_outcome(const struct trace_meta *m, struct symbols *s)
{
	const struct trace_outcome *o = &m->outcome;

	printf("outcome     %s", outcome_name(o->kind));
	if (o->message) {
		printf(": ");
		printable_puts(o->message, stdout);
	}
	if (o->signal)
		printf(" (signal %d, %s)", o->signal, strsignal(o->signal));
	if (o->exit_code >= 0)
		printf(" (exit status %d)", o->exit_code);
	if (o->nframes && o->thread < m->nthreads)
		printf(", thread %s", m->threads[o->thread].name);
	puts("");
	for (uint32_t i = 0; i < o->nframes; i++) {
		struct strbuf sb = { 0 };

		/* all but a faulting instruction are return addresses */
		frame_name(s, o->frames[i] - (i > 0 || o->kind == PLAIT_OUTCOME_ASSERT), &sb);
		print_line("           ", strbuf_str(&sb));
		strbuf_deinit(&sb);
	}
}

static void print_flags(const struct trace_meta *m)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{ PLAIT_RUN_NO_SPACE, "there was no room for all events" },
		{ PLAIT_RUN_NO_ATOMICS, "its atomics are not in the order of mode sync" },
		{ PLAIT_RUN_FORKED, "it forked; children are not in this plait" },
		{ PLAIT_RUN_EXECED, "it ended by starting another program" },
		{ PLAIT_RUN_LAST, "a flight recorder: it has the end of the run, and cannot be "
				  "replayed" },
		{ PLAIT_RUN_SYNC_ONLY, "not built with unplait: only synchronisation was seen" },
		{ PLAIT_RUN_TSAN_ROUTE,
		  "built with -fsanitize=thread: sites are program counters" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (m->flags & flags[i].flag)
			printf("note        %s\n", flags[i].text);
	if (m->lost)
		printf("note        %llu events lost\n", (unsigned long long)m->lost);
	if (m->threads_lost)
		printf("note        %llu threads beyond the limit were not recorded\n",
		       (unsigned long long)m->threads_lost);
}

static void print_command(char **command)
{
	printf("command    ");
	for (char **w = command; w && *w; w++) {
		putchar(' ');
		printable_puts(*w, stdout);
	}
	puts("");
}

static void print_machine(const struct trace_meta *m)
{
	_cleanup_(xfreep) char *kernel = printable(m->kernel), *cpu = printable(m->cpu);

	printf("machine     %s, %u x %s\n", kernel ? kernel : "?", m->ncpus, cpu ? cpu : "?");
}

static void print_module(const struct trace_module *m)
{
	_cleanup_(xfreep) char *path = printable(m->path), *id = printable(m->build_id);

	printf("binary      %s, build-id %s, %u sites\n", path ? path : "?", *id ? id : "none",
	       m->nsites);
}

/* A file that the run read, or looked for. */
static void print_input(const struct input *i, bool first)
{
	printf("%s ", first ? "inputs     " : "           ");
	printable_puts(i->name, stdout);
	if (i->kind == INPUT_FILE)
		printf(", %" PRIu64 " bytes\n", i->size);
	else if (i->kind == INPUT_LARGE)
		printf(", %" PRIu64 " bytes: too large, not in the plait\n", i->size);
	else
		puts(i->kind == INPUT_ABSENT ? ", not there" : ", a folder");
}

static void json_input(struct json *j, const struct input *i)
{
	json_begin_object(j, NULL);
	json_str(j, "kind", input_kind_name(i->kind));
	json_str(j, "name", i->name);
	json_str(j, "path", i->path);
	json_uint(j, "bytes", i->size);
	json_end(j);
}

static void print_header(struct trace *t, struct symbols *s, const struct target *stored)
{
	const struct trace_meta *m = trace_meta(t);
	time_t when = m->start_ns / 1000000000;
	char date[64] = "";

	print_command(m->command);
	if (stored->oracle)
		print_line("oracle     ", stored->oracle);
	if (stored->predicate)
		print_line("predicate  ", stored->predicate);
	if (stored->input)
		print_line("input      ", stored->input);
	for (size_t i = 0; i < stored->inputs.len; i++)
		print_input(&stored->inputs.data[i], i == 0);
	if (stored->log && log_is_heard(stored->log))
		printf("heard       %" PRIu64 " answers of others, by sockets\n",
		       log_nanswers(stored->log));
	if (stored->timeouts)
		print_line("timeouts   ", timeouts_name(stored->timeouts));
	print_line("folder     ", m->cwd ? m->cwd : "?");
	printf("origin      %s\n", trace_made_here(t)
					   ? "made here, by you"
					   : "not made here by you: it is run only with --trust");
	if (m->start_ns && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", gmtime(&when)))
		printf("started     %s\n", date);
	print_machine(m);
	printf("mode        %s%s, clock %s\n", mode_name(m->mode),
	       trace_has_section(t, LOG_SECTION) ? " (recorded in mode sync, pinned)"
	       : log_is_bare(t)			 ? " (its events come with a replay)"
						 : "",
	       m->clock == PLAIT_CLOCK_STEPS ? "steps" : "time stamp counter");
	print_outcome(m, s);
	print_flags(m);
	for (size_t i = 0; i < m->nmodules; i++)
		if (i == 0 || m->modules[i].nsites)
			print_module(&m->modules[i]);
	printf("events      %llu in %zu thread%s\n", (unsigned long long)m->nevents, m->nthreads,
	       m->nthreads == 1 ? "" : "s");
	for (size_t i = 0; i < m->nthreads; i++) {
		const struct trace_thread *th = &m->threads[i];
		struct code_point at;

		printf("  %-9s %llu events%s", th->name, (unsigned long long)th->nevents,
		       th->ended ? "" : ", not ended");
		if (th->entry && s && symbols_pc(s, th->entry, &at) && at.function[0])
			print_text(", ", at.function);
		if (th->lost)
			printf(", %llu lost", (unsigned long long)th->lost);
		puts("");
	}
}

static struct err *print_counts(struct trace *t)
{
	uint64_t counts[PLAIT_EV_COUNT] = { 0 };
	_cleanup_(cursor_deinit) struct cursor c;
	const struct event *ev;
	struct err *err;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev)
		counts[ev->kind]++;
	if (err)
		return err;
	printf("kinds      ");
	for (uint32_t i = 1; i < PLAIT_EV_COUNT; i++)
		if (counts[i])
			printf(" %s %llu", event_kind_name(i), (unsigned long long)counts[i]);
	puts("");
	return NULL;
}

/* The header of a communication graph; NULL when the plait holds none that can be read. */
static const struct plait_graph_header *graph_header(struct trace *t)
{
	const struct plait_graph_header *h = NULL;
	const void *data;
	size_t len;
	struct err *err = trace_section(t, "graph", &data, &len);

	if (!err && data && len >= sizeof(*h) && !memcmp(data, PLAIT_GRAPH_MAGIC, 8))
		h = data;
	err_free(err);
	return h && h->version == PLAIT_GRAPH_VERSION && h->size == sizeof(*h) && h->shift < 32
		       ? h
		       : NULL;
}

static double per(uint64_t n, double share, uint64_t all)
{
	return all ? (double)n * share / (double)all : 0;
}

static void print_graph(struct trace *t)
{
	const struct plait_graph_header *h = graph_header(t);

	if (!h)
		return;
	printf("graph       %u nodes, %llu edges; contexts of %u events, by %s\n",
	       h->nnodes ? h->nnodes - 1 : 0, (unsigned long long)h->edges, h->context,
	       h->shift == 2 ? "word" : "cache line");
	if (h->lost)
		printf("note        %llu accesses were not noted: there was no room\n",
		       (unsigned long long)h->lost);
	if (!(h->flags & PLAIT_GRAPH_HARDWARE))
		return;
	printf("caches      %u bytes, %u ways, %llu accesses; in 10000: %.2f read misses, %.2f "
	       "write misses, %.2f upgrades, %.2f metadata writes, %.2f table writes; in 10 "
	       "million: %.1f traps\n",
	       h->cache_bytes, h->cache_ways, (unsigned long long)h->operations,
	       per(h->read_misses, 1e4, h->operations), per(h->write_misses, 1e4, h->operations),
	       per(h->upgrades, 1e4, h->operations), per(h->metadata_writes, 1e4, h->operations),
	       per(h->table_writes, 1e4, h->operations), per(h->traps, 1e7, h->operations));
}

static void graph_json(struct trace *t, struct json *j)
{
	const struct plait_graph_header *h = graph_header(t);

	if (!h)
		return;
	json_begin_object(j, "graph");
	json_uint(j, "nodes", h->nnodes ? h->nnodes - 1 : 0);
	json_uint(j, "edges", h->edges);
	json_uint(j, "context", h->context);
	json_uint(j, "granularity", 1u << h->shift);
	json_uint(j, "lost", h->lost);
	if (h->flags & PLAIT_GRAPH_HARDWARE) {
		json_uint(j, "operations", h->operations);
		json_uint(j, "read_misses", h->read_misses);
		json_uint(j, "write_misses", h->write_misses);
		json_uint(j, "upgrades", h->upgrades);
		json_uint(j, "metadata_writes", h->metadata_writes);
		json_uint(j, "table_writes", h->table_writes);
		json_uint(j, "traps", h->traps);
	}
	json_end(j);
}

static bool is_tail(struct trace *t)
{
	return trace_meta(t)->flags & PLAIT_RUN_LAST;
}

static struct err *plait_json(const struct cmd_common *common, struct trace *t, struct symbols *s,
			      const struct target *stored, uint64_t count)
{
	struct err *err = NULL;
	const struct trace_meta *m = trace_meta(t);
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_begin_array(&j, "command");
	for (char **w = m->command; w && *w; w++)
		json_str(&j, NULL, *w);
	json_end(&j);
	if (stored->oracle)
		json_str(&j, "oracle", stored->oracle);
	if (stored->predicate)
		json_str(&j, "predicate", stored->predicate);
	json_begin_array(&j, "inputs");
	for (size_t i = 0; i < stored->inputs.len; i++)
		json_input(&j, &stored->inputs.data[i]);
	json_end(&j);
	if (stored->log && log_is_heard(stored->log))
		json_uint(&j, "heard", log_nanswers(stored->log));
	if (stored->timeouts)
		json_str(&j, "timeouts", timeouts_name(stored->timeouts));
	json_bool(&j, "made_here", trace_made_here(t));
	json_str(&j, "mode", mode_name(m->mode));
	json_begin_object(&j, "outcome");
	json_str(&j, "kind", outcome_name(m->outcome.kind));
	json_str(&j, "message", m->outcome.message);
	json_int(&j, "signal", m->outcome.signal);
	json_int(&j, "exit_code", m->outcome.exit_code);
	json_end(&j);
	json_uint(&j, "events", m->nevents);
	json_uint(&j, "lost", m->lost);
	json_uint(&j, "flags", m->flags);
	graph_json(t, &j);
	json_begin_array(&j, "threads");
	for (size_t i = 0; i < m->nthreads; i++) {
		json_begin_object(&j, NULL);
		json_str(&j, "name", m->threads[i].name);
		json_uint(&j, "events", m->threads[i].nevents);
		json_uint(&j, "lost", m->threads[i].lost);
		json_bool(&j, "ended", m->threads[i].ended);
		json_end(&j);
	}
	json_end(&j);
	json_begin_array(&j, "modules");
	for (size_t i = 0; i < m->nmodules; i++) {
		json_begin_object(&j, NULL);
		json_str(&j, "path", m->modules[i].path);
		json_str(&j, "build_id", m->modules[i].build_id);
		json_uint(&j, "sites", m->modules[i].nsites);
		json_end(&j);
	}
	json_end(&j);
	if (is_tail(t))
		err = json_last(t, s, count, &j);
	json_end(&j);
	return err ? err : cmd_write_json(common, &j);
}

static struct err *make_filter(const struct info_options *o, struct trace *t,
			       struct export_filter *f)
{
	*f = (struct export_filter){ .thread = CURSOR_ALL, .first = o->first, .count = o->count };
	if (o->thread) {
		f->thread = trace_thread_find(t, o->thread);
		if (f->thread == UINT32_MAX)
			return err_new(ERR_USAGE, "%s has no thread %s", trace_path(t), o->thread);
	}
	if (o->kind) {
		f->kind = event_kind_find(o->kind);
		if (!f->kind)
			return err_new(ERR_USAGE, "there is no kind of event '%s'", o->kind);
	}
	return NULL;
}

static struct err *info_plait(const struct info_options *o, const struct cmd_common *common,
			      const char *path)
{
	struct trace *t;
	struct symbols *s = NULL;
	struct export_filter filter;
	struct target stored = { 0 };
	struct err *err = o->events ? pinned_to_look(path) : NULL;

	if (!err)
		err = trace_open(path, &t);
	if (err)
		return err;
	err = make_filter(o, t, &filter);
	if (!err)
		err = target_stored(t, &stored);
	if (!err && (!common->json || is_tail(t))) {
		err = symbols_open(t, &s);
		if (err) {
			log_warn("%s; numbers instead of names", err_message(err));
			err_free(err);
		}
		err = NULL;
	}
	if (err)
		;
	else if (common->json)
		err = plait_json(common, t, s, &stored, o->count);
	else if (o->events)
		err = export_run(t, s, export_find("text"), &filter, stdout);
	else {
		print_header(t, s, &stored);
		print_graph(t);
		err = print_counts(t);
		if (!err && is_tail(t))
			err = show_last(t, s, o->count);
	}
	target_deinit(&stored);
	symbols_close(s);
	trace_close(t);
	return err;
}

/* ---- binaries ---- */

static const char *const site_kinds[] = { "?",		 "read",	 "write",
					  "atomic-read", "atomic-write", "atomic-rmw",
					  "fence",	 "branch",	 "switch",
					  "call",	 "alloc",	 "input" };

static void print_sites(const struct sites *s)
{
	for (uint32_t i = 0; i < s->header.nsites; i++) {
		const struct plait_site *at = &s->sites[i];

		printf("%6u  %-12s ", i + 1,
		       site_kinds[at->kind < ARRAY_SIZE(site_kinds) ? at->kind : 0]);
		print_text("", sites_string(s, at->file));
		printf(":%u", at->line);
		print_text(" in ", sites_string(s, at->function));
		if (*sites_string(s, at->object))
			print_text("  ", sites_string(s, at->object));
		if (at->element < s->header.nelements) {
			print_text("  [", sites_string(s, s->elements[at->element].name));
			putchar(']');
		}
		puts("");
	}
}

static void print_elements(const struct sites *s)
{
	for (uint32_t i = 0; i < s->header.nelements; i++) {
		printf("%6u  ", i);
		print_text("", sites_string(s, s->elements[i].name));
		printf(", %u sites%s\n", s->elements[i].nsites,
		       s->elements[i].flags & 1 ? ", synchronisation" : "");
	}
}

static double percent(uint32_t part, uint32_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void print_binary(const struct sites *s, const char *build)
{
	const struct plait_sites_header *h = &s->header;

	print_line("binary     ", s->path);
	printf("build-id    %s\n", s->build_id[0] ? s->build_id : "none");
	printf("functions   %u instrumented\n", h->functions);
	printf("accesses    %u, of which %u instrumented (%.0f %%), %u pruned\n", h->accesses_total,
	       h->accesses_instrumented, percent(h->accesses_instrumented, h->accesses_total),
	       h->accesses_total - h->accesses_instrumented);
	printf("branches    %u, of which %u recorded (%.0f %%)\n", h->branches_total,
	       h->branches_recorded, percent(h->branches_recorded, h->branches_total));
	printf("loads       %u feed addresses\n", h->loads_address_feeding);
	printf("elements    %u\nsites       %u\n", h->nelements, h->nsites);
	printf("external    %u objects without bitcode\n", h->external_objects);
	if (*build) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

		strbuf_add_printable(&text, build, "\n\t");
		printf("%s%s", strbuf_str(&text), build[strlen(build) - 1] == '\n' ? "" : "\n");
	}
}

static struct err *binary_json(const struct cmd_common *common, const struct sites *s)
{
	const struct plait_sites_header *h = &s->header;
	struct json j;

	json_init(&j);
	json_begin_answer(&j);
	json_str(&j, "binary", s->path);
	json_str(&j, "build_id", s->build_id);
	json_uint(&j, "functions", h->functions);
	json_uint(&j, "accesses", h->accesses_total);
	json_uint(&j, "accesses_instrumented", h->accesses_instrumented);
	json_uint(&j, "branches", h->branches_total);
	json_uint(&j, "branches_recorded", h->branches_recorded);
	json_uint(&j, "loads_address_feeding", h->loads_address_feeding);
	json_uint(&j, "elements", h->nelements);
	json_uint(&j, "sites", h->nsites);
	json_uint(&j, "external_objects", h->external_objects);
	json_end(&j);
	return cmd_write_json(common, &j);
}

static struct err *info_binary(const struct info_options *o, const struct cmd_common *common,
			       const char *path)
{
	struct strbuf build = { 0 };
	struct sites *s = NULL;
	bool found;
	struct err *err = sites_open(path, &s);

	if (!err)
		err = binary_section(path, PLAIT_SECTION_BUILD, &build, &found);
	if (err)
		;
	else if (common->json)
		err = binary_json(common, s);
	else if (o->sites)
		print_sites(s);
	else if (o->elements)
		print_elements(s);
	else
		print_binary(s, strbuf_str(&build));
	strbuf_deinit(&build);
	sites_close(s);
	return err;
}

/* ELF files are binaries, everything else should be a plait. */
static bool is_elf(const char *path)
{
	char magic[4] = "";
	FILE *f = fopen(path, "r");
	bool elf = f && fread(magic, 1, 4, f) == 4 && memcmp(magic, "\177ELF", 4) == 0;

	if (f)
		fclose(f);
	return elf;
}

static struct err *info_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct info_options o = { 0 };
	struct cmd_common common = { 0 };
	const struct opt table[] = {
		OPT_FLAG('e', "events", &o.events, "plait: list the events"),
		OPT_STR('t', "thread", "NAME", &o.thread, "only events of this thread (0.1)"),
		OPT_STR('k', "kind", "KIND", &o.kind, "only events of this kind (lock, write ...)"),
		OPT_U64(0, "first", "N", &o.first, "skip N events"),
		OPT_U64(0, "count", "N", &o.count, "at most N events"),
		OPT_FLAG(0, "sites", &o.sites, "binary: list its sites"),
		OPT_FLAG(0, "elements", &o.elements, "binary: list its possibly shared elements"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	(void)status;
	if (err)
		return err;
	if (argc != 1)
		return cmd_usage(cmd, "one plait or binary, please");
	return is_elf(argv[0]) ? info_binary(&o, &common, argv[0])
			       : info_plait(&o, &common, argv[0]);
}

const struct cmd cmd_info = {
	.name = "info",
	.synopsis = "[OPTION]... PLAIT|BINARY",
	.summary = "look inside a plait or a binary",
	.help = "    unplait info run.plait\n"
		"    unplait info --events --thread 0.1 --kind lock run.plait\n"
		"    unplait info --elements ./server\n",
	.main = info_main,
};
