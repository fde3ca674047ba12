/* explain/show/readers.c - a change under a lock that is held for reading only, in words (find/readers.c). */
#include "explain/show/readers.h"

#include "base/err.h"
#include "explain/find/readers.h"
#include "unplait/abi.h"

#include <string.h>

struct told {
	const char *object, *where, *thread;
};

static struct err *tell(struct labels *p, const struct steps *s, uint32_t i, struct told *ret)
{
	struct shown_event e = { 0 };
	struct err *err = labels_event(p, &s->data[i], &e);

	if (err)
		return err;
	ret->object = e.object && !labels_is_anonymous(e.object) ? e.object : NULL;
	ret->where = labels_place(p, &e);
	ret->thread = p->x->threads[s->data[i].thread];
	return NULL;
}

struct err *readers_tell(struct labels *p, const struct steps *failing, uint32_t a, uint32_t b,
			 struct telling *out, bool *ret)
{
	struct arena *arena = &p->x->arena;
	struct told change = { 0 }, lock = { 0 }, other = { 0 };
	struct readers r;
	struct err *err;

	*ret = readers_find(failing, a, b, &r);
	if (!*ret)
		return NULL;
	err = tell(p, failing, r.change, &change);
	if (!err)
		err = tell(p, failing, r.lock, &lock);
	if (!err)
		err = tell(p, failing, r.other, &other);
	if (err)
		return err;
	if (!lock.object)
		lock.object = other.object ? other.object : "one lock";
	out->summary =
		arena_printf(arena, "%s. Both hold %s then, but for reading only (taken at %s%s%s)",
			     out->summary, lock.object, lock.where,
			     strcmp(lock.where, other.where) ? " and " : "",
			     strcmp(lock.where, other.where) ? other.where : "");
	out->advice = arena_printf(
		arena,
		"take %s for writing at %s: thread %s %s at %s, and readers do not "
		"keep each other out",
		lock.object, lock.where, change.thread,
		failing->data[r.change].kind == PLAIT_EV_FREE ? "frees memory that others use"
							      : "changes what others read",
		change.where);
	return NULL;
}
