/* preload/history.c - what is kept beyond the release of a lock, when it is asked for (history=N).
 *
 * Then every acquisition needs its whole stack at once. A thread takes its locks from few places,
 * so its last stacks are kept in a table of its own, four ways to a set, found by return address
 * and stack pointer. Whether a remembered stack is still right needs no unwinding: by induction, if
 * sp and the innermost return address are the same, the next return address is in the same place,
 * and if that place still holds the same value ... A frame that starts relative to bp also needs
 * the same bp, which is either the register's value (our own prologue pushed it) or was loaded from
 * a place that is compared as well. So the test costs one independent load per frame. The low
 * halves are compared: return addresses that differ by a multiple of 4 GB are not met in one place.
 *
 * One place may be reached in many ways: the keys of all stacks are searched, one word deeper each
 * time.
 *
 * Every acquisition compares the innermost WATCH_SURE frames: those that may have returned by the
 * time somebody asks (wrappers of wrappers). The frames further out are still there when the
 * thread gets to wait for something, and only then are they of interest: they are compared
 * just before the wait. Where they differ, one of the two is another path, nobody knows which,
 * and the stack is cut there.
 *
 * A stack that a use refers to stays; any other may be replaced, and the history's
 * references to it then no longer match its generation. */
#include "preload/preload.h"

static uint64_t load(uint64_t address)
{
	return *(const uint64_t *)address;
}

/* One more word that has to be the same for s to be right. */
static void check(struct watch_stack *s, unsigned *n, const uint64_t *fp, uint64_t address)
{
	unsigned i = (*n)++;

	if (i < 8) {
		s->place[i] = (uint16_t)((const uint64_t *)address - fp);
		s->low[i] = (uint32_t)load(address);
	} else {
		s->more = 1;
		s->place2[i - 8] = (uint16_t)((const uint64_t *)address - fp);
		s->low2[i - 8] = (uint32_t)load(address);
	}
}

/* Repeat what is known to hold: how many there are needs no test. */
static void fill_up(struct watch_stack *s, unsigned n)
{
	for (; n < 15; n++) {
		if (n < 8) {
			s->place[n] = s->place[0];
			s->low[n] = s->low[0];
		} else {
			s->place2[n - 8] = s->place[0];
			s->low2[n - 8] = s->low[0];
		}
	}
}

/* Fill s by unwinding from fp; every load is within [sp, hi). At most two checks per frame but
 * the first: fifteen. */
static unsigned unwind(struct watch_stack *s, const uint64_t *fp, uint64_t lo, uint64_t hi)
{
	uint64_t sp = (uint64_t)(fp + 2), bp = fp[0], bp_at = (uint64_t)fp, pc = fp[1];
	unsigned checks = 0;

	s->n = 1;
	s->more = 0;
	s->truncated = 1;
	s->pc[0] = pc;
	check(s, &checks, fp, (uint64_t)(fp + 1));
	if (sp < lo || sp > hi)
		return checks; /* a stack we do not know: a coroutine's, a signal's */
	while (s->n < stack_depth) {
		struct unwind_rule rule = unwind_rule_of(pc);
		uint64_t cfa = (rule.base == UNWIND_BP ? bp : sp) + rule.offset;

		if (rule.base == UNWIND_STOP) {
			s->truncated = rule.offset != UNWIND_LAST;
			break;
		}
		if (cfa <= sp || cfa > hi || cfa % 8 || (cfa - (uint64_t)fp) / 8 > 0xffff) {
			s->truncated = cfa <= sp;
			break; /* beyond the thread's first frame: the normal end */
		}
		if (rule.base == UNWIND_BP && bp_at && s->n < WATCH_SURE) {
			check(s, &checks, fp, bp_at);
			bp_at = 0; /* once is enough */
		}
		if (rule.bp_save) {
			bp_at = cfa - rule.bp_save;
			if (bp_at < sp - 8)
				break;
			bp = load(bp_at);
		}
		pc = load(cfa - 8);
		if (pc < 4096)
			break;
		if (s->n < WATCH_SURE)
			check(s, &checks, fp, cfa - 8);
		else
			s->outer[s->n - WATCH_SURE] = (uint16_t)((cfa - (uint64_t)fp) / 8 - 1);
		s->pc[s->n++] = pc;
		sp = cfa;
	}
	return checks;
}

/* Does a use refer to the stack? */
static bool is_pinned(const struct watch_slot *t, unsigned way)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->uses[i].state != WATCH_VOID && t->uses[i].stack == way)
			return true;
	return false;
}

/* Where the new stack goes: where it is looked for first, the way with its key (it was of another
 * stack), a free one, or any in the set that no use refers to; -1 when there is none. */
static int choose_way(const struct watch_slot *t, uint32_t key, unsigned first)
{
	int free_way = -1, any = -1;

	for (unsigned k = 0; k < 4; k++) {
		unsigned way = first ^ k;

		if (is_pinned(t, way))
			continue;
		if (t->keys[way] == key)
			return (int)way;
		if (t->keys[way] == 0 && free_way < 0)
			free_way = (int)way;
		if (any < 0 || (t->seq & 3) == k)
			any = (int)way;
	}
	return free_way >= 0 ? free_way : any;
}

static __attribute__((cold, noinline)) uint32_t remember(struct watch_slot *t, const uint64_t *fp,
							 uint32_t key, unsigned first)
{
	int way = choose_way(t, key, first);
	struct watch_stack *s;

	if (way < 0)
		return WATCH_IN_WINDOW;
	s = &t->stacks[way];
	t->keys[way] = 0; /* a signal handler must not take it for whole */
	s->sp = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->generation++;
	fill_up(s, unwind(s, fp, t->stack_lo, t->stack_hi));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->sp = (uint64_t)(fp + 2);
	t->keys[way] = key;
	return (uint32_t)way | (uint32_t)s->n << 16;
}

static bool is_same(const struct watch_stack *s, const uint64_t *fp)
{
	uint32_t differ = 0;

	if (s->sp != (uint64_t)(fp + 2))
		return false;
	for (unsigned i = 0; i < 8; i++)
		differ |= (uint32_t)fp[s->place[i]] ^ s->low[i];
	for (unsigned i = 0; s->more && i < 7; i++)
		differ |= (uint32_t)fp[s->place2[i]] ^ s->low2[i];
	return differ == 0;
}

/* When the stack found under return address and sp differs further out, the first word that is
 * compared after those (it is in the same place for both) goes into the key, and so on. */
uint32_t remembered(struct watch_slot *t, const uint64_t *fp)
{
	const uint64_t golden = 0x9e3779b97f4a7c15ull;
	uint64_t mixed = (fp[1] ^ (uint64_t)fp << 20) * golden;

	for (unsigned level = 1;; level++) {
		uint32_t key = (uint32_t)(mixed >> 20) | 1;
		unsigned first = (unsigned)(mixed >> 57) & t->stack_mask, way = first;
		const struct watch_stack *s;

		for (unsigned k = 1; k < 4 && t->keys[way] != key; k++)
			way = first ^ k;
		s = &t->stacks[way];
		if (t->keys[way] == key && is_same(s, fp))
			return way;
		if (t->keys[way] != key || level == 8 || s->sp != (uint64_t)(fp + 2))
			return remember(t, fp, key, first);
		/* the product's high half knows most: let it meet the next word's low half */
		mixed = ((mixed << 32 | mixed >> 32) ^ (uint32_t)fp[s->place[level]]) * golden;
	}
}

/* How many frames of s are as they were when it was remembered; those that have returned since
 * count only if every acquisition compares them. */
static uint8_t still_there(const struct watch_stack *s, const uint64_t *fp)
{
	const uint64_t *frame = (const uint64_t *)s->sp - 2;
	uint8_t n = WATCH_SURE;

	for (; n < s->n; n++) {
		const uint64_t *place = frame + s->outer[n - WATCH_SURE];

		if (place < fp || *place != s->pc[n])
			break;
	}
	return n < s->n ? n : s->n;
}

void remembered_settle(struct watch_slot *t, struct watch_use *use, const uint64_t *fp)
{
	const struct watch_stack *s = &t->stacks[use->stack];
	uint8_t n = still_there(s, fp);

	if (n < s->n && use == &t->uses[t->n - 1]) {
		/* our own call: it can be unwound again, as another stack */
		uint32_t key = (uint32_t)(s->pc[n] ^ (uint64_t)fp) | 1;
		uint32_t found = remember(t, fp, key, use->stack ^ 1);

		if (found != WATCH_IN_WINDOW) {
			use->stack = (uint16_t)found;
			n = (uint8_t)(found >> 16);
		}
	}
	STORE(use->frames, n);
}

/* ---- the history of releases ---- */

static uint32_t generation(const struct watch_slot *t, const struct watch_use *use)
{
	return use && use->stack != WATCH_IN_WINDOW ? t->stacks[use->stack].generation : 0;
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
		.outer_stack = outer ? outer->stack : WATCH_IN_WINDOW,
		.outer_generation = generation(t, outer),
		.seq = t->seq,
	};
}

/* Use i is about to be released: the ring holds the last releases. */
void history_note(struct watch_slot *t, uint32_t i)
{
	struct watch_release *ring = (struct watch_release *)&t->stacks[area->stacks];
	const struct watch_use *use = &t->uses[i], *outer = NULL;

	for (uint32_t k = i; k > 0 && !outer; k--)
		if (t->uses[k - 1].state == WATCH_HELD)
			outer = &t->uses[k - 1];
	put(t, &ring[t->releases % area->history], use, outer);
	t->releases++;
}

/* Locks that keep everybody else out, held before use k was acquired. */
static void put_gates(const struct watch_slot *t, struct watch_order *o, uint32_t k)
{
	for (uint32_t i = 0; i < k && o->ngates < WATCH_GATES; i++)
		if (t->uses[i].state == WATCH_HELD && t->uses[i].kind != WATCH_READ)
			o->gates[o->ngates++] = t->uses[i].object;
}

/* The place of the order in t's table, NULL when it is full of others. */
static struct watch_order *find_order(struct watch_slot *t, uint64_t inner, uint64_t outer)
{
	struct watch_release *ring = (struct watch_release *)&t->stacks[area->stacks];
	struct watch_order *orders = (struct watch_order *)(ring + area->history);
	uint64_t at = (inner * 31 + outer) * 0x9e3779b97f4a7c15ull >> 40;

	for (uint32_t i = 0; i < 8; i++) {
		struct watch_order *o = &orders[(at + i) % area->history];

		if (!o->inner || (o->inner == inner && o->outer == outer))
			return o;
	}
	return NULL;
}

/* A reader may come at any moment: an order without its gates would look like an inversion.
 */
static void publish(struct watch_order *o, struct watch_order now)
{
	uint64_t inner = now.inner;

	STORE(o->inner, 0);
	now.inner = 0;
	*o = now;
	STORE(o->inner, inner);
}

/* The top use was acquired. One of each order stays for good, since one that matters is rare among
 * many that repeat: the one with the fewest gates. */
void history_order(struct watch_slot *t)
{
	const struct watch_use *inner = &t->uses[t->n - 1];

	for (uint32_t k = 0; k < t->n - 1; k++) {
		const struct watch_use *outer = &t->uses[k];
		struct watch_order now = { .inner = inner->object, .outer = outer->object }, *o;

		if (outer->state != WATCH_HELD || outer->object == inner->object)
			continue;
		put_gates(t, &now, k);
		o = find_order(t, now.inner, now.outer);
		if (!o || (o->inner && o->ngates <= now.ngates))
			continue;
		now.inner_kind = inner->kind;
		now.outer_kind = outer->kind;
		now.inner_stack = inner->stack;
		now.outer_stack = outer->stack;
		now.inner_generation = generation(t, inner);
		now.outer_generation = generation(t, outer);
		publish(o, now);
	}
}
