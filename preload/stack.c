/* preload/stack.c - whole call stacks, remembered.
 *
 * A thread takes its locks from few places. Its last stacks are kept in a table of its own, four
 * ways to a set, found by return address and stack pointer. Whether a remembered stack is still
 * right needs no unwinding: by induction, if sp and the innermost return address are the same, the
 * next return address is in the same place, and if that place still holds the same value ... A
 * frame that starts relative to bp also needs the same bp, which is either the register's value or
 * was loaded from a place that is compared as well. So the test is exact, and costs one independent
 * load and compare per frame (stack_is_same in preload.h).
 *
 * A stack that a use refers to stays; any other may be replaced, and the history's
 * references to it then no longer match its generation. */
#include "preload/preload.h"

static unsigned max_depth = WATCH_DEPTH;

void stack_init(unsigned depth)
{
	max_depth = depth < 1 ? 1 : depth > WATCH_DEPTH ? WATCH_DEPTH : depth;
}

static uint64_t load(uint64_t address)
{
	return *(const uint64_t *)address;
}

/* Fill s by unwinding from fp; every load is within [sp, hi). */
static void unwind(struct watch_stack *s, const uint64_t *fp, uint64_t lo, uint64_t hi)
{
	uint64_t sp = (uint64_t)(fp + 2), base = sp - 8, bp = fp[0], bp_from = 0, pc = fp[1];

	s->bp = bp;
	s->n = 1;
	s->nbp = 0;
	s->needs_bp = 0;
	s->truncated = 1;
	s->pc[0] = pc;
	s->off[0] = 0;
	if (sp < lo || sp > hi)
		return; /* a stack we do not know: a coroutine's, a signal's */
	while (s->n < max_depth) {
		struct unwind_rule rule = unwind_rule_of(pc);
		uint64_t cfa = (rule.base == UNWIND_BP ? bp : sp) + rule.offset;

		if (rule.base == UNWIND_STOP) {
			s->truncated = rule.offset != UNWIND_LAST;
			return;
		}
		if (cfa <= sp || cfa > hi || cfa % 8 || (cfa - base) / 8 > 0xffff) {
			s->truncated = cfa <= sp;
			return; /* beyond the thread's first frame: the normal end */
		}
		if (rule.base == UNWIND_BP) {
			s->needs_bp = 1;
			if (bp_from) {
				s->bp_off[s->nbp] = (uint16_t)((bp_from - base) / 8);
				s->bp_value[s->nbp++] = (uint16_t)((bp - base) / 8);
			}
		}
		if (rule.bp_save) {
			bp_from = cfa - rule.bp_save;
			if (bp_from < base)
				return;
			bp = load(bp_from);
		}
		pc = load(cfa - 8);
		if (pc < 4096)
			return;
		s->off[s->n] = (uint16_t)((cfa - 8 - base) / 8);
		s->pc[s->n++] = pc;
		sp = cfa;
	}
}

/* See stack_is_same: repeat what is known to hold. */
static void fill_up(struct watch_stack *s)
{
	for (unsigned i = s->n; i < WATCH_DEPTH; i++) {
		s->off[i] = 0;
		s->pc[i] = s->pc[0];
	}
	for (unsigned i = s->nbp; s->nbp && i < WATCH_DEPTH; i++) {
		s->bp_off[i] = s->bp_off[0];
		s->bp_value[i] = s->bp_value[0];
	}
}

/* Does a use refer to the stack? */
static bool is_pinned(const struct watch_slot *t, unsigned way)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->uses[i].state != WATCH_VOID && t->uses[i].stack == way)
			return true;
	return false;
}

/* The way of the set that the new stack goes to: the one with its key (it was of another stack),
 * the first free one, or any that no use refers to; -1 when there is none. */
static int choose_way(const struct watch_slot *t, uint32_t key, unsigned set)
{
	int free_way = -1, any = -1;

	for (unsigned k = 0; k < 4; k++) {
		unsigned way = set + (k + t->seq) % 4;

		if (is_pinned(t, way))
			continue;
		any = (int)way;
		if (t->keys[way] == key)
			return any;
		if (t->keys[way] == 0 && (free_way < 0 || any < free_way))
			free_way = any;
	}
	return free_way >= 0 ? free_way : any;
}

uint16_t stack_capture_slow(struct watch_slot *t, const uint64_t *fp, uint32_t key, unsigned set)
{
	int way = choose_way(t, key, set);
	struct watch_stack *s;

	if (way < 0)
		return WATCH_NO_STACK;
	s = &t->stacks[way];
	t->keys[way] = 0; /* a signal handler must not take it for whole */
	s->sp = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->generation++;
	unwind(s, fp, t->stack_lo, t->stack_hi);
	fill_up(s);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->sp = (uint64_t)(fp + 2);
	t->keys[way] = key;
	return (uint16_t)way;
}

/* ---- the history of releases ---- */

static uint32_t generation(const struct watch_slot *t, const struct watch_use *use)
{
	return use && use->stack != WATCH_NO_STACK ? t->stacks[use->stack].generation : 0;
}

static void put(struct watch_slot *t, struct watch_release *r, const struct watch_use *use,
		const struct watch_use *outer)
{
	*r = (struct watch_release){
		.object = use->object,
		.kind = use->kind,
		.stack = use->stack,
		.generation = generation(t, use),
		.outer = outer ? outer->object : 0,
		.outer_kind = outer ? outer->kind : 0,
		.outer_stack = outer ? outer->stack : WATCH_NO_STACK,
		.outer_generation = generation(t, outer),
		.seq = t->seq,
	};
}

/* Use i is about to be released: remember it, and in which order it nested. The ring holds the
 * last releases; the table of pairs holds one of each order for longer, since a pair that matters
 * is rare among many that repeat. */
void history_note(struct watch_slot *t, uint32_t i)
{
	struct watch_release *ring = (struct watch_release *)&t->stacks[area->stacks];
	struct watch_release *pairs = ring + area->history;
	const struct watch_use *use = &t->uses[i], *outer = NULL;

	for (uint32_t k = i; k > 0 && !outer; k--)
		if (t->uses[k - 1].state == WATCH_HELD)
			outer = &t->uses[k - 1];
	put(t, &ring[t->releases % area->history], use, outer);
	t->releases++;
	if (outer) {
		uint64_t key = use->object * 31 + outer->object;
		uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40) % area->history;

		if (pairs[at].seq == 0 || pairs[at].object != use->object ||
		    pairs[at].outer != outer->object)
			put(t, &pairs[at], use, outer);
	}
}
