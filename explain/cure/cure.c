/* explain/cure/cure.c - what might cure it.
 *
 * Decisive orders are pairs (x of thread A, y of thread B), x before y in the failing run: the
 * inverted pair itself, and one for each data flow that differs (the write whose value was read;
 * or a stale read and the write it should have seen). Around each, blocks that may have been meant
 * to be atomic:
 *
 *	1. z .. y in B, x in between, all on one object            (single variable)
 *	2. x .. w in A, y in between, all on one object
 *	3. x .. w in A, where w touches another object that B uses near y   (several variables)
 *	4. z .. y in B, where z touches another object that A changes near x; or A has read what
 *	   z wrote (published before it was filled in)
 *	5. z .. w in B, w the next write of y's object after y: check, then act
 *
 * If x and y are acquisitions of one lock, so are z and w: critical sections that should be one.
 *
 * Each of these once with x (or y) alone kept out of the block, and once with a block of its own:
 * what its thread does nearby to the same objects (a reader of two variables, another increment).
 *
 * In 2, 3 and 5 w may be a step that the failing run did not live to see; the passing one shows it.
 * What threads wait for for ever: waits.c. Orders of the decisive pairs: orders.c.
 *
 * What a cure is called is decided by trial (advise.c): the shortest block under which no
 * schedule fails, else the order. */
#include "explain/cure/finder.h"

#include "explain/find/guards.h"
#include "unplait/effects.h"

#include <string.h>

enum { WORDS_NEAR = 64 }; /* bytes: mostly of one object */
enum { NEAR = CURE_NEAR, MAX_DECISIVE = 6, MAX_CURES = 40, MAX_OTHERS = 3, BESIDE = 10 };

struct plait_pattern finder_place(const struct step *e)
{
	return (struct plait_pattern){
		.thread = PLAIT_ANY, .site_low = e->site, .site_high = e->site, .nth = PLAIT_ANY
	};
}

struct plait_constraint finder_block(const struct step *from, const struct step *to)
{
	return (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_ATOMIC,
					  .a = finder_place(from),
					  .b = finder_place(to) };
}

static const struct step *cure_end(const struct finder *fd, const struct cure *c)
{
	return c->to_in_passing ? &fd->g->data[c->to] : &fd->f->data[c->to];
}

uint32_t cure_held(const struct steps *s, uint32_t waiting)
{
	uint32_t released[16], n = 0;

	for (uint32_t k = waiting; k-- > 0;) {
		const struct step *e = &s->data[k];
		bool gone = false;

		if (e->thread != s->data[waiting].thread)
			continue;
		if (step_is_release(e) && n < 16)
			released[n++] = k;
		if (!step_is_acquire(e))
			continue;
		for (uint32_t i = 0; i < n && !gone; i++)
			if (s->data[released[i]].address == e->address) {
				released[i] = released[--n];
				gone = true;
			}
		if (!gone)
			return k;
	}
	return STEP_NONE;
}

/* What comes between takes part: it waits while a block is open, and if it is done in a critical
 * section, all of that does. */
static struct plait_constraint outsider(const struct finder *fd, uint32_t i)
{
	uint32_t lock = cure_held(fd->f, i), between = 0;
	struct plait_constraint c = finder_block(&fd->f->data[i], &fd->f->data[i]);

	for (uint32_t k = lock; k != STEP_NONE && k < i; k++)
		between += fd->f->data[k].thread == fd->f->data[i].thread;
	if (lock != STEP_NONE && between < NEAR && fd->f->data[lock].site &&
	    fd->f->data[lock].site != fd->f->data[i].site)
		return finder_block(&fd->f->data[lock], &fd->f->data[i]);
	c.flags = PLAIT_CONSTRAINT_SINGLE;
	return c;
}

/* Does the thread touch this object in the critical section that begins at `lock`? */
static bool in_section(const struct steps *s, uint32_t lock, const struct step *object)
{
	for (uint32_t k = lock + 1, seen = 0; k < s->len && seen < NEAR; k++) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[lock].thread)
			continue;
		seen++;
		if (step_is_release(e) && e->address == s->data[lock].address)
			return false;
		if (step_is_memory(e) && e->address == object->address)
			return true;
	}
	return false;
}

/* Two critical sections that should be one: is there a variable that both of them and the
 * intruder's use, or does each have its own? */
static enum bug_kind sections_kind(const struct finder *fd, const struct cure *c)
{
	const struct steps *f = fd->f;
	const struct step *x = &f->data[c->intruder];

	for (uint32_t k = c->intruder + 1, seen = 0; k < f->len && seen < NEAR; k++) {
		const struct step *e = &f->data[k];

		if (e->thread != x->thread)
			continue;
		seen++;
		if (step_is_release(e) && e->address == x->address)
			break;
		if (step_is_memory(e) && in_section(f, c->from, e) &&
		    in_section(c->to_in_passing ? fd->g : f, c->to, e))
			return BUG_ATOMICITY;
	}
	return BUG_MULTI_VARIABLE;
}

/* Does its thread wait for a signal inside the block? If it does not look again before the end,
 * what it checked may be stale; if it does, the block begins there, and not before the wait. */
enum waiting { NO_WAIT, STALE, LOOKS_AGAIN };

/* Was its thread at this place before, since `from`? */
static bool was_here(const struct steps *s, const struct step *e, uint32_t from, uint32_t before)
{
	for (uint32_t k = before; k-- > from;)
		if (s->data[k].thread == e->thread && s->data[k].site == e->site)
			return true;
	return false;
}

/* Does another thread change what this step looks at? */
static bool is_changed(const struct steps *s, const struct step *e)
{
	for (uint32_t k = 0; k < s->len; k++)
		if (step_writes(&s->data[k]) && step_conflicts(&s->data[k], e))
			return true;
	return false;
}

/* Is the block's last step itself the look after a wake-up? Then its thread came by there on its way to the wait,
 * in the same critical section: the condition of a loop, and the block is one turn of it. */
static bool ends_at_next_look(const struct steps *s, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; step_is_memory(&s->data[to]) && k-- > 0;) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[from].thread)
			continue;
		if (e->site == s->data[to].site)
			return true;
		if (step_is_acquire(e) || e->kind == PLAIT_EV_WOKEN)
			return false;
	}
	return false;
}

static enum waiting waits_inside(const struct finder *fd, const struct cure *c)
{
	const struct steps *s = c->to_in_passing ? fd->g : fd->f;
	uint32_t from = c->to_in_passing ? fd->p->twin_of_failing[c->from] : c->from;
	enum waiting waiting = NO_WAIT;
	bool woken = false;

	for (uint32_t k = from; from != STEP_NONE && ++k < c->to;) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[from].thread)
			continue;
		if (e->kind == PLAIT_EV_WOKEN) {
			waiting = STALE;
			woken = true;
			continue;
		}
		if (waiting == STALE && e->address == s->data[from].address)
			waiting = LOOKS_AGAIN;
		/* asked only after a wake-up: is_changed() looks at the whole run */
		if (!woken || !step_is_memory(e) || !is_changed(s, e))
			continue;
		/* the wait is in a loop already, which looks at something else */
		if (waiting == STALE && was_here(s, e, from, k))
			waiting = NO_WAIT;
		woken = false;
	}
	return waiting == STALE && ends_at_next_look(s, from, c->to) ? LOOKS_AGAIN : waiting;
}

/* The engine ends a block where its thread first comes to the last place. If that was before the
 * other thread came, the block was over. */
static bool is_over(const struct finder *fd, const struct cure *c)
{
	const struct step *from = &fd->f->data[c->from], *to = cure_end(fd, c);

	for (uint32_t k = c->from + 1; c->intruder != STEP_NONE && k < c->intruder; k++)
		if (fd->f->data[k].thread == from->thread && fd->f->data[k].site == to->site)
			return true;
	return false;
}

/* Can nobody disturb what the block begins (or ends) with? One run may have ended before anybody
 * came: both must say so. */
static bool is_alone(const struct finder *fd, const struct cure *c, bool end)
{
	bool in_passing = end && c->to_in_passing;
	uint32_t i = end ? c->to : c->from;
	uint32_t twin = in_passing ? fd->p->twin_of_passing[i] : fd->p->twin_of_failing[i];

	return twin != STEP_NONE && (in_passing ? fd->g : fd->f)->data[i].alone &&
	       (in_passing ? fd->f : fd->g)->data[twin].alone;
}

/* What is checked before a wait and used after it may be stale; what is only written before it is no
 * block with what comes after. */
static bool checks(const struct step *e)
{
	return !step_is_memory(e) || step_reads(e);
}

/* The next step of this thread; STEP_NONE. */
static uint32_t next_of(const struct steps *s, uint32_t i)
{
	uint32_t thread = s->data[i].thread;

	while (++i < s->len)
		if (s->data[i].thread == thread && s->data[i].site)
			return i;
	return STEP_NONE;
}

/* The block ends in the passing run only. The failing run ended before that, or its thread took another
 * way: then this is no block of the thread that was disturbed. */
static bool went_elsewhere(const struct finder *fd, const struct cure *c)
{
	uint32_t i = c->from, k = fd->p->twin_of_failing[i];

	while (c->to_in_passing && k != STEP_NONE && k < c->to) {
		i = next_of(fd->f, i);
		k = next_of(fd->g, k);
		if (i == STEP_NONE || k == STEP_NONE)
			return false;
		if (fd->f->data[i].pending) /* what it was about to do, or would have done later */
			while (k != STEP_NONE && k < c->to &&
			       fd->f->data[i].site != fd->g->data[k].site)
				k = next_of(fd->g, k);
		if (k == STEP_NONE || fd->f->data[i].site != fd->g->data[k].site)
			return true;
	}
	return false;
}

/* Does a lock that is made of an atomic lie around its end: given back at the beginning, by a write, and
 * taken again inside, by an update? */
static bool takes_again(const struct finder *fd, const struct cure *c)
{
	const struct steps *s = c->to_in_passing ? fd->g : fd->f;
	uint32_t from = c->to_in_passing ? fd->p->twin_of_failing[c->from] : c->from;

	if (from == STEP_NONE || s->data[from].kind != PLAIT_EV_ATOMIC_WRITE)
		return false;
	for (uint32_t k = from + 1; k <= c->to && k < s->len; k++)
		if (s->data[k].thread == s->data[from].thread &&
		    s->data[k].address == s->data[from].address &&
		    s->data[k].kind == PLAIT_EV_ATOMIC_RMW)
			return true;
	return false;
}

/* Does it read a value and end with an update that finds the same one again, which was another in between? The
 * update cannot tell that all that belongs to the value may have changed. */
static bool came_back(const struct finder *fd, const struct cure *c)
{
	const struct step *d = fd->f->data, *from = &d[c->from], *to = &d[c->to];
	bool changed = false;

	if (c->to_in_passing || !step_is_memory(from) || step_writes(from) ||
	    from->address != to->address || to->kind != PLAIT_EV_ATOMIC_RMW || !to->size ||
	    to->size != from->size || to->value != from->value)
		return false;
	for (uint32_t k = c->from + 1; k < c->to && !changed; k++)
		changed = step_is_memory(&d[k]) && d[k].address == from->address &&
			  d[k].size == from->size && d[k].value != from->value;
	return changed;
}

/* Is a lock, under which another thread has changed what the block begins with, taken after that and without a
 * second look? Where, + 1; 0: no. */
static uint32_t stale_at(const struct finder *fd, const struct cure *c)
{
	const struct step *d = fd->f->data, *from = &d[c->from];
	uint32_t taken = 0;

	if (c->intruder == STEP_NONE || !step_is_memory(from) || step_writes(from) ||
	    !step_writes(&d[c->intruder]) || d[c->intruder].address != from->address ||
	    !step_writes(cure_end(fd, c)))
		return 0;
	for (uint32_t k = c->intruder + 1; k < fd->f->len; k++) {
		const struct step *e = &d[k];

		if (e->thread != from->thread || e->pending)
			continue;
		if (taken && step_is_memory(e) && step_reads(e) && e->address == from->address)
			return 0;
		if (!taken && step_is_acquire(e) &&
		    guards_held(fd->f, c->intruder, e->address) != STEP_NONE &&
		    guards_held(fd->f, c->from, e->address) == STEP_NONE)
			taken = k + 1;
	}
	return taken;
}

/* Do the threads of these two steps share the object so that the one only writes it and the other only reads it? */
static bool is_handed_over(const struct steps *s, const struct step *a, const struct step *b)
{
	bool writes[2] = { false, false }, reads[2] = { false, false };

	for (uint32_t k = 0; k < s->len; k++) {
		const struct step *e = &s->data[k];
		int side = e->thread == a->thread ? 0 : 1;

		if ((e->thread != a->thread && e->thread != b->thread) || !step_is_memory(e) ||
		    e->pending || e->address >= a->address + a->size ||
		    a->address >= e->address + e->size)
			continue;
		writes[side] |= step_writes(e);
		reads[side] |= step_reads(e);
	}
	return (writes[0] && reads[1] && !reads[0] && !writes[1]) ||
	       (reads[0] && writes[1] && !writes[0] && !reads[1]);
}

/* Does the thread write the object, too? */
static bool is_written_by(const struct steps *s, const struct step *object, uint32_t thread)
{
	for (uint32_t k = 0; k < s->len; k++)
		if (s->data[k].thread == thread && step_is_memory(&s->data[k]) &&
		    step_writes(&s->data[k]) && s->data[k].address == object->address)
			return true;
	return false;
}

/* Has the intruder's thread seen what the block begins with, and gone on to the object that the block ends with? What
 * both of them write, a count, is no such message. */
static bool is_early(const struct finder *fd, const struct cure *c)
{
	const struct step *d = fd->f->data, *from = &d[c->from], *x;

	if (c->to_in_passing || c->intruder == STEP_NONE || !step_is_memory(from) ||
	    !step_writes(from) || d[c->to].address == from->address ||
	    !step_conflicts(&d[c->to], &d[c->intruder]) ||
	    !is_handed_over(fd->f, &d[c->to], &d[c->intruder]) ||
	    is_written_by(fd->f, from, d[c->intruder].thread))
		return false;
	x = &d[c->intruder];
	for (uint32_t k = c->intruder; k-- > c->from;)
		if (d[k].thread == x->thread && step_is_memory(&d[k]) && step_reads(&d[k]) &&
		    d[k].source == c->from)
			return true;
	return false;
}

/* Does the thread of a block that it ends in the passing run only wait in it for ever, for a signal or for
 * another's end? Who holds a lock meanwhile keeps everybody out for ever. */
static bool waits_for_ever(const struct finder *fd, uint32_t from, bool to_in_passing)
{
	for (uint32_t k = from + 1; to_in_passing && k < fd->f->len; k++) {
		const struct step *e = &fd->f->data[k];

		if (e->pending && !e->missed && e->thread == fd->f->data[from].thread &&
		    !step_is_memory(e) && !step_is_acquire(e))
			return true;
	}
	return false;
}

/* Does its thread wait inside the block for the end of the thread that it shall keep out? */
static bool joins_intruder(const struct finder *fd, const struct cure *c)
{
	const struct steps *s = c->to_in_passing ? fd->g : fd->f;
	uint32_t from = c->to_in_passing ? fd->p->twin_of_failing[c->from] : c->from;
	const struct birth *b;

	if (c->intruder == STEP_NONE || from == STEP_NONE || !s->births ||
	    fd->f->data[c->intruder].thread >= s->nthreads)
		return false;
	b = &s->births[fd->f->data[c->intruder].thread];
	return b->joiner == s->data[from].thread && b->joined > s->data[from].clock &&
	       b->joined <= s->data[c->to].clock;
}

void finder_add_block(struct finder *fd, uint32_t from, uint32_t to, bool to_in_passing,
		      uint32_t intruder, enum bug_kind kind)
{
	struct cure c = { .kind = kind,
			  .other_from = STEP_NONE,
			  .from = from,
			  .to = to,
			  .to_in_passing = to_in_passing,
			  .intruder = intruder,
			  .nconstraints = 1 };
	uint32_t first = fd->f->data[from].site, last = cure_end(fd, &c)->site;
	enum waiting waiting = waits_inside(fd, &c);

	if (fd->out->len >= fd->most || !first || !last || waiting == LOOKS_AGAIN ||
	    (waiting == STALE && !checks(&fd->f->data[from])) || is_alone(fd, &c, false) ||
	    is_alone(fd, &c, true) || is_over(fd, &c) || went_elsewhere(fd, &c) ||
	    waits_for_ever(fd, from, to_in_passing) || joins_intruder(fd, &c))
		return;
	for (size_t i = 0; i < fd->out->len; i++)
		if (fd->f->data[fd->out->data[i].from].site == first &&
		    cure_end(fd, &fd->out->data[i])->site == last)
			return;
	c.constraints[0] = finder_block(&fd->f->data[from], cure_end(fd, &c));
	c.waits = waiting == STALE;
	c.around_lock = takes_again(fd, &c) || (fd->f->data[from].kind == PLAIT_EV_ATOMIC_WRITE &&
						cure_end(fd, &c)->kind == PLAIT_EV_ATOMIC_RMW);
	c.came_back = came_back(fd, &c);
	c.early = kind == BUG_MULTI_VARIABLE && is_early(fd, &c);
	c.stale = kind == BUG_ATOMICITY ? stale_at(fd, &c) : 0;
	if (intruder != STEP_NONE) {
		c.constraints[1] = outsider(fd, intruder);
		c.block[1] = 1;
		c.nconstraints = 2;
		if (step_is_acquire(&fd->f->data[from]))
			c.kind = sections_kind(fd, &c);
	}
	vec_push(fd->out, c);
}

static bool same_object(const struct step *a, const struct step *b)
{
	return a->address == b->address;
}

/* Steps that a block can begin or end with: like for like, accesses around accesses, and
 * acquisitions around acquisitions (two critical sections that should have been one). Memory that
 * is given back is no access: the engine does not stop there, and the block would never end. */
static bool of_a_kind(const struct step *e, const struct step *reference)
{
	if (e->kind == PLAIT_EV_FREE || reference->kind == PLAIT_EV_FREE)
		return false;
	return step_is_memory(reference) ? step_is_memory(e) : step_is_acquire(e);
}

bool finder_unserializable(const struct step *first, const struct step *between,
			   const struct step *last)
{
	if (!step_is_memory(first))
		return true;
	if (step_writes(between))
		return step_reads(last) || step_reads(first);
	return step_writes(first) && step_writes(last);
}

/* Can the order of these two uses of one object matter? (Of two that only read it, it cannot.) */
static bool can_meet(const struct step *e, const struct step *other, bool changes)
{
	if (!same_object(e, other))
		return false;
	return step_writes(other) || (!changes && (step_writes(e) || !step_is_memory(e)));
}

/* Does `thread` use the object of e within NEAR of its steps around `at`, so that they can meet?
 * changes: only if it changes it. */
static bool used_near(const struct steps *s, const struct step *e, uint32_t thread, uint32_t at,
		      bool changes)
{
	uint32_t before = 0, after = 0;

	for (uint32_t k = at; k-- > 0 && before < NEAR;)
		if (s->data[k].thread == thread && ++before && can_meet(e, &s->data[k], changes))
			return true;
	for (uint32_t k = at; k < s->len && after < NEAR; k++)
		if (s->data[k].thread == thread && ++after && can_meet(e, &s->data[k], changes))
			return true;
	return false;
}

/* How many steps of its thread the block spans. */
static uint32_t block_length(const struct finder *fd, const struct cure *c)
{
	const struct steps *s = c->to_in_passing ? fd->g : fd->f;
	uint32_t from = c->to_in_passing ? fd->p->twin_of_failing[c->from] : c->from, n = 0;

	for (uint32_t k = from; k != STEP_NONE && k < c->to; k++)
		n += s->data[k].thread == s->data[c->to].thread;
	return from == STEP_NONE ? UINT32_MAX : n;
}

/* Two variables that each have a lock of their own, mostly have nothing to do with each other. */
static bool is_far_fetched(const struct finder *fd, const struct cure *c)
{
	return c->kind == BUG_MULTI_VARIABLE && !c->to_in_passing &&
	       guards_apart(fd->f, c->from, c->to);
}

uint32_t finder_cost(const struct finder *fd, const struct cure *c)
{
	uint32_t length = MIN(block_length(fd, c), 100000u);

	return (length + 1) * (c->kind == BUG_MULTI_VARIABLE ? 2 : 1) *
	       (is_far_fetched(fd, c) ? 2 : 1) * (c->to_in_passing ? 2 : 1) *
	       (c->other_from != STEP_NONE ? 2 : 1) * (c->around_lock ? 16 : 1) /
	       (c->came_back ? 2 : 1);
}

/* Rule 5: B's next write of y's object, in the failing run or after y's twin in the passing one. */
static void extend_block(struct finder *fd, uint32_t from, uint32_t x, uint32_t y)
{
	const struct step *ey = &fd->f->data[y];
	const struct steps *runs[2] = { fd->f, fd->g };
	uint32_t start[2] = { y + 1, fd->p->twin_of_failing[y] };

	for (int i = 0; i < 2; i++)
		for (uint32_t k = start[i], seen = 0;
		     k != STEP_NONE && k < runs[i]->len && seen < NEAR; k++) {
			const struct step *e = &runs[i]->data[k];

			if (e->thread != ey->thread || e->missed)
				continue;
			seen++;
			if (step_writes(e) && same_object(e, ey) && e->site != ey->site) {
				finder_add_block(fd, from, k, i == 1, x, BUG_ATOMICITY);
				return;
			}
		}
}

/* The farthest use of y's object by its thread, one way, before it takes or gives back a lock. */
static uint32_t farthest_use(const struct finder *fd, uint32_t at, int way, uint32_t y)
{
	uint32_t found = at;

	for (uint32_t k = at + (uint32_t)way, seen = 0; k < fd->f->len && seen < NEAR;
	     k += (uint32_t)way) {
		const struct step *e = &fd->f->data[k];

		if (e->thread != fd->f->data[y].thread)
			continue;
		seen++;
		if (step_is_acquire(e) || step_is_release(e))
			break;
		if (!e->pending && of_a_kind(e, &fd->f->data[y]) && same_object(e, &fd->f->data[y]))
			found = k;
	}
	return found;
}

/* Rule 1, as wide as it goes: a check at the beginning and a use at the end may have more accesses in
 * between. */
static void widest_block(struct finder *fd, uint32_t from, uint32_t x, uint32_t y)
{
	uint32_t first = farthest_use(fd, from, -1, y), last = farthest_use(fd, y, 1, y);

	if (first != from)
		finder_add_block(fd, first, y, false, x, BUG_ATOMICITY);
	if (last != y)
		finder_add_block(fd, first, last, false, x, BUG_ATOMICITY);
}

/* Has this thread read what z wrote, shortly before x? */
static bool has_seen(const struct steps *s, uint32_t z, uint32_t thread, uint32_t x)
{
	for (uint32_t k = x, seen = 0; k-- > z && seen < NEAR;)
		if (s->data[k].thread == thread && ++seen && step_reads(&s->data[k]) &&
		    s->data[k].source == z)
			return true;
	return false;
}

/* Rules 1 and 4: walk back from x over B's steps, to the first that fits, or the first few. */
static void block_in_second(struct finder *fd, uint32_t x, uint32_t y, bool same)
{
	const struct step *ey = &fd->f->data[y];
	uint64_t other = 0;
	unsigned found = 0;

	for (uint32_t k = x, seen = 0; k-- > 0 && seen < NEAR;) {
		const struct step *e = &fd->f->data[k];

		if (e->thread != ey->thread)
			continue;
		seen++;
		if (!of_a_kind(e, ey) || same != same_object(e, ey) || e->address == other)
			continue;
		if (same ? finder_unserializable(e, &fd->f->data[x], ey)
			 : used_near(fd->f, e, fd->f->data[x].thread, x, true) ||
				    has_seen(fd->f, k, fd->f->data[x].thread, x)) {
			finder_add_block(fd, k, y, false, x,
					 same ? BUG_ATOMICITY : BUG_MULTI_VARIABLE);
			if (same && step_is_memory(ey)) {
				extend_block(fd, k, x, y);
				widest_block(fd, k, x, y);
			}
			if (same || ++found == MAX_OTHERS)
				return;
			other = e->address;
		}
	}
}

/* Does y's thread use the object of e near y? The failing run may have ended before it did. */
static bool used_by_other(const struct finder *fd, const struct step *e, uint32_t y)
{
	uint32_t thread = fd->f->data[y].thread, twin = fd->p->twin_of_failing[y];

	return used_near(fd->f, e, thread, y, false) ||
	       (twin != STEP_NONE && used_near(fd->g, e, thread, twin, false));
}

/* A write of the passing run after x, which y has read: does y's thread read the place beside it? In an
 * array the two runs may use different elements (the slots of a ring). */
static bool read_beside(const struct finder *fd, const struct step *e, uint32_t x, uint32_t y)
{
	uint32_t thread = fd->f->data[y].thread;

	if (fd->f->data[y].source != x)
		return false;
	for (uint32_t k = y + 1, seen = 0; k < fd->f->len && seen < BESIDE; k++) {
		const struct step *o = &fd->f->data[k];

		if (o->thread != thread)
			continue;
		seen++;
		if (step_is_memory(o) && step_reads(o) && o->size == e->size &&
		    o->address - e->address + WORDS_NEAR < 2 * WORDS_NEAR)
			return step_is_memory(e) && step_writes(e);
	}
	return false;
}

/* Rule 3 for an object of several words, filled in one after the other: up to the last of them. The
 * failing run ends with the first that is not there yet. */
static void whole_object(struct finder *fd, const struct steps *s, uint32_t at, uint32_t x,
			 uint32_t y)
{
	const struct step *e = &s->data[at];
	uint32_t last = at;

	for (uint32_t k = at + 1, seen = 0; k < s->len && seen < BESIDE; k++) {
		if (s->data[k].thread != e->thread || s->data[k].missed)
			continue;
		seen++;
		if (step_is_memory(&s->data[k]) && step_writes(&s->data[k]) &&
		    s->data[k].kind != PLAIT_EV_FREE &&
		    s->data[k].address - e->address + WORDS_NEAR < 2 * WORDS_NEAR)
			last = k;
	}
	if (step_writes(e) && last != at)
		finder_add_block(fd, x, last, s == fd->g, y, BUG_MULTI_VARIABLE);
}

/* Rules 2 and 3, over the steps of A after `at` in one of the runs. */
static bool block_after(struct finder *fd, const struct steps *s, uint32_t at, uint32_t x,
			uint32_t y, bool same)
{
	const struct step *ex = &fd->f->data[x];
	uint64_t other = 0;
	unsigned found = 0;

	for (uint32_t k = at, seen = 0; k < s->len && seen < NEAR; k++) {
		const struct step *e = &s->data[k];

		if (e->thread != ex->thread || e->missed)
			continue;
		seen++;
		/* the same place twice is a loop; a function that locks may be called twice */
		if (!of_a_kind(e, ex) || same != same_object(e, ex) ||
		    (e->site == ex->site && step_is_memory(e)) || e->address == other)
			continue;
		if (same ? finder_unserializable(ex, &fd->f->data[y], e)
			 : used_by_other(fd, e, y) || (s == fd->g && read_beside(fd, e, x, y))) {
			finder_add_block(fd, x, k, s == fd->g, y,
					 same ? BUG_ATOMICITY : BUG_MULTI_VARIABLE);
			if (!same)
				whole_object(fd, s, k, x, y);
			other = e->address;
			if (same || ++found == MAX_OTHERS)
				return true;
		}
	}
	return found > 0;
}

static void block_in_first(struct finder *fd, uint32_t x, uint32_t y, bool same)
{
	uint32_t twin = fd->p->twin_of_failing[x];

	if (!block_after(fd, fd->f, y + 1, x, y, same) && twin != STEP_NONE)
		block_after(fd, fd->g, twin + 1, x, y, same);
}

/* ---- the other side's block ---- */

/* The farthest of the next few steps of its thread, from `at` on or back, that touches an object of
 * the block; STEP_NONE. */
static uint32_t farthest(const struct finder *fd, const struct steps *s, uint32_t at, int way,
			 const struct cure *c)
{
	uint32_t found = STEP_NONE, thread = s->data[at].thread, seen = 0;

	for (uint32_t k = at + (uint32_t)way; k < s->len && seen < BESIDE; k += (uint32_t)way) {
		const struct step *e = &s->data[k];

		if (e->thread != thread || e->missed)
			continue;
		seen++;
		if (of_a_kind(e, &fd->f->data[c->from]) &&
		    (same_object(e, &fd->f->data[c->from]) || same_object(e, cure_end(fd, c))))
			found = k;
	}
	return found;
}

static const struct step *other_end(const struct finder *fd, const struct cure *c)
{
	return c->other_to_in_passing ? &fd->g->data[c->other_to] : &fd->f->data[c->other_to];
}

void finder_other_block(const struct finder *fd, struct cure *c)
{
	c->constraints[1] = finder_block(&fd->f->data[c->other_from], other_end(fd, c));
}

static void add_other_side(struct finder *fd, const struct cure *block)
{
	struct cure c = *block;
	uint32_t before, after, twin;

	if (c.intruder == STEP_NONE || fd->out->len >= fd->most ||
	    !of_a_kind(&fd->f->data[c.intruder], &fd->f->data[c.from]))
		return;
	twin = fd->p->twin_of_failing[c.intruder];
	before = farthest(fd, fd->f, c.intruder, -1, &c);
	after = farthest(fd, fd->f, c.intruder, 1, &c);
	if (after == STEP_NONE && twin != STEP_NONE) {
		after = farthest(fd, fd->g, twin, 1, &c);
		c.other_to_in_passing = after != STEP_NONE;
	}
	if (before == STEP_NONE && after == STEP_NONE)
		return;
	c.other_from = before != STEP_NONE ? before : c.intruder;
	c.other_to = after != STEP_NONE ? after : c.intruder;
	if (fd->f->data[c.other_from].site == other_end(fd, &c)->site &&
	    step_is_memory(&fd->f->data[c.other_from]))
		return;
	if (waits_for_ever(fd, c.other_from, c.other_to_in_passing))
		return;
	finder_other_block(fd, &c);
	vec_push(fd->out, c);
}

/* ---- decisive pairs ---- */

struct decisive {
	uint32_t x[MAX_DECISIVE], y[MAX_DECISIVE];
	size_t n;
};

static bool can_decide(const struct step *x, const struct step *y)
{
	return (step_is_memory(x) && step_is_memory(y)) ||
	       (step_is_acquire(x) && step_is_acquire(y) && same_object(x, y));
}

static void add_decisive(struct decisive *d, const struct steps *f, uint32_t x, uint32_t y)
{
	if (d->n == MAX_DECISIVE || x == STEP_NONE || y == STEP_NONE || x >= y ||
	    f->data[x].thread == f->data[y].thread || !can_decide(&f->data[x], &f->data[y]))
		return;
	for (size_t i = 0; i < d->n; i++)
		if (d->x[i] == x && d->y[i] == y)
			return;
	d->x[d->n] = x;
	d->y[d->n++] = y;
}

/* From the data flows that differ, nearest to the failure first. */
static void decisive_flows(const struct finder *fd, struct decisive *d)
{
	for (size_t i = fd->p->nflows; i-- > 0;) {
		const struct projection_flow *flow = &fd->p->flows[i];
		uint32_t reader, writer;

		if (flow->failing) {
			add_decisive(d, fd->f, flow->from, flow->to);
			continue;
		}
		/* the passing run's reader saw this write; the failing one's read too early */
		reader = fd->p->twin_of_passing[flow->to];
		writer = flow->from == STEP_NONE ? STEP_NONE : fd->p->twin_of_passing[flow->from];
		add_decisive(d, fd->f, reader, writer);
	}
}

/* The failing thread's last step saw what another thread had written, or had given back. */
static void decisive_failure(const struct finder *fd, struct decisive *d)
{
	for (uint32_t i = (uint32_t)fd->f->len; i-- > 0;) {
		const struct step *e = &fd->f->data[i];

		if (e->missed)
			continue;
		if (e->pending && step_is_memory(e) && e->source != STEP_NONE) {
			add_decisive(d, fd->f, e->source, i); /* caught before it was done */
			return;
		}
		if (!(fd->p->show_failing[i] & PROJECT_FAILURE) || e->pending || !step_reads(e))
			continue;
		add_decisive(d, fd->f, e->source, i);
		return;
	}
}

/* Does the thread of e wait, after the step `from` of another thread, for what that thread does then: a signal,
 * a post? */
static bool is_let_go_by(const struct steps *s, const struct step *e, uint32_t from)
{
	return e->thread != s->data[from].thread && !e->pending && !step_is_memory(e) &&
	       (e->kind == PLAIT_EV_SEM_WAIT || e->kind == PLAIT_EV_WOKEN) && !step_is_acquire(e) &&
	       e->source != STEP_NONE && e->source > from &&
	       s->data[e->source].thread == s->data[from].thread;
}

/* "Wait until the others are done", and one of them is done only when the thread that waits lets it go, later:
 * who did as it is told would wait for ever. (What is torn down may come after that as well.) */
static bool would_hang(const struct finder *fd, const struct cure *c)
{
	uint32_t then = c->kind == BUG_ORDER && c->to < fd->f->len && !c->teardown && !c->barrier
				? fd->p->twin_of_failing[c->to]
				: STEP_NONE;

	if (then == STEP_NONE || c->constraints[0].kind != PLAIT_CONSTRAINT_LATE)
		return false;
	for (uint32_t i = then + 1; i < fd->g->len; i++)
		if (is_let_go_by(fd->g, &fd->g->data[i], then))
			return true;
	return false;
}

static void drop_hanging(struct finder *fd)
{
	size_t kept = 0;

	for (size_t i = 0; i < fd->out->len; i++)
		if (!would_hang(fd, &fd->out->data[i]))
			fd->out->data[kept++] = fd->out->data[i];
	fd->out->len = kept;
}

void cures_find(const struct steps *failing, const struct alternate *alternate,
		const struct projection *projection, bool deadlocked, struct cures *ret)
{
	struct finder fd = { failing, &alternate->passing, projection, ret, MAX_CURES };
	uint32_t x = alternate->pair.first, y = alternate->pair.second;
	struct decisive d = { .n = 0 };
	size_t blocks;

	memset(ret, 0, sizeof(*ret));
	if (deadlocked)
		finder_add_waits(&fd);
	if (!alternate->found)
		return;
	blocks = ret->len;
	add_decisive(&d, failing, x, y);
	decisive_failure(&fd, &d);
	decisive_flows(&fd, &d);
	for (int same = 1; same >= 0; same--)
		for (size_t i = 0; i < d.n; i++) {
			block_in_second(&fd, d.x[i], d.y[i], same);
			block_in_first(&fd, d.x[i], d.y[i], same);
		}
	for (size_t i = blocks, n = ret->len; i < n; i++) {
		struct cure block = ret->data[i]; /* the array may move */

		add_other_side(&fd, &block);
	}
	for (size_t i = blocks; i < ret->len; i++)
		ret->data[i].cost = finder_cost(&fd, &ret->data[i]);
	for (size_t i = 0; i < d.n; i++)
		finder_add_orders(&fd, d.x[i], d.y[i]);
	finder_add_orders(&fd, x, y);
	if (alternate->missed && alternate->missed != y)
		finder_add_missed(&fd, alternate->early, alternate->missed);
	drop_hanging(&fd);
}
