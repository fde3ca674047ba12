/* rt/control/gone.c - see gone.h.
 *
 * Three ends, and three ways to know of them:
 *
 * - Memory that was freed is marked by heap.c, until it is given out again.
 * - What was destroyed carries a mark in its own memory, and who did it. So there is no table to go
 *   stale: whatever makes another object of the memory, an initialiser too, overwrites the mark. A
 *   mutex has glibc's own mark, in its kind.
 * - A local variable leaves no trace: its memory becomes that of the next function's frame. Code that
 *   we built says where the life of a variable with a lock in it begins and ends (cc/instrument/
 *   scopes.c). What has ended is kept in a table until another life begins there, its owner uses it
 *   again, or it has been made anew by a call. The end is a step that writes all of the variable, and
 *   so is a beginning where something has ended: a systematic search must see that they depend on
 *   what others do to the lock. For other code the stack pointer of the owner, which stands at a
 *   scheduling point, says that what lies below is gone.
 *
 * A frame of code that we did not build may have a lock where another one has ended. It is told apart
 * by its contents: what has ended is filled, and an initialiser writes zeros. */
#include "rt/control/gone.h"

#include "rt/control/constraints.h"
#include "rt/control/engine.h"
#include "rt/control/heap.h"
#include "sched/sync.h"

#include <stdio.h>
#include <string.h>

enum {
	FILL = 0xdd,
	FILL_MAX = 4096,
	ENDED_MAX = 256,
	USED_MAX = 64,
	LARGEST = 56,
	STEP_BITS = 48,
};
#define MARK	  0x6e6f6721u /* no value of a spinlock */
#define MARK_MORE 0x6e6f73656e6f6721ull

/* mark, note: where in what was destroyed MARK_MORE is, and who did it. Threads may still be on their way
 * out of a barrier, whose round must stay. */
static const struct {
	const char *name;
	uint32_t size, mark, note;
	bool has_initializer; /* one that needs no call */
} kinds[] = {
	[GONE_MUTEX] = { "mutex", 40, 0, 24, true },
	[GONE_RWLOCK] = { "rwlock", 56, 8, 16, true },
	[GONE_SPIN] = { "spinlock", 4, 0, 0, false },
	[GONE_COND] = { "condition variable", 48, 8, 16, true },
	[GONE_SEM] = { "semaphore", 32, 8, 16, false },
	[GONE_BARRIER] = { "barrier", 32, 16, 8, false },
};

/* A local variable that has ended; size 0: none. */
struct ended {
	uint64_t at, size, step;
	const char *name; /* NULL: its thread has ended */
	uint32_t thread;
};
static struct ended ended[ENDED_MAX];
static uint32_t nended, next;	 /* next: to be forgotten when there is no room */
static uint64_t lowest, highest; /* of all in the table */

/* Objects on stacks that somebody has used: the end of the variable is theirs. */
static struct used {
	uint64_t at;
	enum gone_kind kind;
} used[USED_MAX];
static uint32_t nused;

void gone_begin(void)
{
	memset(ended, 0, sizeof(ended[0]) * nended);
	nended = next = nused = 0;
	lowest = UINT64_MAX;
	highest = 0;
}

/* ---- what was destroyed ---- */

static uint64_t word_of(const void *p, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const char *)p + offset, sizeof(word));
	return word;
}

bool gone_is_destroyed(const void *p, enum gone_kind kind)
{
	uint32_t word;

	if (kind == GONE_MUTEX)
		return ((const struct sync_mutex *)p)->kind == SYNC_MUTEX_DESTROYED;
	memcpy(&word, p, sizeof(word));
	return word == MARK && (kind == GONE_SPIN || word_of(p, kinds[kind].mark) == MARK_MORE);
}

/* In memory that was freed, and is not watched. */
static bool is_filled(const void *p, enum gone_kind kind)
{
	return kind == GONE_MUTEX && sync_mutex_is_dead(p) && !gone_is_destroyed(p, kind);
}

/* Who, and when, in 8 bytes. */
static uint64_t note_of(const struct control_thread *me)
{
	return (uint64_t)(me->task.id + 1) << STEP_BITS | (rt_steps & ((1ull << STEP_BITS) - 1));
}

void gone_destroyed(const struct control_thread *me, void *object, enum gone_kind kind)
{
	uint64_t note = note_of(me), more = MARK_MORE;
	uint32_t mark = MARK;

	if (kind != GONE_MUTEX)
		memcpy(object, &mark, sizeof(mark));
	if (kind == GONE_SPIN)
		return;
	memcpy((char *)object + kinds[kind].note, &note, sizeof(note));
	if (kind != GONE_MUTEX)
		memcpy((char *)object + kinds[kind].mark, &more, sizeof(more));
}

/* ---- stacks ---- */

static bool is_within(uint64_t p, uint64_t low, uint64_t size)
{
	return p - low < size;
}

static bool is_on_stack_of(const struct control_thread *t, uint64_t p)
{
	const struct plait_thread_info *info = &rt_run->threads[t->task.id];

	return is_within(p, info->stack_low, info->stack_size);
}

/* Whose stack is it? Threads that have not begun have none. */
static const struct control_thread *owner_of(uint64_t p)
{
	const struct plait_thread_info *first = &rt_run->threads[0];

	if (!is_within(p, first->stack_low, first->stack_size) && !birth_may_be_stack((void *)p))
		return NULL;
	for (uint32_t i = 0; i < control.nalive; i++)
		if (is_on_stack_of(control_alive[i], p))
			return control_alive[i];
	return NULL;
}

/* Where a thread that does not run has published: all frames of the program are above. 0: it is on
 * another stack, or has not begun. */
static uint64_t top_of(const struct control_thread *t)
{
	uint64_t frame = (uint64_t)t->frame;

	return t != control.current && is_on_stack_of(t, frame) ? frame : 0;
}

/* ---- what has ended ---- */

static bool overlaps(const struct ended *e, uint64_t p, uint64_t size)
{
	return p < e->at + e->size && e->at < p + size;
}

static struct ended *find_ended(uint64_t p, uint64_t size)
{
	if (p >= highest || p + size <= lowest)
		return NULL;
	for (uint32_t i = 0; i < nended; i++)
		if (ended[i].size && overlaps(&ended[i], p, size))
			return &ended[i];
	return NULL;
}

static void forget_ended(uint64_t p, uint64_t size)
{
	struct ended *e;

	while ((e = find_ended(p, size)))
		e->size = 0;
}

static void forget_used(uint64_t p, uint64_t size)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nused; i++)
		if (!is_within(used[i].at, p, size))
			used[n++] = used[i];
	nused = n;
}

static void note_ended(const struct control_thread *me, uint64_t p, uint64_t size, const char *name)
{
	struct ended *e = ended;

	while (e < ended + nended && e->size)
		e++;
	if (e == ended + ENDED_MAX)
		e = &ended[next++ % ENDED_MAX];
	else if (e == ended + nended)
		nended++;
	*e = (struct ended){ p, size, rt_steps, name, me->task.id };
	lowest = p < lowest ? p : lowest;
	highest = p + size > highest ? p + size : highest;
}

/* An initialiser has been here since: it writes zeros, but for a mutex's or rwlock's kind. */
static bool looks_fresh(const void *p, enum gone_kind kind)
{
	static const unsigned char zeros[LARGEST];

	return kinds[kind].has_initializer && memcmp(p, zeros, 16) == 0 &&
	       memcmp((const char *)p + 24, zeros, 16) == 0;
}

/* The local variable that the object was in; NULL: none has ended there. */
static struct ended *find_dead(const void *object, enum gone_kind kind)
{
	uint64_t p = (uint64_t)object;
	struct ended *e = find_ended(p, kinds[kind].size);
	const struct control_thread *owner;

	if (!e)
		return NULL;
	owner = owner_of(p);
	if ((owner && p < top_of(owner)) || !looks_fresh(object, kind))
		return e;
	return NULL;
}

/* Below the frames of its thread, which does not run. */
static bool is_below_stack(const void *object)
{
	const struct control_thread *owner = owner_of((uint64_t)object);

	return owner && (uint64_t)object < top_of(owner);
}

/* Is it neither in the heap nor on the stack of the running thread, which has just called us? */
static bool may_have_ended(const void *p)
{
	return !is_within((uint64_t)p, heap.base, heap.size) && control.current &&
	       !is_on_stack_of(control.current, (uint64_t)p);
}

bool gone_is(const void *object, enum gone_kind kind)
{
	if (heap_is_bad(object) || gone_is_destroyed(object, kind) || is_filled(object, kind))
		return true;
	return may_have_ended(object) && (find_dead(object, kind) || is_below_stack(object));
}

void gone_renewed(const void *object)
{
	if (find_ended((uint64_t)object, 1))
		forget_ended((uint64_t)object, 1);
}

/* ---- in words ---- */

/* False: that is no note of ours. */
static bool tell_who(char *text, size_t room, uint64_t note)
{
	uint64_t thread = note >> STEP_BITS;
	char name[64];

	if (!thread || thread > control.nthreads)
		return false;
	control_thread_name(name, sizeof(name), (uint32_t)thread - 1);
	snprintf(text, room, "thread %s destroyed it, at event %llu of the run", name,
		 (unsigned long long)(note & ((1ull << STEP_BITS) - 1)));
	return true;
}

static void tell_end(char *text, size_t room, const struct ended *e)
{
	char name[64];

	control_thread_name(name, sizeof(name), e->thread);
	if (e->name)
		snprintf(text, room, "%s, which thread %s left at event %llu of the run", e->name,
			 name, (unsigned long long)e->step);
	else
		snprintf(text, room, "on the stack of thread %s, which has ended", name);
}

/* What is the same for every use: it tells failures apart. How it was used, and where it ended, is detail. */
static _Noreturn void tell(const void *object, enum gone_kind kind, const char *use, uint32_t site)
{
	const struct ended *e = find_ended((uint64_t)object, kinds[kind].size);
	bool left = e || (may_have_ended(object) && is_below_stack(object));
	bool freed = heap_is_bad(object) || (is_filled(object, kind) && !left);
	char what[128], who[256] = "", text[384];
	const char *end = "that was destroyed";

	if (freed) {
		if (heap_is_bad(object))
			heap_describe(object, who, sizeof(who));
	} else if (left) {
		end = "that was a local variable and has ended";
		if (e)
			tell_end(who, sizeof(who), e);
	} else if (kind != GONE_SPIN &&
		   !tell_who(who, sizeof(who), word_of(object, kinds[kind].note))) {
		end = "in memory that is somebody else's now";
	}
	snprintf(what, sizeof(what), "use of a %s %s", kinds[kind].name, end);
	snprintf(text, sizeof(text), "%s the %s%s%s", use, kinds[kind].name, *who ? "; " : "", who);
	control_misuse(freed ? PLAIT_MISUSE_FREED : PLAIT_MISUSE_LOCK,
		       freed ? "write to memory that was freed" : what, object, text, site);
}

static void note_used(uint64_t p, enum gone_kind kind)
{
	for (uint32_t i = 0; i < nused; i++)
		if (used[i].at == p) {
			used[i].kind = kind;
			return;
		}
	if (nused < USED_MAX)
		used[nused++] = (struct used){ p, kind };
}

void gone_check(struct control_thread *me, const void *object, enum gone_kind kind, const char *use,
		uint32_t site)
{
	bool own = is_on_stack_of(me, (uint64_t)object);

	/* whatever has ended on its stack, the thread that runs has something else there now */
	if (own)
		gone_renewed(object);
	if (unlikely(gone_is(object, kind)))
		tell(object, kind, use, site);
	gone_renewed(object);
	if (own ||
	    (!is_within((uint64_t)object, heap.base, heap.size) && owner_of((uint64_t)object)))
		note_used((uint64_t)object, kind);
}

/* ---- local variables ---- */

/* The steps of other threads are fixed elsewhere, and ours are not among them. */
static bool follows_others(void)
{
	return control.handovers || control.vectors;
}

static struct control_op writes(uint32_t kind, uint32_t site, uint64_t p, size_t size)
{
	return (struct control_op){ .kind = kind,
				    .site = site,
				    .object = (const void *)p,
				    .size = (uint32_t)size,
				    .writes = true };
}

void gone_scope_begins(struct control_thread *me, const void *p, size_t size, uint32_t site)
{
	if (find_ended((uint64_t)p, size) && control.nalive > 1 && !follows_others()) {
		struct control_op op = writes(PLAIT_EV_LOCK_INIT, site, (uint64_t)p, size);

		control_point(me, &op);
		control_changed();
		rt_record_sa_n(PLAIT_EV_LOCK_INIT, site, p, 0);
	}
	forget_ended((uint64_t)p, size);
	forget_used((uint64_t)p, size);
}

/* The end is a step, and one more for each lock in it that was used but the first: each of them ends. */
void gone_scope_ends(struct control_thread *me, void *p, size_t size, const char *name,
		     uint32_t site)
{
	struct control_op op = writes(PLAIT_EV_LOCK_DESTROY, site, (uint64_t)p, size);
	uint32_t locks = 0;

	if (control.nalive < 2 || follows_others()) {
		forget_used((uint64_t)p, size);
		return;
	}
	control_point(me, &op);
	for (uint32_t i = 0; i < nused; i++) {
		if (!is_within(used[i].at, (uint64_t)p, size))
			continue;
		op = writes(PLAIT_EV_LOCK_DESTROY, site, used[i].at, kinds[used[i].kind].size);
		if (locks++)
			control_step(me, &op);
		rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, (void *)used[i].at, used[i].kind);
	}
	if (!locks)
		rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, p, 0);
	forget_used((uint64_t)p, size);
	forget_ended((uint64_t)p, size);
	note_ended(me, (uint64_t)p, size, name);
	memset(p, FILL, size < FILL_MAX ? size : FILL_MAX);
	control_changed(); /* who waits for a lock in it goes on, and finds out */
}

void gone_thread_ended(const struct control_thread *me)
{
	for (uint32_t i = 0; i < nused; i++)
		if (is_on_stack_of(me, used[i].at))
			note_ended(me, used[i].at, kinds[used[i].kind].size, NULL);
	forget_used(rt_run->threads[me->task.id].stack_low,
		    rt_run->threads[me->task.id].stack_size);
}
