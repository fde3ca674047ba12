/* deadlock/fingerprint.c - give a snapshot names, and a deadlock a bucket.
 *
 * The bucket must be the same for the same deadlock elsewhere: no addresses, no ids, no line
 * numbers (a comment added above must not matter), no inlining (a machine without debug info still
 * has function names). It is the hash of the set of (kind, where held, where wanted) over the
 * cycle, a place being the names of the innermost real functions. A set, so that five philosophers
 * and fifty fall into one bucket. The build bucket is the same with build-ids and offsets for
 * names: equal for one build even where one of the machines had no symbols at all. */
#include "deadlock/fingerprint.h"

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "debug/modules.h"

#include <stdlib.h>
#include <string.h>

#define BUCKET_FRAMES 6

static const char *fp_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[WATCH_MUTEX] = "mutex",   [WATCH_READ] = "rwlock",	[WATCH_WRITE] = "rwlock",
		[WATCH_SPIN] = "spinlock", [WATCH_COND] = "condition",	[WATCH_JOIN] = "thread",
		[WATCH_SEM] = "semaphore", [WATCH_BARRIER] = "barrier",
	};

	return kind < ARRAY_SIZE(names) && names[kind] ? names[kind] : "lock";
}

const char *fp_lock_text(const struct fingerprint *f, uint32_t lock, char *buf, size_t size)
{
	const struct fp_lock *l = &f->locks[lock];

	if (l->name)
		snprintf(buf, size, "%s %s", l->kind, l->name);
	else
		snprintf(buf, size, "%s #%u", l->kind, l->number);
	return buf;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const struct fp_frame *fp_site(const struct fp_stack *s)
{
	static const char *const plumbing[] = { "std::", "__gthread", "__gnu_cxx::", "boost::" };

	for (size_t i = 0; i < s->n; i++) {
		const char *function = s->frames[i].function;
		bool skip = false;

		for (size_t k = 0; function && k < ARRAY_SIZE(plumbing); k++)
			skip |= strncmp(function, plumbing[k], strlen(plumbing[k])) == 0 ||
				(strncmp(function, "void ", 5) == 0 &&
				 strncmp(function + 5, plumbing[k], strlen(plumbing[k])) == 0);
		if (!skip)
			return &s->frames[i];
	}
	return s->n ? &s->frames[0] : NULL;
}

const struct fp_use *fp_wants(const struct fp_thread *t)
{
	if (t->state != WATCH_LIVE || t->nuses == 0 || t->uses[t->nuses - 1].state != WATCH_WANT)
		return NULL;
	return &t->uses[t->nuses - 1];
}

const struct fp_thread *fp_holder(const struct fingerprint *f, const struct fp_thread *t,
				  const struct fp_use *wish)
{
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct fp_thread *other = &f->threads[i];

		for (size_t k = 0; k < other->nuses; k++)
			if (other->uses[k].state == WATCH_HELD &&
			    other->uses[k].lock == wish->lock && !other->uses[k].doubted &&
			    (other != t || &other->uses[k] != wish))
				return other;
	}
	return NULL;
}

/* ---- names ---- */

struct naming {
	struct fingerprint *f;
	const struct snapshot *s;
	struct modules *modules;
	struct map locks; /* address -> index */
	unsigned unnamed;
};

static struct module *open_module(struct naming *n, const struct module_range *m)
{
	struct module *ret;
	struct err *err = modules_get(n->modules, m->path, m->build_id, &ret);

	if (err && !n->f->problem)
		n->f->problem = arena_strdup(&n->f->arena, err_message(err));
	err_free(err);
	return err ? NULL : ret;
}

static void find_frames(struct naming *n, const struct module_range *m, uint64_t offset,
			struct source_frames *ret)
{
	struct module *module = open_module(n, m);

	if (module)
		module_frames(module, offset, ret);
}

static void name_stack(struct naming *n, const struct call_stack *given, struct fp_stack *to)
{
	VEC(struct fp_frame) frames = { 0 };
	struct call_stack stack = *given, *from = &stack;

	if (from->nwords && n->modules)
		call_stack_unwind(n->s, n->modules, from);
	to->truncated = from->truncated;
	for (unsigned i = 0; i < from->n; i++) {
		uint64_t pc = from->pc[i] - 1; /* the call, not what comes after it */
		const struct module_range *m = snapshot_module(n->s, pc);
		struct source_frames found = { 0 };
		struct fp_frame frame = { .offset = m ? pc - m->bias : pc };

		if (pc >= n->s->self_start && pc < n->s->self_end)
			continue;
		if (m) {
			frame.module = arena_strdup(&n->f->arena, m->path);
			frame.build_id = arena_strdup(&n->f->arena, m->build_id);
		}
		if (m && n->modules)
			find_frames(n, m, frame.offset, &found);
		if (!found.len)
			vec_push(&frames, frame);
		for (size_t k = 0; k < found.len; k++) {
			frame.function =
				found.data[k].function
					? arena_strdup(&n->f->arena, found.data[k].function)
					: NULL;
			frame.file = found.data[k].file
					     ? arena_strdup(&n->f->arena, found.data[k].file)
					     : NULL;
			frame.line = found.data[k].line;
			frame.inlined = found.data[k].inlined;
			vec_push(&frames, frame);
		}
		vec_deinit(&found);
	}
	to->n = frames.len;
	if (frames.len)
		to->frames =
			arena_memdup(&n->f->arena, frames.data, frames.len * sizeof(*frames.data));
	vec_deinit(&frames);
}

static uint32_t name_lock(struct naming *n, uint64_t address, uint8_t kind)
{
	struct fingerprint *f = n->f;
	uint64_t *known = map_find(&n->locks, address);
	const struct module_range *m = snapshot_module(n->s, address);
	struct fp_lock *l;

	if (known)
		return (uint32_t)*known;
	if (f->nlocks == f->caplocks) {
		f->caplocks = f->caplocks ? f->caplocks * 2 : 8;
		f->locks = xreallocarray(f->locks, f->caplocks, sizeof(*f->locks));
	}
	l = &f->locks[f->nlocks];
	*l = (struct fp_lock){ .address = address, .kind = fp_kind_name(kind) };
	if (m && n->modules && kind != WATCH_JOIN) {
		struct module *module = open_module(n, m);
		struct strbuf name = { 0 };

		if (module && module_global_name(module, address - m->bias, &name))
			l->name = arena_strdup(&f->arena, strbuf_str(&name));
		strbuf_deinit(&name);
	}
	if (!l->name)
		l->number = ++n->unnamed;
	map_put(&n->locks, address, f->nlocks);
	return (uint32_t)f->nlocks++;
}

static void name_order(struct naming *n, const struct lock_order *from, struct fp_order *to)
{
	to->outer = from->outer ? name_lock(n, from->outer, from->outer_kind) : UINT32_MAX;
	to->inner = name_lock(n, from->inner, from->inner_kind);
	name_stack(n, &from->outer_stack, &to->outer_stack);
	name_stack(n, &from->inner_stack, &to->inner_stack);
}

static const char *thread_by_handle(const struct snapshot *s, uint64_t handle)
{
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].pthread == handle && s->threads[i].state == WATCH_LIVE)
			return s->threads[i].name;
	return NULL;
}

static void name_thread(struct naming *n, const struct thread_uses *from, struct fp_thread *to)
{
	struct arena *a = &n->f->arena;

	to->name = arena_strdup(a, from->name[0] ? from->name : "?");
	to->tid = from->tid;
	to->state = from->state;
	to->lost = from->lost;
	to->moving = from->moving;
	to->nuses = from->nuses;
	to->uses = arena_array(a, struct fp_use, from->nuses);
	for (size_t i = 0; i < from->nuses; i++) {
		const struct lock_use *u = &from->uses[i];

		to->uses[i].lock = name_lock(n, u->object, u->kind);
		to->uses[i].kind = u->kind;
		to->uses[i].state = u->state;
		to->uses[i].flags = u->flags;
		to->uses[i].count = u->count;
		to->uses[i].doubted = u->doubted;
		if (u->kind == WATCH_JOIN && thread_by_handle(n->s, u->object))
			to->uses[i].joined = arena_strdup(a, thread_by_handle(n->s, u->object));
		name_stack(n, &u->stack, &to->uses[i].stack);
	}
	to->nreleases = from->nreleases;
	to->releases = arena_array(a, struct fp_order, from->nreleases);
	for (size_t i = 0; i < from->nreleases; i++)
		name_order(n, &from->releases[i], &to->releases[i]);
}

/* ---- buckets ---- */

/* "foo.constprop.0" and "foo" are the same function to a reader. */
static void add_function(struct strbuf *out, const struct fp_frame *fr, bool by_build)
{
	if (!by_build && fr->function) {
		size_t n = strcspn(fr->function, ".");

		strbuf_add(out, fr->function, n ? n : strlen(fr->function));
	} else if (by_build && fr->build_id && *fr->build_id) {
		strbuf_addf(out, "%s+%llx", fr->build_id, (unsigned long long)fr->offset);
	} else {
		strbuf_addf(out, "%s+%llx", fr->module ? base_name(fr->module) : "?",
			    (unsigned long long)fr->offset);
	}
	strbuf_addc(out, '\n');
}

static void add_place(struct strbuf *out, const struct fp_stack *s, bool by_build)
{
	unsigned taken = 0;

	for (size_t i = 0; i < s->n && taken < BUCKET_FRAMES; i++) {
		if (s->frames[i].inlined)
			continue;
		add_function(out, &s->frames[i], by_build);
		taken++;
	}
	strbuf_addc(out, '|');
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Hash a set of strings, which it frees. */
static void hash_set(char **texts, size_t n, char ret[17])
{
	uint64_t h = 0x756e706c616974ull;

	qsort(texts, n, sizeof(*texts), compare_text);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
			h = hash_bytes(texts[i], strlen(texts[i]), h);
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	snprintf(ret, 17, "%016llx", (unsigned long long)h);
}

static const struct fp_use *edge_want(const struct fingerprint *f, const struct wait_edge *e)
{
	return &f->threads[e->thread].uses[e->want];
}

static const struct fp_use *edge_held(const struct fingerprint *f, const struct wait_edge *e)
{
	return &f->threads[e->holder].uses[e->held];
}

static void cycle_bucket(const struct fingerprint *f, const struct fp_cycle *c, bool by_build,
			 char ret[17])
{
	char **texts = xcalloc(c->len, sizeof(*texts));

	/* thread i: what the one before it wants from it, and what it wants itself */
	for (size_t i = 0; i < c->len; i++) {
		const struct fp_use *held = edge_held(f, &c->edges[(i + c->len - 1) % c->len]);
		const struct fp_use *want = edge_want(f, &c->edges[i]);
		struct strbuf sb = { 0 };

		strbuf_addf(&sb, "%u,%u|", held->kind, want->kind);
		add_place(&sb, &held->stack, by_build);
		add_place(&sb, &want->stack, by_build);
		texts[i] = strbuf_detach(&sb);
	}
	hash_set(texts, c->len, ret);
	free(texts);
}

static void stuck_bucket(const struct fingerprint *f, char ret[17])
{
	char **texts = xcalloc(f->nthreads + 1, sizeof(*texts));
	size_t n = 0;

	for (size_t i = 0; i < f->nthreads; i++) {
		const struct fp_use *want = fp_wants(&f->threads[i]);
		struct strbuf sb = { 0 };

		if (!want)
			continue;
		strbuf_addf(&sb, "%u|", want->kind);
		add_place(&sb, &want->stack, false);
		texts[n++] = strbuf_detach(&sb);
	}
	hash_set(texts, n, ret);
	free(texts);
}

/* ---- the whole ---- */

static void copy_cycles(struct fingerprint *f, const struct deadlock *d)
{
	f->ncycles = d->ncycles;
	f->ndeadlocks = d->ndeadlocks;
	f->cycles = arena_array(&f->arena, struct fp_cycle, d->ncycles);
	for (size_t i = 0; i < d->ncycles; i++) {
		struct fp_cycle *c = &f->cycles[i];

		c->len = d->cycles[i].len;
		c->timed = d->cycles[i].timed;
		c->edges = arena_memdup(&f->arena, d->cycles[i].edges, c->len * sizeof(*c->edges));
		cycle_bucket(f, c, false, c->bucket);
		cycle_bucket(f, c, true, c->build_bucket);
	}
}

struct fingerprint *fingerprint_new(const struct snapshot *s, const struct deadlock *d,
				    struct modules *modules)
{
	struct fingerprint *f = xcalloc(1, sizeof(*f));
	struct naming n = { .f = f, .s = s, .modules = modules };

	f->program = arena_strdup(&f->arena, s->command ? s->command : "?");
	f->pid = s->pid;
	f->lost_threads = s->lost_threads;
	f->unwatched = s->unwatched;
	f->verified = s->has_memory;
	f->stuck = d->stuck;
	f->nthreads = s->nthreads;
	f->threads = arena_array(&f->arena, struct fp_thread, s->nthreads);
	for (size_t i = 0; i < s->nthreads; i++)
		name_thread(&n, &s->threads[i], &f->threads[i]);
	copy_cycles(f, d);
	f->ninversions = d->ninversions;
	f->inversions = arena_array(&f->arena, struct fp_inversion, d->ninversions);
	for (size_t i = 0; i < d->ninversions; i++) {
		for (unsigned k = 0; k < 2; k++) {
			f->inversions[i].thread[k] = d->inversions[i].thread[k];
			name_order(&n, d->inversions[i].order[k], &f->inversions[i].order[k]);
		}
	}
	if (f->ndeadlocks)
		memcpy(f->bucket, f->cycles[0].bucket, sizeof(f->bucket));
	else if (f->stuck)
		stuck_bucket(f, f->bucket);
	else if (f->ncycles)
		memcpy(f->bucket, f->cycles[0].bucket, sizeof(f->bucket));
	map_deinit(&n.locks);
	return f;
}

void fingerprint_free(struct fingerprint *f)
{
	if (!f)
		return;
	arena_deinit(&f->arena);
	free(f->locks);
	free(f);
}

const char *fingerprint_kind(const struct fingerprint *f)
{
	return f->ndeadlocks ? "deadlock" : f->stuck ? "stuck" : f->ncycles ? "timed" : "none";
}

const char *fingerprint_bucket(const struct fingerprint *f)
{
	return f->bucket;
}
