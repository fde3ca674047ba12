/* crumbs/locks.c - who held and wanted which lock: what `watch` noted (001 section 7.1).
 *
 * A fingerprint is read back from the JSON that `watch -o` writes; an area is what a watched process leaves when it
 * is killed, and becomes a fingerprint first. A thread's uses are in the order in which it took its locks. */
#include "crumbs/kinds.h"

#include "base/err.h"
#include "base/json-read.h"
#include "base/mem.h"
#include "deadlock/fingerprint.h"
#include "debug/modules.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 256, USES_MOST = 4096 };

static struct crumb_use *add_use(struct crumbs *c, const char *thread, uint32_t tid, bool wanted,
				 const char *lock, size_t frames)
{
	struct crumb_use *u = vec_add(&c->uses);

	u->thread = arena_strdup(&c->arena, thread ? thread : "");
	u->tid = tid;
	u->wanted = wanted;
	u->lock = lock ? arena_strdup(&c->arena, lock) : NULL;
	u->npoints = MIN(frames, (size_t)FRAMES_MOST);
	u->points = arena_alloc(&c->arena, (u->npoints + 1) * sizeof(*u->points));
	u->file = c->files.len - 1;
	return u;
}

static const char *keep(struct crumbs *c, const char *s)
{
	return s ? arena_strdup(&c->arena, s) : NULL;
}

/* ---- JSON ---- */

static void read_use(struct crumbs *c, const cJSON *thread, const cJSON *use, bool wanted)
{
	const cJSON *stack = cJSON_GetObjectItem(use, "stack"), *frame;
	struct crumb_use *u;
	size_t i = 0;

	if (!cJSON_IsObject(use) || c->uses.len >= USES_MOST)
		return;
	u = add_use(c, json_get_text(thread, "thread"), json_get_uint32(thread, "tid"), wanted,
		    json_get_text(cJSON_GetObjectItem(use, "lock"), "name"),
		    (size_t)cJSON_GetArraySize(stack));
	cJSON_ArrayForEach(frame, stack)
	{
		if (i == u->npoints)
			break;
		u->points[i++] = (struct crumb_point){
			.function = keep(c, json_get_text(frame, "function")),
			.file = keep(c, json_get_text(frame, "file")),
			.module = keep(c, json_get_text(frame, "module")),
			.build_id = keep(c, json_get_text(frame, "build_id")),
			.line = json_get_uint32(frame, "line"),
			.offset = json_get_hex(frame, "offset"),
		};
	}
}

struct err *crumbs_read_fingerprint(struct crumbs *c, const char *text, size_t len)
{
	cJSON *o = cJSON_ParseWithLength(text, len);
	const char *command = json_get_text(o, "command");
	size_t before = c->uses.len;
	const cJSON *thread, *use;

	if (!o || !command || strcmp(command, "watch") != 0) {
		cJSON_Delete(o);
		return err_new(ERR_ENV, o ? "no crumb: this JSON is no fingerprint of watch"
					  : "no crumb: damaged JSON");
	}
	cJSON_ArrayForEach(thread, cJSON_GetObjectItem(o, "threads"))
	{
		cJSON_ArrayForEach(use, cJSON_GetObjectItem(thread, "holds"))
			read_use(c, thread, use, false);
		read_use(c, thread, cJSON_GetObjectItem(thread, "wants"), true);
	}
	cJSON_Delete(o);
	return c->uses.len > before
		       ? NULL
		       : err_new(ERR_ENV,
				 "no crumb: no thread of this fingerprint holds or wants a lock");
}

/* ---- an area ---- */

static void take_use(struct crumbs *c, const struct fingerprint *f, const struct fp_thread *t,
		     const struct fp_use *from)
{
	struct crumb_use *u;

	if (c->uses.len >= USES_MOST || (from->state != WATCH_HELD && from->state != WATCH_WANT))
		return;
	u = add_use(c, t->name, t->tid, from->state == WATCH_WANT, f->locks[from->lock].name,
		    from->stack.n);
	for (size_t i = 0; i < u->npoints; i++) {
		const struct fp_frame *fr = &from->stack.frames[i];

		u->points[i] = (struct crumb_point){ .function = keep(c, fr->function),
						     .file = keep(c, fr->file),
						     .module = keep(c, fr->module),
						     .build_id = keep(c, fr->build_id),
						     .line = fr->line,
						     .offset = fr->offset };
	}
}

struct err *crumbs_read_area(struct crumbs *c, const char *path)
{
	struct snapshot s = { 0 };
	struct deadlock d = { 0 };
	struct modules *modules;
	struct fingerprint *f;
	struct err *err = snapshot_from_file(path, &s);

	if (err)
		return err;
	modules = modules_new();
	deadlock_find(&s, &d);
	f = fingerprint_new(&s, &d, modules);
	for (size_t i = 0; i < f->nthreads; i++)
		for (size_t k = 0; k < f->threads[i].nuses; k++)
			take_use(c, f, &f->threads[i], &f->threads[i].uses[k]);
	fingerprint_free(f);
	deadlock_deinit(&d);
	modules_free(modules);
	snapshot_deinit(&s);
	return c->uses.len ? NULL
			   : err_new(ERR_ENV, "%s: no thread in it holds or wants a lock", path);
}
