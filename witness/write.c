/* witness/write.c - a failing run as a violation witness.
 *
 * Every statement that a thread begins becomes a waypoint, in the order of the run, from the moment
 * when there are two threads: `function_enter` where it makes a thread, else an assumption that
 * always holds, which says "this thread executes this statement now". The last one is the target.
 *
 * The same plait gives the same bytes: the uuid is a hash of the rest, the time is the recording's. */
#include "witness/witness.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "run/place.h"
#include "trace/trace.h"
#include "witness/visits.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct writer {
	struct trace *trace;
	struct symbols *symbols;
	const char *property;	  /* in LTL */
	struct places places;	  /* of the failure */
	struct code_point target; /* where it fails; strings of the places */
	VEC(const char *) files;  /* of the waypoints, each once */
	VEC(uint32_t) numbers;	  /* native thread -> number in the witness; PLAIT_ANY = none */
	uint32_t nthreads;	  /* that have a number */
	struct strbuf content;
};

/* ---- what failed, in SV-COMP's words ---- */

static const char *property_of(const struct trace_outcome *o, bool reach_error)
{
	if (reach_error)
		return "G ! call(reach_error())";
	if (o->kind == PLAIT_OUTCOME_ASSERT &&
	    (o->code == PLAIT_MISUSE_FREE_TWICE || o->code == PLAIT_MISUSE_FREE_OTHER))
		return "G valid-free";
	if (o->kind == PLAIT_OUTCOME_ASSERT &&
	    (o->code == PLAIT_MISUSE_FREED || o->code == PLAIT_MISUSE_BEHIND))
		return "G valid-deref";
	if (o->kind == PLAIT_OUTCOME_SIGNAL && (o->signal == SIGSEGV || o->signal == SIGBUS))
		return "G valid-deref";
	if (o->kind == PLAIT_OUTCOME_ASSERT && o->code == 0)
		return o->message && strstr(o->message, "ssertion") ? "G ! call(__assert_fail())"
								    : "G ! call(abort())";
	return NULL;
}

/* Where it failed: the innermost place of the program's own code; of reach_error(), its caller. */
static bool find_target(struct writer *w, const struct trace_outcome *o, bool *reach_error)
{
	places_of_outcome(w->symbols, o, &w->places);
	*reach_error = false;
	for (size_t i = 0; i < w->places.len; i++) {
		const struct place *p = &w->places.data[i];

		if (strcmp(p->function, "reach_error") == 0) {
			*reach_error = true;
		} else if (!p->library && p->line) {
			w->target = (struct code_point){ .file = p->file,
							 .function = p->function,
							 .line = p->line };
			return true;
		}
	}
	return false;
}

static struct err *find_property(struct writer *w)
{
	const struct trace_outcome *o = &trace_meta(w->trace)->outcome;
	bool reach_error;

	if (o->kind == PLAIT_OUTCOME_PASS)
		return err_new(ERR_ENV, "the run passed: a violation witness shows a failure");
	if (!find_target(w, o, &reach_error) && o->kind != PLAIT_OUTCOME_DEADLOCK)
		return err_new(ERR_ENV, "nothing says which line failed: build with -g");
	w->property = property_of(o, reach_error);
	if (!w->property)
		return err_new(ERR_ENV,
			       "SV-COMP's witnesses have no property for this failure (%s): only "
			       "assertions, aborts, reach_error and bad memory accesses",
			       outcome_name(o->kind));
	return NULL;
}

/* ---- waypoints ---- */

static uint32_t *number_of(struct writer *w, uint32_t thread)
{
	while (w->numbers.len <= thread)
		vec_push(&w->numbers, w->numbers.len ? PLAIT_ANY : 0);
	return &w->numbers.data[thread];
}

static void note_file(struct writer *w, const char *file)
{
	for (size_t i = 0; i < w->files.len; i++)
		if (strcmp(w->files.data[i], file) == 0)
			return;
	vec_push(&w->files, file);
}

/* A string as YAML reads it back. JSON's strings are YAML's. */
static void add_string(struct strbuf *out, const char *text)
{
	strbuf_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_addc(out, '\\');
		if ((unsigned char)*text < 32)
			strbuf_addf(out, "\\x%02x", *text);
		else
			strbuf_addc(out, *text);
	}
	strbuf_addc(out, '"');
}

static void add_waypoint(struct writer *w, const char *type, uint32_t thread,
			 const struct code_point *at)
{
	struct strbuf *out = &w->content;

	note_file(w, at->file);
	strbuf_addf(out,
		    "  - segment:\n"
		    "    - waypoint:\n"
		    "        type: %s\n"
		    "        action: follow\n"
		    "        thread_id: %u\n",
		    type, thread);
	if (strcmp(type, "assumption") == 0)
		strbuf_adds(out, "        constraint:\n"
				 "          value: \"1\"\n"
				 "          format: c_expression\n");
	strbuf_adds(out, "        location:\n          file_name: ");
	add_string(out, at->file);
	strbuf_addf(out, "\n          line: %u\n          function: ", at->line);
	add_string(out, at->function);
	strbuf_addc(out, '\n');
}

static struct err *add_waypoints(struct writer *w)
{
	const struct trace_outcome *o = &trace_meta(w->trace)->outcome;
	struct visits visits = { 0 };
	struct err *err = visits_of(w->trace, w->symbols, NULL, &visits);

	for (size_t i = 0; !err && i < visits.len; i++) {
		const struct visit *v = &visits.data[i];
		uint32_t thread = *number_of(w, v->thread);

		if (thread == PLAIT_ANY)
			continue;
		if (v->child != PLAIT_ANY) {
			add_waypoint(w, "function_enter", thread, &v->at);
			*number_of(w, v->child) = ++w->nthreads;
		} else if (w->nthreads) {
			add_waypoint(w, "assumption", thread, &v->at);
		}
	}
	vec_deinit(&visits);
	if (!err && *number_of(w, o->thread) == PLAIT_ANY)
		return err_new(ERR_ENV, "the thread that fails has no number in the witness: "
					"nothing says where it was made");
	if (!err)
		add_waypoint(w, "target", *number_of(w, o->thread), &w->target);
	return err;
}

/* ---- the frame ---- */

static bool is_c(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".i") == 0 || strcmp(dot, ".h") == 0);
}

static void add_uuid(const char *hash, struct strbuf *out)
{
	/* version 8: "custom", variant 1 */
	strbuf_addf(out, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hash, hash + 8, hash + 12, hash + 15,
		    hash + 18);
}

static void add_time(int64_t ns, struct strbuf *out)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	strbuf_adds(out, text);
}

static struct err *add_files(struct writer *w, struct strbuf *out)
{
	strbuf_adds(out, "      input_files:\n");
	for (size_t i = 0; i < w->files.len; i++) {
		strbuf_adds(out, "      - ");
		add_string(out, w->files.data[i]);
		strbuf_addc(out, '\n');
	}
	strbuf_adds(out, "      input_file_hashes:\n");
	for (size_t i = 0; i < w->files.len; i++) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
		char hash[SHA256_HEX];
		struct err *err;

		if (!is_c(w->files.data[i]))
			return err_new(ERR_ENV, "%s: SV-COMP's witnesses are of C programs only",
				       w->files.data[i]);
		err = file_read(w->files.data[i], &text);
		if (err)
			return err_wrap(err, "a witness has the hash of each source; go to where "
					     "the program was compiled");
		sha256_hex(strbuf_str(&text), text.len, hash);
		strbuf_adds(out, "        ");
		add_string(out, w->files.data[i]);
		strbuf_addf(out, ": \"%s\"\n", hash);
	}
	return NULL;
}

static struct err *add_frame(struct writer *w, struct strbuf *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf task = { 0 };
	char hash[SHA256_HEX];
	struct err *err = add_files(w, &task);

	if (err)
		return err;
	strbuf_addf(&task,
		    "      specification: \"CHECK( init(main()), LTL(%s) )\"\n"
		    "      data_model: LP64\n"
		    "      language: C\n"
		    "  content:\n%s",
		    w->property, strbuf_str(&w->content));
	sha256_hex(strbuf_str(&task), task.len, hash);
	strbuf_adds(ret, "- entry_type: violation_sequence\n"
			 "  metadata:\n"
			 "    format_version: \"2.2\"\n"
			 "    uuid: ");
	add_uuid(hash, ret);
	strbuf_adds(ret, "\n    creation_time: \"");
	add_time(trace_meta(w->trace)->start_ns, ret);
	strbuf_addf(ret,
		    "\"\n"
		    "    producer:\n"
		    "      name: unplait\n"
		    "      version: \"%s\"\n"
		    "    task:\n%s",
		    UNPLAIT_VERSION, strbuf_str(&task));
	return NULL;
}

struct err *witness_write(struct trace *t, struct strbuf *ret)
{
	struct writer w = { .trace = t };
	struct err *err = symbols_open(t, &w.symbols);

	if (!err)
		err = find_property(&w);
	if (!err)
		err = add_waypoints(&w);
	if (!err)
		err = add_frame(&w, ret);
	symbols_close(w.symbols);
	places_deinit(&w.places);
	vec_deinit(&w.files);
	vec_deinit(&w.numbers);
	strbuf_deinit(&w.content);
	return err;
}
