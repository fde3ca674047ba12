/* sched/happens.c - the rules of happens.def, carried out on vector clocks.
 *
 * Every thread has a clock: for each other thread the time up to which it knows what that one did.
 * To release is to copy one's clock into an object, to acquire is to take the maximum with it; the
 * entry of a thread in its own clock is the time of its last release, as nobody can know more.
 *
 * Atomics, as C11 5.1.2.4 and C++17 [intro.races] have it. An object's `released` clock is what a
 * reader of its present value may acquire: the clocks of the releases whose release sequence the
 * value belongs to. A store begins anew (but continues what the same thread has released, as the
 * standards did until C++20: we say less rather than too much). A read-modify-write continues
 * whatever is there. A relaxed write carries the clock of its thread's last release fence; what a
 * relaxed read saw becomes known at the next acquire fence.
 *
 * Barriers. Who arrives last completes the round, and all of the round learn of each other right
 * there: until they leave they do nothing, so nobody can tell that this is early. A thread that is
 * in the next round already does not mix with them.
 *
 * A lock remembers who has it alone. When that thread gives it back, its clock replaces what was
 * there (it has acquired that); a reader adds to the readers' clock, which writers acquire and other
 * readers do not. A robust mutex whose owner died passes on all that the owner did. */
#include "sched/happens.h"

#include <errno.h>
#include <string.h>

enum rule {
	RULE_NONE,
	RULE_TAKE,
	RULE_TAKE_SHARED,
	RULE_GIVE,
	RULE_TAKE_SECOND,
	RULE_GIVE_SECOND,
	RULE_POST,
	RULE_RECEIVE,
	RULE_ARRIVE,
	RULE_FORGET,
	RULE_FORK,
	RULE_JOIN,
	RULE_EXIT,
	RULE_LOAD,
	RULE_STORE,
	RULE_EXCHANGE,
	RULE_FENCE,
};

static const uint8_t rules[PLAIT_EV_COUNT] = {
#define HAPPENS(kind, rule) [PLAIT_EV_##kind] = RULE_##rule,
#include "unplait/happens.def"
#undef HAPPENS
};

enum { FIRST_THREADS = 8, FIRST_OBJECTS = 64 };
enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

/* The same address can be several things: an atomic word is a futex, too. */
enum space { SPACE_LOCK = 1, SPACE_ATOMIC, SPACE_POST };

/* ---- memory ---- */

static void *get(struct happens *h, size_t bytes)
{
	void *p = h->full ? NULL : h->get(h->context, bytes);

	h->full |= p == NULL;
	return p;
}

static bool clock_reserve(struct happens *h, struct happens_clock *c, uint32_t len)
{
	uint32_t room = h->threads_room > len ? h->threads_room : len;
	uint32_t *at;

	if (c->len >= len)
		return true;
	at = get(h, room * sizeof(*at));
	if (!at)
		return false;
	if (c->len)
		memcpy(at, c->at, c->len * sizeof(*at));
	c->at = at;
	c->len = room;
	return true;
}

static void clock_clear(struct happens_clock *c)
{
	if (c->len)
		memset(c->at, 0, c->len * sizeof(*c->at));
}

static void clock_join(struct happens *h, struct happens_clock *to,
		       const struct happens_clock *from)
{
	if (!from->len || !clock_reserve(h, to, from->len))
		return;
	for (uint32_t i = 0; i < from->len; i++)
		if (to->at[i] < from->at[i])
			to->at[i] = from->at[i];
}

static void clock_set(struct happens *h, struct happens_clock *to, const struct happens_clock *from)
{
	clock_clear(to);
	clock_join(h, to, from);
}

/* ---- threads and objects ---- */

static bool grow_threads(struct happens *h, uint32_t need)
{
	uint32_t room = h->threads_room ? h->threads_room : FIRST_THREADS;
	struct happens_thread *threads;
	uint32_t *floor;

	while (room < need)
		room *= 2;
	threads = get(h, room * sizeof(*threads));
	floor = get(h, room * sizeof(*floor));
	if (!threads || !floor)
		return false;
	if (h->nthreads) {
		memcpy(threads, h->threads, h->nthreads * sizeof(*threads));
		memcpy(floor, h->floor, h->nthreads * sizeof(*floor));
	}
	h->threads = threads;
	h->floor = floor;
	h->threads_room = room;
	return true;
}

static struct happens_thread *new_thread(struct happens *h, uint32_t i)
{
	if (i >= h->threads_room && (i >= PLAIT_MAX_THREADS || !grow_threads(h, i + 1)))
		return NULL;
	if (i >= h->nthreads)
		h->nthreads = i + 1;
	if (!h->threads[i].begun) {
		h->threads[i].begun = true;
		clock_reserve(h, &h->threads[i].now, i + 1);
	}
	return h->full ? NULL : &h->threads[i];
}

static inline struct happens_thread *thread_of(struct happens *h, uint32_t i)
{
	if (i < h->nthreads && h->threads[i].begun && !h->full)
		return &h->threads[i];
	return new_thread(h, i);
}

static uint64_t key_of(enum space space, uint64_t address)
{
	return (uint64_t)space << 60 | (address & ~(15ull << 60));
}

static struct happens_object *place_of(struct happens *h, uint64_t key)
{
	uint32_t mask = h->objects_room - 1;
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (h->objects[i].key && h->objects[i].key != key)
		i = (i + 1) & mask;
	return &h->objects[i];
}

static bool grow_objects(struct happens *h)
{
	struct happens_object *old = h->objects;
	uint32_t n = h->objects_room, room = n ? n * 2 : FIRST_OBJECTS;
	struct happens_object *objects = get(h, room * sizeof(*objects));

	if (!objects)
		return false;
	h->objects = objects;
	h->objects_room = room;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].key)
			*place_of(h, old[i].key) = old[i];
	return true;
}

/* NULL: it has no clock, so nothing was released into it. */
static struct happens_object *find_object(struct happens *h, enum space space, uint64_t address)
{
	struct happens_object *o;

	if (!h->nobjects)
		return NULL;
	o = place_of(h, key_of(space, address));
	return o->key ? o : NULL;
}

/* NULL only when there is no memory. */
static struct happens_object *object_of(struct happens *h, enum space space, uint64_t address)
{
	struct happens_object *o;

	if (2 * h->nobjects >= h->objects_room && !grow_objects(h))
		return NULL;
	o = place_of(h, key_of(space, address));
	if (!o->key) {
		o->key = key_of(space, address);
		h->nobjects++;
	}
	return o;
}

void happens_init(struct happens *h, happens_get_fn *fn, void *context)
{
	*h = (struct happens){ .get = fn, .context = context };
}

/* ---- what everybody knows ---- */

/* Threads that have not begun yet will know what their parent does, so the living are enough. */
static void lift_floor(struct happens *h)
{
	for (uint32_t t = 0; t < h->nthreads; t++) {
		uint32_t least = UINT32_MAX;

		for (uint32_t u = 0; u < h->nthreads && least; u++) {
			const struct happens_thread *other = &h->threads[u];
			uint32_t knows = happens_clock_of(&other->now, t);

			if (u != t && other->begun && !other->ended && knows < least)
				least = knows;
		}
		if (least != UINT32_MAX && least > h->floor[t])
			h->floor[t] = least;
	}
}

uint32_t happens_floor(const struct happens *h, uint32_t thread)
{
	return thread < h->nthreads ? h->floor[thread] : 0;
}

const struct happens_clock *happens_knows(struct happens *h, uint32_t thread)
{
	static const struct happens_clock nothing;
	struct happens_thread *t = thread_of(h, thread);

	return t ? &t->now : &nothing;
}

/* ---- locks and messages ---- */

static bool obtained(const struct happens_event *e)
{
	return e->result == 0 || e->result == EOWNERDEAD;
}

static void take(struct happens *h, const struct happens_event *e, struct happens_thread *t,
		 uint64_t address, bool shared)
{
	struct happens_object *o = object_of(h, SPACE_LOCK, address);

	if (!o)
		return;
	clock_join(h, &t->now, &o->released);
	if (shared)
		return;
	clock_join(h, &t->now, &o->readers);
	if (e->result == EOWNERDEAD && o->holder && o->holder != e->thread + 1) {
		struct happens_thread *died = &h->threads[o->holder - 1];

		clock_join(h, &t->now, &died->now);
		if (clock_reserve(h, &t->now, o->holder))
			t->now.at[o->holder - 1] = e->time;
	}
	o->holder = e->thread + 1;
}

/* From here on what the thread does is not known by who acquires what it releases now. */
static void released_now(struct happens_thread *t, const struct happens_event *e)
{
	t->now.at[e->thread] = e->time;
}

static void give(struct happens *h, const struct happens_event *e, struct happens_thread *t,
		 uint64_t address)
{
	struct happens_object *o = object_of(h, SPACE_LOCK, address);

	if (!o)
		return;
	released_now(t, e);
	if (o->holder == e->thread + 1) {
		clock_set(h, &o->released, &t->now);
		clock_clear(&o->readers);
		o->holder = 0;
	} else {
		clock_join(h, &o->readers, &t->now);
	}
}

static void post(struct happens *h, const struct happens_event *e, struct happens_thread *t)
{
	struct happens_object *o = object_of(h, SPACE_POST, e->object);

	if (!o)
		return;
	released_now(t, e);
	clock_join(h, &o->released, &t->now);
}

static void receive(struct happens *h, const struct happens_event *e, struct happens_thread *t)
{
	const struct happens_object *o = find_object(h, SPACE_POST, e->object);

	if (o)
		clock_join(h, &t->now, &o->released);
}

static void forget(struct happens *h, const struct happens_event *e)
{
	for (enum space s = SPACE_LOCK; s <= SPACE_POST; s++) {
		struct happens_object *o = s == SPACE_ATOMIC ? NULL : find_object(h, s, e->object);

		if (!o)
			continue;
		clock_clear(&o->released);
		clock_clear(&o->readers);
		o->holder = o->arrived = 0;
	}
}

static void arrive(struct happens *h, const struct happens_event *e, struct happens_thread *t)
{
	struct happens_object *o = object_of(h, SPACE_LOCK, e->object);

	if (!o)
		return;
	if (o->arrived >= o->nwaiting) {
		uint32_t room = o->nwaiting ? 2 * o->nwaiting : FIRST_THREADS;
		uint32_t *waiting = get(h, room * sizeof(*waiting));

		if (!waiting)
			return;
		if (o->arrived)
			memcpy(waiting, o->waiting, o->arrived * sizeof(*waiting));
		o->waiting = waiting;
		o->nwaiting = room;
	}
	o->waiting[o->arrived++] = e->thread;
	released_now(t, e);
	clock_join(h, &o->readers, &t->now);
	if (o->arrived < e->n)
		return;
	for (uint32_t i = 0; i < o->arrived; i++)
		clock_join(h, &h->threads[o->waiting[i]].now, &o->readers);
	clock_clear(&o->readers);
	o->arrived = 0;
	lift_floor(h);
}

/* ---- threads ---- */

static void fork_thread(struct happens *h, const struct happens_event *e)
{
	/* the child first: the table may grow */
	struct happens_thread *child = thread_of(h, e->other), *t = thread_of(h, e->thread);

	if (!child || !t)
		return;
	released_now(t, e);
	clock_join(h, &child->now, &t->now);
	lift_floor(h);
}

static void join_thread(struct happens *h, const struct happens_event *e)
{
	struct happens_thread *child = thread_of(h, e->other), *t = thread_of(h, e->thread);

	if (!child || !t || e->other == e->thread)
		return;
	clock_join(h, &t->now, &child->now);
	if (clock_reserve(h, &t->now, e->other + 1))
		t->now.at[e->other] = e->time;
	child->ended = true;
	lift_floor(h);
}

/* ---- atomics ---- */

static bool acquires(uint32_t order)
{
	return order != RELAXED && order != RELEASE;
}

static bool releases(uint32_t order)
{
	return order >= RELEASE;
}

static void load(struct happens *h, const struct happens_event *e, struct happens_thread *t)
{
	const struct happens_object *o = find_object(h, SPACE_ATOMIC, e->object);

	if (!o)
		return;
	clock_join(h, acquires(e->order) ? &t->now : &t->pending, &o->released);
}

static void store(struct happens *h, const struct happens_event *e, struct happens_thread *t,
		  bool continues)
{
	struct happens_object *o = object_of(h, SPACE_ATOMIC, e->object);

	if (!o)
		return;
	if (!continues && o->holder != e->thread + 1) {
		clock_clear(&o->released);
		o->holder = 0;
	}
	if (releases(e->order)) {
		released_now(t, e);
		clock_join(h, &o->released, &t->now);
		o->holder = e->thread + 1;
	} else if (t->fenced) {
		clock_join(h, &o->released, &t->released);
	}
}

static void release_fence(struct happens *h, const struct happens_event *e,
			  struct happens_thread *t)
{
	released_now(t, e);
	clock_set(h, &t->released, &t->now);
	t->fenced = true;
}

/* ---- all of them ---- */

static enum rule rule_of(const struct happens_event *e)
{
	return e->kind < PLAIT_EV_COUNT ? (enum rule)rules[e->kind] : RULE_NONE;
}

void happens_acquire(struct happens *h, const struct happens_event *e)
{
	enum rule rule = rule_of(e);
	struct happens_thread *t = rule ? thread_of(h, e->thread) : NULL;

	if (!t)
		return;
	switch (rule) {
	case RULE_TAKE:
	case RULE_TAKE_SHARED:
		if (obtained(e))
			take(h, e, t, e->object, rule == RULE_TAKE_SHARED);
		break;
	case RULE_TAKE_SECOND:
		take(h, e, t, e->object2, false); /* after a timeout, too */
		break;
	case RULE_RECEIVE:
		if (e->result == 0)
			receive(h, e, t);
		break;
	case RULE_LOAD:
	case RULE_EXCHANGE:
		load(h, e, t);
		break;
	case RULE_FENCE:
		if (acquires(e->order))
			clock_join(h, &t->now, &t->pending);
		break;
	case RULE_JOIN:
		if (e->result == 0)
			join_thread(h, e);
		break;
	default:
		break;
	}
}

void happens_release(struct happens *h, const struct happens_event *e)
{
	enum rule rule = rule_of(e);
	struct happens_thread *t = rule ? thread_of(h, e->thread) : NULL;

	if (!t)
		return;
	switch (rule) {
	case RULE_GIVE:
		if (e->result == 0)
			give(h, e, t, e->object);
		break;
	case RULE_GIVE_SECOND:
		give(h, e, t, e->object2);
		break;
	case RULE_POST:
		post(h, e, t);
		break;
	case RULE_ARRIVE:
		arrive(h, e, t);
		break;
	case RULE_FORGET:
		forget(h, e);
		break;
	case RULE_FORK:
		fork_thread(h, e);
		break;
	case RULE_EXIT:
		t->ended = true;
		lift_floor(h);
		break;
	case RULE_STORE:
		store(h, e, t, false);
		break;
	case RULE_EXCHANGE:
		if (e->wrote)
			store(h, e, t, true);
		break;
	case RULE_FENCE:
		if (releases(e->order))
			release_fence(h, e, t);
		break;
	default:
		break;
	}
}

void happens_event(struct happens *h, const struct happens_event *e)
{
	happens_acquire(h, e);
	happens_release(h, e);
}
