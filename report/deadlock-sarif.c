/* report/deadlock-sarif.c - a fingerprint for code scanners. */
#include "report/formats.h"

#include "base/json.h"
#include "deadlock/fingerprint.h"
#include "report/sarif.h"

#include <stdio.h>

static void put_location(struct json *j, const char *key, const struct fp_stack *s,
			 const char *message)
{
	const struct fp_frame *fr = fp_site(s);
	struct sarif_place place = { .message = message };

	if (fr) {
		place.path = fr->file ? fr->file : fr->module;
		place.line = fr->file ? fr->line : 0;
		place.function = fr->function;
	}
	sarif_location(j, key, &place);
}

static void put_flow_step(struct json *j, const struct fingerprint *f, const struct fp_use *u,
			  const char *verb)
{
	char lock[256], text[300];

	fp_lock_text(f, u->lock, lock, sizeof(lock));
	snprintf(text, sizeof(text), "%s %s", verb, lock);
	json_begin_object(j, NULL);
	put_location(j, "location", &u->stack, text);
	json_end(j);
}

static void put_cycle_result(struct json *j, const struct fingerprint *f, const struct fp_cycle *c)
{
	char text[200];

	snprintf(text, sizeof(text), "%zu thread(s) wait for each other%s; bucket %s", c->len,
		 c->timed ? " until a timeout" : " for ever", c->bucket);
	sarif_begin_result(j, c->timed ? "timed-cycle" : "deadlock", c->timed ? "warning" : "error",
			   text);
	json_begin_array(j, "locations");
	for (size_t i = 0; i < c->len; i++)
		put_location(j, NULL, &f->threads[c->edges[i].thread].uses[c->edges[i].want].stack,
			     "blocked here");
	json_end(j);
	json_begin_array(j, "codeFlows");
	json_begin_object(j, NULL);
	json_begin_array(j, "threadFlows");
	for (size_t i = 0; i < c->len; i++) {
		const struct wait_edge *e = &c->edges[i];
		const struct wait_edge *before = &c->edges[(i + c->len - 1) % c->len];

		json_begin_object(j, NULL);
		json_str(j, "id", f->threads[e->thread].name);
		json_begin_array(j, "locations");
		put_flow_step(j, f, &f->threads[before->holder].uses[before->held], "takes");
		put_flow_step(j, f, &f->threads[e->thread].uses[e->want], "waits for");
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_end(j);
	sarif_fingerprint(j, c->bucket);
	json_end(j);
}

static void put_stuck_result(struct json *j, const struct fingerprint *f)
{
	sarif_begin_result(j, "stuck", "error",
			   "every thread waits, and no lock cycle explains it");
	json_begin_array(j, "locations");
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct fp_use *wish = fp_wants(&f->threads[i]);

		if (wish)
			put_location(j, NULL, &wish->stack, "waits here");
	}
	json_end(j);
	sarif_fingerprint(j, f->bucket);
	json_end(j);
}

static void put_inversion_result(struct json *j, const struct fingerprint *f,
				 const struct fp_inversion *v)
{
	char a[256], b[256], text[600];

	fp_lock_text(f, v->order[0].outer, a, sizeof(a));
	fp_lock_text(f, v->order[0].inner, b, sizeof(b));
	snprintf(text, sizeof(text), "potential deadlock: %s and %s are taken in both orders", a,
		 b);
	sarif_begin_result(j, "lock-order-inversion", "note", text);
	json_begin_array(j, "locations");
	for (unsigned k = 0; k < 2; k++)
		put_location(j, NULL, &v->order[k].inner_stack,
			     k ? "in the other order" : "in one order");
	json_end(j);
	json_end(j);
}

void fingerprint_sarif(const struct fingerprint *f, const struct report_view *view,
		       struct strbuf *out)
{
	static const char *const rules[] = { "deadlock", "timed-cycle", "stuck",
					     "lock-order-inversion", NULL };
	struct json j;

	(void)view;
	json_init(&j);
	sarif_begin(&j, rules);
	for (size_t i = 0; i < f->ncycles; i++)
		put_cycle_result(&j, f, &f->cycles[i]);
	if (f->stuck)
		put_stuck_result(&j, f);
	for (size_t i = 0; i < f->ninversions; i++)
		put_inversion_result(&j, f, &f->inversions[i]);
	sarif_end(&j);
	json_finish(&j, out);
}
