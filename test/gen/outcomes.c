/* test/gen/outcomes.c - every outcome of a small program: a plain interpreter of all interleavings.
 *
 * States are looked at once each, in the order in which they are reached. An operation is one step;
 * what nobody else can notice (a jump) belongs to the step before it. Knows nothing of unplait. */
#define _GNU_SOURCE
#include "claimgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum waiting { RUNS, WAITS, SIGNALLED, TIMED_OUT };

struct state {
	uint8_t pc[THREADS], started[THREADS], waiting[THREADS], timed[THREADS];
	int8_t reg[THREADS][REGS + 1];
	int8_t x[VARS], src[WORDS], dst[WORDS];
	char text[WORDS];
	int8_t owner[LOCKS];	/* thread + 1 */
	int8_t writer, readers; /* of the rwlock */
	int8_t spin;
	uint8_t sem;
	uint8_t freed; /* the box */
};

static struct state *seen;
static size_t nseen, cap_seen;
static uint32_t *table;
static size_t cap_table;
static char (*outcomes)[200];
static size_t noutcomes;
static bool moved; /* somebody could go on */

static uint64_t hash_state(const struct state *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint64_t h = 1469598103934665603ull;

	for (size_t i = 0; i < sizeof(*s); i++)
		h = (h ^ p[i]) * 1099511628211ull;
	return h ^ h >> 29;
}

static void grow_table(void)
{
	cap_table = cap_table ? 2 * cap_table : 1 << 16;
	/* cppcheck-suppress memleakOnRealloc ; a generator that runs out of memory ends */
	table = realloc(table, cap_table * sizeof(*table));
	memset(table, 0, cap_table * sizeof(*table));
	for (size_t i = 0; i < nseen; i++) {
		size_t at = hash_state(&seen[i]) % cap_table;

		while (table[at])
			at = (at + 1) % cap_table;
		table[at] = (uint32_t)i + 1;
	}
}

/* Add the state to those still to be looked at, unless it was there before. */
static void reach(const struct state *s)
{
	size_t at;

	moved = true;
	if (2 * nseen >= cap_table)
		grow_table();
	for (at = hash_state(s) % cap_table; table[at]; at = (at + 1) % cap_table)
		if (!memcmp(&seen[table[at] - 1], s, sizeof(*s)))
			return;
	if (nseen == cap_seen) {
		cap_seen = cap_seen ? 2 * cap_seen : 1 << 14;
		/* cppcheck-suppress memleakOnRealloc ; a generator that runs out of memory ends */
		seen = realloc(seen, cap_seen * sizeof(*seen));
	}
	seen[nseen++] = *s;
	table[at] = (uint32_t)nseen;
	if (nseen > 3000000) {
		fprintf(stderr, "claimgen: more than three million states\n");
		exit(4);
	}
}

static void outcome(const char *text)
{
	for (size_t i = 0; i < noutcomes; i++)
		if (!strcmp(outcomes[i], text))
			return;
	/* cppcheck-suppress memleakOnRealloc ; a generator that runs out of memory ends */
	outcomes = realloc(outcomes, (noutcomes + 1) * sizeof(*outcomes));
	snprintf(outcomes[noutcomes++], sizeof(*outcomes), "%s", text);
}

static void ended(const struct state *s)
{
	char text[200];
	int at = 0;

	if (!joins) {
		snprintf(text, sizeof(text), "%d %d", s->reg[0][0], s->reg[0][1]);
		outcome(text);
		return;
	}
	for (unsigned i = 0; i < nthreads; i++)
		for (unsigned r = 0; r < REGS; r++)
			at += snprintf(text + at, sizeof(text) - (size_t)at, "%d ", s->reg[i][r]);
	snprintf(text + at, sizeof(text) - (size_t)at, "| %d %d", s->x[0], s->x[1]);
	outcome(text);
}

/* Execute jumps, which nobody else can notice. */
static void settle(struct state *s, unsigned t)
{
	for (;;) {
		const struct op *o = &threads[t].ops[s->pc[t]];
		int8_t r = s->reg[t][o->r];

		if (o->kind == JUMP || (o->kind == JUMPZ && !r) || (o->kind == JUMPNZ && r))
			s->pc[t] = (uint8_t)o->imm;
		else if (o->kind == JUMPZ || o->kind == JUMPNZ)
			s->pc[t]++;
		else
			return;
	}
}

static void go_on(struct state s, unsigned t)
{
	s.pc[t]++;
	settle(&s, t);
	reach(&s);
}

static void go_on_with(struct state s, unsigned t, unsigned r, int value)
{
	s.reg[t][r] = (int8_t)value;
	go_on(s, t);
}

static bool memory(struct state *s, unsigned t, const struct op *o)
{
	int8_t *r = &s->reg[t][o->r], *x = &s->x[o->object < VARS ? o->object : 0];

	switch (o->kind) {
	case LOAD:
		*r = *x;
		return true;
	case STORE:
		*x = (int8_t)(*r + o->imm);
		return true;
	case ADD:
		*r = *x;
		*x = (int8_t)(*x + o->imm);
		return true;
	case CAS:
		*r = *x == o->imm;
		*x = (int8_t)(*x + *r);
		return true;
	case COPYWORD:
		*r = s->src[o->imm];
		return true;
	case COPYSTORE:
		s->dst[o->imm] = *r;
		*r = 0;
		return true;
	case GETWORD:
		*r = s->dst[o->imm];
		return true;
	case PUTWORD:
		s->src[o->imm] = (int8_t)(*r + 1);
		return true;
	case TEXTWORD:
		s->text[o->imm] = 1;
		return true;
	case TEXTCHAR:
		*r = s->text[o->imm];
		return true;
	default:
		return false;
	}
}

static void wake(const struct state *s, unsigned t, bool all)
{
	struct state n = *s;
	bool any = false;

	for (unsigned i = 0; i < nthreads; i++) {
		if (s->waiting[i] != WAITS)
			continue;
		any = true;
		if (all) {
			n.waiting[i] = SIGNALLED;
			continue;
		}
		n = *s;
		n.waiting[i] = SIGNALLED;
		go_on(n, t);
	}
	if (all || !any)
		go_on(n, t);
}

/* After a wait: the mutex is taken again. A timed wait that nobody has signalled may time out. */
static void woken(struct state s, unsigned t, const struct op *o)
{
	if (s.waiting[t] == WAITS) {
		if (!s.timed[t])
			return;
		s.waiting[t] = TIMED_OUT;
		reach(&s);
		return;
	}
	if (s.owner[0])
		return;
	s.owner[0] = (int8_t)(t + 1);
	if (s.timed[t])
		s.reg[t][o->r] = s.waiting[t] == SIGNALLED;
	s.waiting[t] = RUNS;
	s.timed[t] = 0;
	go_on(s, t);
}

static void lock_step(struct state s, unsigned t, const struct op *o)
{
	bool free = !s.owner[o->object];

	if (o->kind == UNLOCK) {
		s.owner[o->object] = 0;
		go_on(s, t);
	} else if (free) {
		s.owner[o->object] = (int8_t)(t + 1);
		if (o->kind == LOCK)
			go_on(s, t);
		else
			go_on_with(s, t, o->r, 1);
	} else if (o->kind == TRYLOCK || o->kind == TIMEDLOCK) {
		go_on_with(s, t, o->r, 0);
	}
}

static void rwlock_step(struct state s, unsigned t, const struct op *o)
{
	bool reads = o->kind == RDLOCK || o->kind == TRYRD;
	bool free = !s.writer && (reads || !s.readers);
	bool tries = o->kind == TRYRD || o->kind == TRYWR;

	if (o->kind == RWUNLOCK) {
		if (s.writer)
			s.writer = 0;
		else
			s.readers--;
		go_on(s, t);
		return;
	}
	if (!free && !tries)
		return;
	if (free && reads)
		s.readers++;
	else if (free)
		s.writer = (int8_t)(t + 1);
	if (tries)
		go_on_with(s, t, o->r, free);
	else
		go_on(s, t);
}

static void spin_step(struct state s, unsigned t, const struct op *o)
{
	bool free = !s.spin;

	if (o->kind == SPINLOCK && !free)
		return;
	s.spin = o->kind == SPINUNLOCK ? 0 : 1;
	if (o->kind == SPINTRY)
		go_on_with(s, t, o->r, free);
	else
		go_on(s, t);
}

static void sem_step(struct state s, unsigned t, const struct op *o)
{
	bool some = s.sem > 0;

	if (o->kind == SEMPOST)
		s.sem++;
	else if (some)
		s.sem--;
	else if (o->kind == SEMWAIT)
		return;
	if (o->kind == SEMTRY || o->kind == SEMTIMED)
		go_on_with(s, t, o->r, some);
	else
		go_on(s, t);
}

/* The box is filled with zeros. What is done to it when it is gone is a failure, and ends the run. */
static void box_step(struct state s, unsigned t, const struct op *o)
{
	moved = true;
	if (s.freed) {
		outcome(o->kind == USE ? "used" : "freed twice");
		return;
	}
	if (o->kind == USE)
		s.reg[t][o->r] = 0;
	else
		s.freed = 1;
	go_on(s, t);
}

static void step(const struct state *from, unsigned t)
{
	const struct op *o = &threads[t].ops[from->pc[t]];
	struct state s = *from;

	if (memory(&s, t, o)) {
		go_on(s, t);
		return;
	}
	switch (o->kind) {
	case LOCK:
	case UNLOCK:
	case TRYLOCK:
	case TIMEDLOCK:
		lock_step(s, t, o);
		break;
	case RDLOCK:
	case WRLOCK:
	case RWUNLOCK:
	case TRYRD:
	case TRYWR:
		rwlock_step(s, t, o);
		break;
	case SPINLOCK:
	case SPINTRY:
	case SPINUNLOCK:
		spin_step(s, t, o);
		break;
	case SEMWAIT:
	case SEMTRY:
	case SEMTIMED:
	case SEMPOST:
		sem_step(s, t, o);
		break;
	case WAIT:
	case TIMEDWAIT:
		s.owner[0] = 0;
		s.waiting[t] = WAITS;
		s.timed[t] = o->kind == TIMEDWAIT;
		go_on(s, t);
		break;
	case WOKEN:
		woken(s, t, o);
		break;
	case SIGNAL:
	case BROADCAST:
		wake(&s, t, o->kind == BROADCAST);
		break;
	case YIELD:
		go_on(s, t);
		break;
	case USE:
	case FREE:
		box_step(s, t, o);
		break;
	case CREATE:
		s.started[o->imm] = 1;
		go_on(s, t);
		break;
	case JOIN:
		if (threads[o->imm].ops[s.pc[o->imm]].kind == END)
			go_on(s, t);
		break;
	default:
		break;
	}
}

/* Main has ended, or nobody can go on. */
static bool is_over(const struct state *s)
{
	if (threads[0].ops[s->pc[0]].kind != END)
		return false;
	ended(s);
	return true;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

void enumerate(void)
{
	struct state s;

	memset(&s, 0, sizeof(s));
	s.started[0] = 1;
	reach(&s);
	for (size_t i = 0; i < nseen; i++) {
		s = seen[i];
		moved = false;
		if (is_over(&s))
			continue;
		for (unsigned t = 0; t < nthreads; t++) {
			if (!s.started[t] || threads[t].ops[s.pc[t]].kind == END)
				continue;
			step(&s, t);
		}
		if (!moved)
			outcome("deadlock");
	}
	qsort(outcomes, noutcomes, sizeof(*outcomes), by_text);
	for (size_t i = 0; i < noutcomes; i++)
		puts(outcomes[i]);
}
