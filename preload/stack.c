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
 * Some wrappers need more words: those of C++ without optimisation, those with large frames. When a
 * stack had to be cut for want of them, the windows of its thread get WATCH_WIDE words from then
 * on. The first acquisitions of a thread, and a few later, are samples: they have wide windows
 * anyway, and when the lock is released they are unwound as if not, to see what would be cut. Only
 * where frames are found by bp, though: code that is not optimised can bear the cost.
 *
 * A frame is the same one as before when it is in the same place, of the same function, and that
 * has moved on: with the same return address inside it, the function may have returned and been
 * called again. What cannot be told apart is a function beyond the window that was called again,
 * got to another line, and had been called from another line: it is told with the later call.
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

/* How many words to copy; 0: only those in the same page. */
static size_t words_for(struct watch_slot *t, const uint64_t *fp)
{
	if ((uint64_t)fp < t->stack_lo || (uint64_t)fp >= t->stack_safe)
		return 0;
	return t->samples || t->wide ? WATCH_WIDE : WATCH_NARROW;
}

/* Is this acquisition a sample? After the last one, those on an easy stack are no longer ours. */
static bool is_sample(struct watch_slot *t)
{
	if (!t->samples || t->wide || t->history)
		return false;
	if (--t->samples == 0)
		stack_ease(t);
	return true;
}

void stack_ease(struct watch_slot *t)
{
	uint64_t span = t->stack_safe > t->stack_lo ? t->stack_safe - t->stack_lo : 0;

	if (t->history || t->samples || t->wide)
		span = 0;
	t->stack_span = (uint32_t)(span < UINT32_MAX ? span : UINT32_MAX);
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
		size_t words = words_for(t, fp);

		use->frame = (uint64_t)fp;
		if (words)
			memcpy(use_window(t, use), fp, words * sizeof(*fp));
		else
			copy_some(use_window(t, use), fp);
		if (words == WATCH_WIDE)
			flags |= WATCH_WIDENED;
	}
	use_fill(use, kind, state, flags, object, stack);
	if (is_sample(t))
		use->count = WATCH_SAMPLE;
	return use;
}

/* ---- unwinding ---- */

/* Where a walk has come to. Words are read in [from, from + size), and nowhere else. */
struct walk {
	const uint64_t *words;
	uint64_t from, size;
	uint64_t sp, bp, pc;
	uint64_t at;  /* where the return address is that step() could not read */
	bool from_bp; /* it was found by bp */
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
	w->from_bp = rule.base == UNWIND_BP;
	if (w->at - w->from >= w->size)
		return OUTSIDE;
	if (rule.bp_save && (cfa - rule.bp_save < w->sp - 8 || !get(w, cfa - rule.bp_save, &w->bp)))
		return UNKNOWN;
	if (!get(w, w->at, &w->pc) || w->pc < 4096)
		return UNKNOWN;
	w->sp = cfa;
	return GOES_ON;
}

/* Walk along the stack as it is now, from fp, to the frame whose return address is at `at`, and in
 * which another walk had come to the address `pc`. */
static bool walk_alive(struct walk *w, const struct watch_slot *t, const uint64_t *fp, uint64_t at,
		       uint64_t pc)
{
	uint64_t here = (uint64_t)fp;

	if (here < t->stack_lo || here >= t->stack_hi || at < here ||
	    !walk_begin(w, fp, here, t->stack_hi - here))
		return false;
	for (unsigned n = 0; n < 10000; n++) {
		uint64_t inside = w->pc;

		if (step(w, t->stack_hi) != GOES_ON || w->at > at)
			return false;
		if (w->at == at)
			return inside != pc && unwind_function(inside) == unwind_function(pc);
	}
	return false;
}

/* ---- settling ---- */

/* The return addresses of a use, innermost first; where its window is too small for them, the
 * thread's windows become wide. */
static uint8_t unwind(struct watch_slot *t, const struct watch_use *use, const uint64_t *fp,
		      bool sample, uint64_t *pcs, enum end *end)
{
	const bool wide = use->flags & WATCH_WIDENED && !sample;
	uint64_t hi = t->stack_hi;
	struct walk w;
	uint8_t n = 0;

	*end = UNKNOWN;
	if (use->state != WATCH_HELD && use->frame >= t->stack_lo && use->frame < hi)
		walk_begin(&w, fp, (uint64_t)fp, hi - (uint64_t)fp); /* our own: it is alive */
	else
		walk_begin(&w, use_window(t, use)->words, use->frame,
			   (wide ? WATCH_WIDE : WATCH_NARROW) * 8ul);
	pcs[n++] = w.pc;
	if (use->frame < t->stack_lo || use->frame >= hi)
		hi = UINT64_MAX; /* a stack we do not know: a coroutine's, a signal's */
	while (n < stack_depth) {
		*end = step(&w, hi);
		if (*end == OUTSIDE) {
			uint64_t at = w.at;
			bool costs = sample && !w.from_bp;

			if (!walk_alive(&w, t, fp, at, w.pc)) {
				if (!wide && !costs && at - use->frame < WATCH_WIDE * 8) {
					t->wide = 1;
					stack_ease(t);
				}
				break;
			}
			*end = GOES_ON;
		}
		if (*end != GOES_ON)
			break;
		pcs[n++] = w.pc;
	}
	return n;
}

static void settle(struct watch_slot *t, struct watch_use *use, const uint64_t *fp)
{
	uint64_t pcs[WATCH_DEPTH];
	enum end end;
	uint8_t n = unwind(t, use, fp, false, pcs, &end);

	memcpy(use_window(t, use)->words, pcs, n * sizeof(pcs[0]));
	if (end != LAST)
		use->flags |= WATCH_CUT;
	STORE(use->frames, n);
}

void stack_sample(struct watch_slot *t, const struct watch_use *use, const uint64_t *fp)
{
	uint64_t pcs[WATCH_DEPTH];
	enum end end;

	if (use->stack == WATCH_IN_WINDOW && !use->frames)
		unwind(t, use, fp, true, pcs, &end);
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
	/* again after 2, 4, 8 ... waits */
	if ((t->waits & (t->waits - 1)) == 0 && !t->samples && !t->wide) {
		t->samples = WATCH_SAMPLES;
		stack_ease(t);
	}
	t->waits++;
	/* a reader that has seen a window half old and half new must look again */
	STORE(t->seq, t->seq + 1);
}
