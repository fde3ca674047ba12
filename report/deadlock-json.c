/* report/deadlock-json.c - deadlocks as the JSON objects that `watch --json` prints: a fingerprint, many
 * of them by bucket, a process without the watch library. A fingerprint's JSON is also what `watch
 * -o` stores: deadlock/merge.c reads it back. */
#include "report/formats.h"

#include "base/json.h"
#include "base/mem.h"
#include "deadlock/fingerprint.h"
#include "deadlock/foreign.h"
#include "deadlock/merge.h"

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
	if (u->state == WATCH_WANT && u->flags & WATCH_SHARED)
		json_bool(j, "process_shared", true);
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

static void add_fingerprint(struct json *j, const struct fingerprint *f)
{
	json_begin_answer(j);
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

/* ---- many ---- */

static void add_merge(struct json *j, const struct merge *m)
{
	json_begin_answer(j);
	json_str(j, "command", "watch");
	json_uint(j, "fingerprints", m->read);
	json_uint(j, "skipped", m->skipped);
	json_begin_array(j, "buckets");
	for (size_t i = 0; i < m->buckets.len; i++) {
		const struct merge_bucket *b = &m->buckets.data[i];

		json_begin_object(j, NULL);
		json_str(j, "bucket", b->id);
		json_str(j, "kind", b->kind);
		json_uint(j, "count", b->count);
		json_str(j, "program", b->program);
		json_str(j, "summary", b->summary);
		json_begin_array(j, "files");
		for (size_t k = 0; k < b->files.len; k++)
			json_str(j, NULL, b->files.data[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* ---- without the library ---- */

static void add_foreign(struct json *j, const struct foreign *f)
{
	json_begin_answer(j);
	json_str(j, "command", "watch");
	json_str(j, "kind", f->ncycle ? "deadlock" : "none");
	json_bool(j, "library", false);
	json_int(j, "pid", f->pid);
	json_begin_array(j, "cycle");
	for (size_t i = 0; i < f->ncycle; i++)
		json_int(j, NULL, f->threads[f->cycle[i]].tid);
	json_end(j);
	json_begin_array(j, "threads");
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct foreign_thread *t = &f->threads[i];

		json_begin_object(j, NULL);
		json_int(j, "tid", t->tid);
		if (t->owner)
			json_int(j, "waits_for", t->owner);
		json_begin_array(j, "stack");
		for (size_t k = 0; k < t->nframes; k++) {
			json_begin_object(j, NULL);
			json_str(j, "function", t->frames[k].function);
			json_str(j, "file", t->frames[k].file);
			json_int(j, "line", t->frames[k].line);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* ---- the formats ---- */

void fingerprint_json(const struct fingerprint *f, const struct report_view *view,
		      struct strbuf *out)
{
	struct json j;

	(void)view;
	json_init(&j);
	add_fingerprint(&j, f);
	json_finish(&j, out);
}

void merge_json(struct merge *m, const struct report_view *view, struct strbuf *out)
{
	struct json j;

	(void)view;
	merge_sort(m);
	json_init(&j);
	add_merge(&j, m);
	json_finish(&j, out);
}

void foreign_json(const struct foreign *f, const struct report_view *view, struct strbuf *out)
{
	struct json j;

	(void)view;
	json_init(&j);
	add_foreign(&j, f);
	json_finish(&j, out);
}
