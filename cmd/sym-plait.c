/* cmd/sym-plait.c - print the symbolic traces of a recording's threads. */
#include "cmd/sym-plait.h"

#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/pinned.h"
#include "base/interrupt.h"
#include "sym/sym.h"
#include "debug/names.h"

#include <stdio.h>
#include <string.h>

struct print {
	struct symbols *symbols;
	const struct trace_meta *meta;
	struct json *json; /* NULL: text */
	bool quiet;
};

static const char *const kind_names[] = {
	[SYM_STEP_BRANCH] = "branch", [SYM_STEP_READ] = "read",	  [SYM_STEP_WRITE] = "write",
	[SYM_STEP_RMW] = "rmw",	      [SYM_STEP_RANGE] = "range", [SYM_STEP_SYNC] = "sync",
	[SYM_STEP_INPUT] = "input",   [SYM_STEP_END] = "end",
};

static const char *object_name(struct print *p, const struct sym_step *s)
{
	struct code_point at;

	return s->site && symbols_site(p->symbols, s->site, &at) ? at.object : "";
}

static void json_step(struct print *p, const struct sym_step *s)
{
	struct json *j = p->json;

	json_begin_object(j, NULL);
	json_str(j, "thread", p->meta->threads[s->thread].name);
	json_str(j, "kind", kind_names[s->kind]);
	if (s->event)
		json_str(j, "event", event_kind_name(s->event));
	json_str(j, "where", s->where);
	if (s->site)
		json_uint(j, "site", s->site);
	if (s->address) {
		json_str(j, "object", object_name(p, s));
		json_uint(j, "address", s->address);
	}
	if (s->w)
		json_uint(j, "bits", s->w);
	if (s->text)
		json_str(j, s->kind == SYM_STEP_BRANCH ? "condition" : "value", s->text);
	if (s->known)
		json_uint(j, "recorded", s->concrete);
	if (s->kind == SYM_STEP_RANGE)
		json_uint(j, "bytes", s->n);
	if (s->event == PLAIT_EV_FORK || s->event == PLAIT_EV_JOIN)
		json_str(j, "other", p->meta->threads[s->other].name);
	if (s->result)
		json_int(j, "result", s->result);
	if (s->part)
		json_bool(j, "part", true);
	if (s->beyond)
		json_bool(j, "beyond", true);
	json_end(j);
}

static void print_step(void *arg, const struct sym_step *s)
{
	struct print *p = arg;
	const char *object;

	if (p->quiet)
		return;
	if (p->json) {
		json_step(p, s);
		return;
	}
	object = object_name(p, s);
	printf("%-8s %s: ", p->meta->threads[s->thread].name, s->where);
	switch (s->kind) {
	case SYM_STEP_BRANCH:
		printf("because %s", strcmp(s->text, "1") ? s->text : "of known values");
		break;
	case SYM_STEP_READ:
	case SYM_STEP_WRITE:
	case SYM_STEP_RMW:
		printf("%s%s %s = %s", s->part ? "  " : "", event_kind_name(s->event), object,
		       s->text);
		break;
	case SYM_STEP_RANGE:
		printf("%s %s, %llu bytes", event_kind_name(s->event), object,
		       (unsigned long long)s->n);
		break;
	case SYM_STEP_SYNC:
		printf("%s", event_kind_name(s->event));
		if (s->event == PLAIT_EV_FORK || s->event == PLAIT_EV_JOIN)
			printf(" thread %s", p->meta->threads[s->other].name);
		if (s->result)
			printf(" -> %lld", (long long)s->result);
		break;
	case SYM_STEP_INPUT:
		printf("input from %s = %s", object, s->text);
		break;
	case SYM_STEP_END:
		printf("end: %s", s->text && *s->text ? s->text : "returned");
		break;
	}
	if (s->known && s->kind != SYM_STEP_INPUT)
		printf(", recorded 0x%llx", (unsigned long long)s->concrete);
	printf("%s\n", s->beyond ? " (after the last record)" : "");
}

static void print_ends(const struct sym_follow_result *r)
{
	for (size_t i = 0; i < r->threads.len; i++) {
		const struct sym_thread_end *e = &r->threads.data[i];
		bool plain = e->outcome.kind == SYM_EXIT;

		printf("thread %-8s %llu steps, %s%s%s%s%s", e->name, (unsigned long long)e->steps,
		       sym_kind_name(e->outcome.kind), plain ? "" : ": ",
		       plain ? "" : e->outcome.message, plain ? "" : " at ",
		       plain ? "" : e->outcome.where);
		if (e->bits_left || e->values_left || e->inputs_left)
			printf("; unused: %llu branch bits, %llu values, %llu inputs",
			       (unsigned long long)e->bits_left, (unsigned long long)e->values_left,
			       (unsigned long long)e->inputs_left);
		printf("%s\n", e->expected ? "" : "; the recording ends otherwise");
	}
}

static void print_summary(const struct sym_follow_result *r, bool stats)
{
	print_ends(r);
	printf("%llu steps: %llu reads, %llu writes, %llu branches, %llu synchronisation; %llu "
	       "conditions over %llu symbols\n",
	       (unsigned long long)r->steps, (unsigned long long)r->reads,
	       (unsigned long long)r->writes, (unsigned long long)r->branches,
	       (unsigned long long)r->syncs, (unsigned long long)r->constraints,
	       (unsigned long long)r->symbols);
	if (r->beyond)
		printf("%llu steps lie after the last record of a thread that was stopped\n",
		       (unsigned long long)r->beyond);
	if (r->checked)
		printf("%llu of %llu recorded events reproduced\n", (unsigned long long)r->agree,
		       (unsigned long long)r->events);
	if (r->open)
		printf("%llu of them have values that depend on something that is not recorded\n",
		       (unsigned long long)r->open);
	for (size_t i = 0; i < r->mismatches.len; i++)
		printf("differs: %s\n", r->mismatches.text[i]);
	for (size_t i = 0; i < r->gaps.len; i++)
		printf("not recorded: %s (%llu)\n", r->gaps.text[i],
		       (unsigned long long)r->gap_counts.data[i]);
	if (stats)
		printf("operations %llu in %.3f s\n", (unsigned long long)r->stats.ops,
		       r->stats.seconds);
}

static void json_summary(struct json *j, const struct sym_follow_result *r)
{
	json_begin_array(j, "threads");
	for (size_t i = 0; i < r->threads.len; i++) {
		const struct sym_thread_end *e = &r->threads.data[i];

		json_begin_object(j, NULL);
		json_str(j, "thread", e->name);
		json_uint(j, "steps", e->steps);
		json_str(j, "end", sym_kind_name(e->outcome.kind));
		json_str(j, "message", e->outcome.message);
		json_str(j, "where", e->outcome.where);
		json_bool(j, "expected", e->expected);
		json_uint(j, "bits_left", e->bits_left);
		json_uint(j, "values_left", e->values_left);
		json_uint(j, "inputs_left", e->inputs_left);
		json_end(j);
	}
	json_end(j);
	json_bool(j, "complete", r->complete);
	json_uint(j, "total", r->steps);
	json_uint(j, "constraints", r->constraints);
	json_uint(j, "symbols", r->symbols);
	json_uint(j, "beyond", r->beyond);
	if (r->checked) {
		json_uint(j, "events", r->events);
		json_uint(j, "agree", r->agree);
		json_uint(j, "open", r->open);
	}
	json_begin_array(j, "mismatches");
	for (size_t i = 0; i < r->mismatches.len; i++)
		json_str(j, NULL, r->mismatches.text[i]);
	json_end(j);
	json_begin_object(j, "gaps");
	for (size_t i = 0; i < r->gaps.len; i++)
		json_uint(j, r->gaps.text[i], r->gap_counts.data[i]);
	json_end(j);
	json_uint(j, "operations", r->stats.ops);
	json_real(j, "seconds", r->stats.seconds, 3);
}

static struct err *follow(const struct sym_plait_options *o, struct print *p, struct trace *t,
			  struct sym_follow_result *r)
{
	struct sym_follow_options options = { .text = !o->summary,
					      .max_ops = o->max_ops,
					      .max_seconds = o->seconds,
					      .interrupted = interrupted };
	struct err *err = o->check ? trace_open(o->check, &options.check) : NULL;

	if (!err)
		err = sym_follow_plait(t, &options, o->summary ? NULL : print_step, p, r);
	trace_close(options.check);
	return err;
}

struct err *sym_plait_trace(const struct sym_plait_options *o, const struct cmd_common *common,
			    int *status)
{
	struct sym_follow_result r = { 0 };
	struct trace *t = NULL;
	struct print p = { 0 };
	struct json j;
	struct err *err = pinned_to_look(o->path);

	if (!err)
		err = trace_open(o->path, &t);
	interrupt_catch();

	if (!err)
		err = symbols_open(t, &p.symbols);
	json_init(&j);
	json_begin_answer(&j);
	if (!err) {
		p.meta = trace_meta(t);
		p.json = common->json ? &j : NULL;
		json_begin_array(&j, "steps");
		err = follow(o, &p, t, &r);
		json_end(&j);
	}
	if (!err && common->json) {
		json_summary(&j, &r);
		json_end(&j);
		err = cmd_write_json(common, &j);
	} else if (!err) {
		print_summary(&r, o->stats);
	}
	*status = interrupted()					      ? 128 + interrupted()
		  : !r.complete || (r.checked && r.agree != r.events) ? 4
								      : 0;
	json_deinit(&j);
	sym_follow_result_deinit(&r);
	symbols_close(p.symbols);
	trace_close(t);
	return err;
}
