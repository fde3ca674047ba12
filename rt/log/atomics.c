/* rt/log/atomics.c - mode sync: the program's own atomics, in the recorded order.
 *
 * In the plain variant each atomic that may be shared has a place before and behind it, over which we write
 * jumps (rt/modes/order-patch.c); they lead here by atomics-kept.S. Hooks of other compilers' objects, and of
 * programs that have no plain variant, come by rt_atomic_enter and rt_atomic_leave.
 *
 * The memory that an atomic touches has a place, found by a hash of its address: aligned blocks of 16 bytes,
 * so that accesses of different sizes meet. Blocks that share a place are kept in order together. The place is
 * locked around the atomic, so that operation and record are one step.
 *
 * A thread that left the block as it was has read, whatever the instruction (a load, a compare-and-swap that
 * failed, an exchange that found its own value). A reader comes after the last writer; a writer comes after
 * all readers since, or after the last writer if nobody has read since. So threads that spin write nothing into their
 * logs. A place remembers a few readers; when there are more, a reader counts as a writer, which only adds
 * order.
 *
 * Compiled for general registers alone: what is called on the fast way saves no others. */
#include "rt/log/order.h"

#include <string.h>
#include <sys/syscall.h>

enum { BLOCK = 16, PLACES = 1 << 15, READERS = 6, SPINS = 100 };

struct atomic_place {
	uint32_t lock, nreaders;
	uint64_t last; /* who wrote last, as in struct log_place */
	uint64_t readers[READERS];
} __attribute__((aligned(64)));

static struct atomic_place places[PLACES];

/* The atomic that a thread is in. */
static struct inside {
	struct atomic_place *place;
	const uint64_t *block;
	uint64_t before[BLOCK / 8];
	uint64_t count;	 /* operations of the thread that were atomics */
	uint32_t nested; /* atomics of signal handlers that came in between: not recorded */
	bool writes;	 /* whatever it does to the block */
} inside[PLAIT_MAX_THREADS];

static uint64_t stamp(uint32_t who, uint64_t count)
{
	return (uint64_t)who << LOG_COUNT_BITS | count;
}

/* ---- of all operations; here because of the registers ---- */

RECORD_SLOW void log_lock_slow(uint32_t *lock)
{
	for (unsigned i = 1; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++) {
		if (i % SPINS == 0)
			rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		__builtin_ia32_pause();
	}
}

RECORD_SLOW struct rt_thread *log_recorded_slow(void)
{
	struct rt_thread *t = rt_self_;

	if (!log_begun || !t || t->depth || t->detached_from_trace)
		return NULL;
	t->synced = t->buffer.window ? &((struct plait_window *)t->buffer.window)->synced
				     : &log_threads[t->index].count;
	return t;
}

/* ---- around an atomic ---- */

void log_atomic_enter(const void *p)
{
	struct rt_thread *t = recorded();
	uint64_t block = (uint64_t)p & -(uint64_t)BLOCK;
	struct inside *in;

	if (!t)
		return;
	in = &inside[t->index];
	if (in->place) {
		in->nested++;
		return;
	}
	in->block = (const uint64_t *)block;
	in->place = &places[(block * 0x9e3779b97f4a7c15ull >> 40) % PLACES];
	log_lock(&in->place->lock);
	for (unsigned i = 0; i < BLOCK / 8; i++)
		in->before[i] = __atomic_load_n(&in->block[i], __ATOMIC_RELAXED);
}

static bool has_written(const struct inside *in)
{
	for (unsigned i = 0; i < BLOCK / 8; i++)
		if (in->before[i] != __atomic_load_n(&in->block[i], __ATOMIC_RELAXED))
			return true;
	return in->writes;
}

static bool is_news(const struct log_thread *l, uint32_t me, uint64_t last)
{
	return last && last >> LOG_COUNT_BITS != me && !log_knows(l, last);
}

/* The reader's own entry among those of a place, or a free one; NULL: there is no room. */
static uint64_t *reader_entry(struct atomic_place *p, uint32_t me)
{
	for (uint32_t i = 0; i < p->nreaders; i++)
		if (p->readers[i] >> LOG_COUNT_BITS == me)
			return &p->readers[i];
	if (p->nreaders == READERS)
		return NULL;
	p->readers[p->nreaders] = stamp(me, 0);
	return &p->readers[p->nreaders++];
}

/* Must a record say where this came? */
static bool needs_record(const struct atomic_place *p, const struct log_thread *l, uint32_t me,
			 bool writes)
{
	if (is_news(l, me, p->last))
		return true;
	for (uint32_t i = 0; writes && i < p->nreaders; i++)
		if (is_news(l, me, p->readers[i]))
			return true;
	return false;
}

static void finish(struct rt_thread *t, struct inside *in, uint64_t *reader)
{
	struct atomic_place *p = in->place;
	uint64_t now = stamp(t->index + 1, *t->synced);

	if (reader) {
		*reader = now;
	} else {
		p->last = now;
		p->nreaders = 0;
	}
	in->count++;
	in->writes = false;
	in->place = NULL;
	log_unlock(&p->lock);
}

/* Behind the atomic. True: log_atomic_record must be called. */
bool log_atomic_leave(void)
{
	struct rt_thread *t = recorded();
	struct inside *in;
	bool writes;
	uint64_t *reader = NULL;

	if (!t || !(in = &inside[t->index])->place)
		return false;
	if (in->nested) {
		in->nested--;
		return false;
	}
	writes = has_written(in);
	if (!writes)
		reader = reader_entry(in->place, t->index + 1);
	if (needs_record(in->place, &log_threads[t->index], t->index + 1, !reader)) {
		in->writes = !reader;
		return true;
	}
	advance(t);
	finish(t, in, reader);
	return false;
}

static void come_after(struct rt_thread *t, uint64_t last)
{
	if (is_news(&log_threads[t->index], t->index + 1, last))
		log_hand_over(t, (uint32_t)(last >> LOG_COUNT_BITS),
			      last & ((1ull << LOG_COUNT_BITS) - 1));
}

void log_atomic_record(void)
{
	struct rt_thread *t = rt_self_;
	struct inside *in = &inside[t->index];
	struct atomic_place *p = in->place;

	advance(t);
	for (uint32_t i = 0; in->writes && i < p->nreaders; i++)
		come_after(t, p->readers[i]);
	come_after(t, p->last);
	finish(t, in, in->writes ? NULL : reader_entry(p, t->index + 1));
}

/* ---- for code that may use all registers ---- */

static void leave(void)
{
	if (log_atomic_leave())
		log_atomic_record();
}

uint32_t log_word_operation(const uint32_t *word)
{
	struct rt_thread *t = recorded();
	uint32_t value;

	log_atomic_enter(word);
	value = __atomic_load_n(word, __ATOMIC_SEQ_CST);
	if (t)
		inside[t->index].writes = true;
	leave();
	if (t)
		inside[t->index].count--; /* the call is an operation, not the look at the word */
	return value;
}

uint64_t log_atomics_of(const struct rt_thread *t)
{
	return inside[t->index].count;
}

void log_forked(void)
{
	memset(places, 0, sizeof(places));
	memset(inside, 0, sizeof(inside));
}

void atomics_init(void)
{
	rt_atomic_enter = log_atomic_enter;
	rt_atomic_leave = leave;
}
