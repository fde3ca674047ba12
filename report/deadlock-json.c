/* report/deadlock-json.c - a fingerprint for programs: our JSON, and SARIF 2.1.0 for code scanners.
 * The JSON is also what is stored and merged, and what `synth` takes as breadcrumbs. */
#include "base/mem.h"
#include "deadlock/fingerprint.h"

#include <string.h>

static void put_stack(struct json *j, const char *key, const struct fp_stack *s)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < s->n; i++) {
		const struct fp_frame *fr = &s->frames[i];

		json_begin_object(j, NULL);
		json_str(j, "function", fr->function);
		json_str(j, "file", fr->file);
		json_int(j, "line", fr->line);
		json_str(j, "module", fr->module);
		json_str(j, "build_id", fr->build_id);
		json_hex(j, "offset", fr->offset);
		if (fr->inlined)
			json_bool(j, "inlined", true);
		json_end(j);
	}
	json_end(j);
	if (s->truncated)
		json_bool(j, "truncated", true);
}

static void put_lock(struct json *j, const char *key, const struct fingerprint *f, uint32_t lock)
{
	const struct fp_lock *l = &f->locks[lock];

	json_begin_object(j, key);
	json_str(j, "kind", l->kind);
	json_str(j, "name", l->name);
	if (!l->name)
		json_uint(j, "number", l->number);
	json_hex(j, "address", l->address);
	json_end(j);
}

static void put_use(struct json *j, const char *key, const struct fingerprint *f,
		    const struct fp_use *u, const char *held_by)
{
	static const char *const modes[] = { [WATCH_READ] = "read", [WATCH_WRITE] = "write" };

	json_begin_object(j, key);
	put_lock(j, "lock", f, u->lock);
	if (u->kind == WATCH_READ || u->kind == WATCH_WRITE)
		json_str(j, "mode", modes[u->kind]);
	if (u->kind == WATCH_JOIN)
		json_str(j, "joins", u->joined);
	if (u->state == WATCH_WANT)
		json_str(j, "held_by", held_by);
	if (u->flags & WATCH_TIMED)
		json_bool(j, "timed", true);
	if (u->count)
		json_uint(j, "recursion", u->count);
	if (u->doubted)
		json_bool(j, "doubtful", true);
	put_stack(j, "stack", &u->stack);
	json_end(j);
}

static void put_cycle(struct json *j, const struct fingerprint *f, const struct fp_cycle *c)
{
	json_begin_object(j, NULL);
	json_str(j, "kind", c->timed ? "timed" : "deadlock");
	json_str(j, "bucket", c->bucket);
	json_str(j, "build_bucket", c->build_bucket);
	json_begin_array(j, "threads");
	for (size_t i = 0; i < c->len; i++) {
		const struct wait_edge *e = &c->edges[i];
		const struct wait_edge *before = &c->edges[(i + c->len - 1) % c->len];
		const struct fp_thread *t = &f->threads[e->thread];

		json_begin_object(j, NULL);
		json_str(j, "thread", t->name);
		json_uint(j, "tid", t->tid);
		put_use(j, "holds", f, &f->threads[before->holder].uses[before->held], NULL);
		put_use(j, "wants", f, &t->uses[e->want], f->threads[e->holder].name);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_order(struct json *j, const char *key, const struct fingerprint *f,
		      const struct fp_order *o, const char *thread)
{
	json_begin_object(j, key);
	if (thread)
		json_str(j, "thread", thread);
	if (o->outer != UINT32_MAX) {
		put_lock(j, "outer", f, o->outer);
		put_stack(j, "outer_stack", &o->outer_stack);
	}
	put_lock(j, "inner", f, o->inner);
	put_stack(j, "inner_stack", &o->inner_stack);
	json_end(j);
}

static const char *state_name(const struct fp_thread *t)
{
	if (t->state == WATCH_EXITED)
		return "ended";
	if (t->state == WATCH_GHOST)
		return "parent";
	return fp_wants(t) ? "blocked" : "running";
}

static void put_thread(struct json *j, const struct fingerprint *f, const struct fp_thread *t)
{
	const struct fp_use *wish = fp_wants(t);
	const struct fp_thread *holder = wish ? fp_holder(f, t, wish) : NULL;

	json_begin_object(j, NULL);
	json_str(j, "thread", t->name);
	json_uint(j, "tid", t->tid);
	json_str(j, "state", state_name(t));
	json_begin_array(j, "holds");
	for (size_t i = 0; i < t->nuses; i++)
		if (t->uses[i].state == WATCH_HELD)
			put_use(j, NULL, f, &t->uses[i], NULL);
	json_end(j);
	if (wish)
		put_use(j, "wants", f, wish, holder ? holder->name : NULL);
	if (t->nreleases) {
		json_begin_array(j, "releases");
		for (size_t i = 0; i < t->nreleases; i++)
			put_order(j, NULL, f, &t->releases[i], NULL);
		json_end(j);
	}
	json_end(j);
}

void fingerprint_json(const struct fingerprint *f, struct json *j)
{
	json_begin_object(j, NULL);
	json_int(j, "unplait", 1);
	json_str(j, "command", "watch");
	json_str(j, "kind", fingerprint_kind(f));
	json_str(j, "bucket", f->bucket);
	json_str(j, "program", f->program);
	json_uint(j, "pid", f->pid);
	json_bool(j, "verified", f->verified); /* held locks were compared with memory */
	json_begin_array(j, "cycles");
	for (size_t i = 0; i < f->ncycles; i++)
		put_cycle(j, f, &f->cycles[i]);
	json_end(j);
	json_begin_array(j, "threads");
	for (size_t i = 0; i < f->nthreads; i++)
		put_thread(j, f, &f->threads[i]);
	json_end(j);
	json_begin_array(j, "inversions");
	for (size_t i = 0; i < f->ninversions; i++) {
		const struct fp_inversion *v = &f->inversions[i];

		json_begin_object(j, NULL);
		put_order(j, "first", f, &v->order[0], f->threads[v->thread[0]].name);
		put_order(j, "second", f, &v->order[1], f->threads[v->thread[1]].name);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "unwatched_threads", f->unwatched + f->lost_threads);
	json_end(j);
}

/* ---- SARIF ---- */

static void put_location(struct json *j, const char *key, const struct fp_stack *s,
			 const char *message)
{
	const struct fp_frame *fr = fp_site(s);

	json_begin_object(j, key);
	json_begin_object(j, "physicalLocation");
	json_begin_object(j, "artifactLocation");
	json_str(j, "uri", fr && fr->file ? fr->file : fr && fr->module ? fr->module : "unknown");
	json_end(j);
	if (fr && fr->file && fr->line) {
		json_begin_object(j, "region");
		json_int(j, "startLine", fr->line);
		json_end(j);
	}
	json_end(j);
	if (fr && fr->function) {
		json_begin_array(j, "logicalLocations");
		json_begin_object(j, NULL);
		json_str(j, "fullyQualifiedName", fr->function);
		json_end(j);
		json_end(j);
	}
	json_begin_object(j, "message");
	json_str(j, "text", message);
	json_end(j);
	json_end(j);
}

static void put_message(struct json *j, const char *text)
{
	json_begin_object(j, "message");
	json_str(j, "text", text);
	json_end(j);
}

static void put_fingerprints(struct json *j, const char *bucket)
{
	json_begin_object(j, "partialFingerprints");
	json_str(j, "unplaitBucket/v1", bucket);
	json_end(j);
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
	json_begin_object(j, NULL);
	json_str(j, "ruleId", c->timed ? "timed-cycle" : "deadlock");
	json_str(j, "level", c->timed ? "warning" : "error");
	put_message(j, text);
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
	put_fingerprints(j, c->bucket);
	json_end(j);
}

static void put_stuck_result(struct json *j, const struct fingerprint *f)
{
	json_begin_object(j, NULL);
	json_str(j, "ruleId", "stuck");
	json_str(j, "level", "error");
	put_message(j, "every thread waits, and no lock cycle explains it");
	json_begin_array(j, "locations");
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct fp_use *wish = fp_wants(&f->threads[i]);

		if (wish)
			put_location(j, NULL, &wish->stack, "waits here");
	}
	json_end(j);
	put_fingerprints(j, f->bucket);
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
	json_begin_object(j, NULL);
	json_str(j, "ruleId", "lock-order-inversion");
	json_str(j, "level", "note");
	put_message(j, text);
	json_begin_array(j, "locations");
	for (unsigned k = 0; k < 2; k++)
		put_location(j, NULL, &v->order[k].inner_stack,
			     k ? "in the other order" : "in one order");
	json_end(j);
	json_end(j);
}

void fingerprint_sarif(const struct fingerprint *f, struct json *j)
{
	static const char *const rules[] = { "deadlock", "timed-cycle", "stuck",
					     "lock-order-inversion" };

	json_begin_object(j, NULL);
	json_str(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_str(j, "version", "2.1.0");
	json_begin_array(j, "runs");
	json_begin_object(j, NULL);
	json_begin_object(j, "tool");
	json_begin_object(j, "driver");
	json_str(j, "name", "unplait");
	json_str(j, "version", UNPLAIT_VERSION);
	json_begin_array(j, "rules");
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		json_begin_object(j, NULL);
		json_str(j, "id", rules[i]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_end(j);
	json_begin_array(j, "results");
	for (size_t i = 0; i < f->ncycles; i++)
		put_cycle_result(j, f, &f->cycles[i]);
	if (f->stuck)
		put_stuck_result(j, f);
	for (size_t i = 0; i < f->ninversions; i++)
		put_inversion_result(j, f, &f->inversions[i]);
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
}
