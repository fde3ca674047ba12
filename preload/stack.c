/* preload/stack.c - call stacks: copied now, unwound when they matter.
 *
 * An acquisition copies the end of the stack, WATCH_NARROW words, into the window of its use:
 * no table, no branch, no comparison (use_push_easy). That is enough to unwind the functions that
 * may have returned by the time somebody asks, the wrappers around the lock. The frames further out
 * are still there when the thread gets to wait, and only then are they of interest. So
 * stack_settle, just before the wait, turns windows into return addresses: it unwinds through the
 * copied words, and where these end goes on in the stack itself, if the frame it has come to is one
 * of those that are alive; if not the stack is cut there.
 *
 * When a stack had to be cut because the window was too small, the windows of all threads get
 * WATCH_WIDE words from then on: programs differ, and most never need it.
 *
 * One thing can be told wrongly: a function outside the window that has returned and was then
 * called again, from another line and at the same depth, is told with the later call.
 *
 * A thread that never waits leaves its windows as they are, and the reader unwinds them. */
#include "preload/preload.h"

#include <string.h>

unsigned stack_depth = WATCH_DEPTH;

void stack_init(unsigned depth)
{
	stack_depth = depth < 1 ? 1 : depth > WATCH_DEPTH ? WATCH_DEPTH : depth;
}

/* ---- windows ---- */

/* Words that are certainly there: those in the same page. */
static void copy_some(struct watch_window *w, const uint64_t *fp)
{
	size_t n = (WATCH_PAGE - (uint64_t)fp % WATCH_PAGE) / sizeof(*fp);

	memset(w->words, 0, WATCH_NARROW * sizeof(*fp));
	memcpy(w->words, fp, (n < WATCH_NARROW ? n : WATCH_NARROW) * sizeof(*fp));
	w->words[1] = fp[1];
}

struct watch_use *use_push_hard(struct watch_slot *t, enum watch_kind kind, enum watch_state state,
				uint8_t flags, const void *object, const uint64_t *fp)
{
	struct watch_use *use = use_reserve(t);
	uint32_t stack = WATCH_IN_WINDOW;

	if (!use)
		return NULL;
	if (t->history)
		stack = remembered(t, fp);
	if (stack == WATCH_IN_WINDOW) {
		struct watch_window *w = use_window(t, use);

		use->frame = (uint64_t)fp;
		if ((uint64_t)fp >= t->stack_lo && (uint64_t)fp < t->stack_safe) {
			memcpy(w->words, fp, sizeof(w->words));
			flags |= WATCH_WIDENED;
		} else {
			copy_some(w, fp);
		}
	}
	use_fill(use, kind, state, flags, object, stack);
	return use;
}

/* Other threads' slots are written too: but nobody else writes this. */
static void widen(void)
{
	if (__atomic_exchange_n(&area->wide, 1, __ATOMIC_ACQ_REL))
		return;
	for (uint32_t i = 0; i < area->slots_used; i++)
		__atomic_store_n(&slot_at(i)->stack_span, 0, __ATOMIC_RELAXED);
}

/* ---- unwinding ---- */

/* Where a walk has come to. Words are read in [from, from + size), and nowhere else. */
struct walk {
	const uint64_t *words;
	uint64_t from, size;
	uint64_t sp, bp, pc;
	uint64_t at; /* where the return address is that step() could not read */
};

enum end { GOES_ON, OUTSIDE, LAST, UNKNOWN };

static bool get(const struct walk *w, uint64_t address, uint64_t *ret)
{
	if (address - w->from >= w->size || address % 8)
		return false;
	*ret = w->words[(address - w->from) / 8];
	return true;
}

static bool walk_begin(struct walk *w, const uint64_t *words, uint64_t from, uint64_t size)
{
	*w = (struct walk){ .words = words, .from = from, .size = size, .sp = from + 16 };
	return get(w, from, &w->bp) && get(w, from + 8, &w->pc);
}

/* To the caller of the frame; hi: where the stack ends. */
static enum end step(struct walk *w, uint64_t hi)
{
	struct unwind_rule rule = unwind_rule_of(w->pc);
	uint64_t cfa = (rule.base == UNWIND_BP ? w->bp : w->sp) + rule.offset;

	if (rule.base == UNWIND_STOP)
		return rule.offset == UNWIND_LAST ? LAST : UNKNOWN;
	if (cfa <= w->sp || cfa % 8)
		return UNKNOWN;
	if (cfa > hi)
		return LAST; /* beyond the thread's first frame: the normal end */
	w->at = cfa - 8;
	if (w->at - w->from >= w->size)
		return OUTSIDE;
	if (rule.bp_save && (cfa - rule.bp_save < w->sp - 8 || !get(w, cfa - rule.bp_save, &w->bp)))
		return UNKNOWN;
	if (!get(w, w->at, &w->pc) || w->pc < 4096)
		return UNKNOWN;
	w->sp = cfa;
	return GOES_ON;
}

/* Walk along the stack as it is now, from fp, to the frame whose return address is at `at`. */
static bool walk_alive(struct walk *w, const struct watch_slot *t, const uint64_t *fp, uint64_t at)
{
	uint64_t here = (uint64_t)fp;

	if (here < t->stack_lo || here >= t->stack_hi || at < here ||
	    !walk_begin(w, fp, here, t->stack_hi - here))
		return false;
	for (unsigned n = 0; n < 10000; n++) {
		if (step(w, t->stack_hi) != GOES_ON || w->at > at)
			return false;
		if (w->at == at)
			return true;
	}
	return false;
}

/* ---- settling ---- */

static void settle(struct watch_slot *t, struct watch_use *use, const uint64_t *fp)
{
	struct watch_window *window = use_window(t, use);
	const bool wide = use->flags & WATCH_WIDENED;
	uint64_t pcs[WATCH_DEPTH], hi = t->stack_hi;
	enum end end = UNKNOWN;
	struct walk w;
	uint8_t n = 0;

	walk_begin(&w, window->words, use->frame, (wide ? WATCH_WIDE : WATCH_NARROW) * 8ul);
	pcs[n++] = w.pc;
	if (use->frame < t->stack_lo || use->frame >= hi)
		hi = UINT64_MAX; /* a stack we do not know: a coroutine's, a signal's */
	while (n < stack_depth) {
		end = step(&w, hi);
		if (end == OUTSIDE) {
			uint64_t at = w.at;

			if (!walk_alive(&w, t, fp, at)) {
				if (!wide && at - use->frame < WATCH_WIDE * 8)
					widen();
				break;
			}
			end = GOES_ON;
		}
		if (end != GOES_ON)
			break;
		pcs[n++] = w.pc;
	}
	memcpy(window->words, pcs, n * sizeof(pcs[0]));
	if (end != LAST)
		use->flags |= WATCH_CUT;
	STORE(use->frames, n);
}

void stack_settle(struct watch_slot *t, const uint64_t *fp)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct watch_use *use = &t->uses[i];

		/* a place that is being filled, further down the stack, is VOID; so is our own */
		if (use->frames ||
		    (i < t->n - 1 && use->state != WATCH_HELD && use->state != WATCH_WANT))
			continue;
		if (use->stack == WATCH_IN_WINDOW)
			settle(t, use, fp);
		else
			remembered_settle(t, use, fp);
	}
	/* whoever has read a window that was half one and half the other must look again */
	STORE(t->seq, t->seq + 1);
}
