/* rt/log/atomics.c - mode sync: the program's own atomics, in the recorded order.
 *
 * In the plain variant each atomic that may be shared is a place, over which we write a jump
 * (rt/modes/order-patch.c). A load leads to loads.S; every other atomic has a place before and one behind it,
 * which lead here by atomics-kept.S. Hooks of other compilers' objects, and of programs that have no plain
 * variant, come by rt_atomic_enter and rt_atomic_leave.
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
 * A load needs no lock when this thread has read the place since the last write to it: it looks at the
 * stamp of the last writer before and behind the load, and notes its own count in its cell of the place. The
 * next writer looks at the cells of those who have read. A count that was stored too late for the writer to
 * see it is found afterwards, by its thread or by the tool (doc/design/record.md has the proof).
 *
 * Compiled for general registers alone: what is called on the fast way saves no others. */
#include "rt/log/atomics.h"

#include "rt/log/order.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { BLOCK = 16, PLACES = PLAIT_CELLS, READERS = 7, SPINS = 100, READS_FOR_CELLS = 4096 };

/* By place: the stamp of who wrote last (thread index + 1 above its count), or LOCKED. A cell has none of
 * these values before its thread has been there. */
uint64_t log_stamps[PLACES];
#define LOCKED	 (1ull << 63)
#define NOBODY	 1ull
#define HAS_READ (1ull << 62) /* somebody else than the writer has read since */

/* Who has read since; only its holder looks. */
static struct readers {
	uint64_t n;
	uint64_t stamps[READERS];
} __attribute__((aligned(64))) readers_of[PLACES];

/* The atomic that a thread is in. */
static struct inside {
	uint32_t place;	 /* + 1; 0: in none */
	uint32_t nested; /* atomics of signal handlers that came in between: not recorded */
	const uint64_t *block;
	uint64_t before[BLOCK / 8];
	uint64_t last;	/* the stamp that it found */
	uint64_t after; /* the last writer, as far as that one has come in this place */
	uint64_t count; /* operations of the thread that were atomics, those of loads.S apart */
	uint64_t reads; /* until it gets cells */
	bool writes;	/* whatever it does to the block */
	bool bare;	/* it has asked for cells; they may not have been had */
} __attribute__((aligned(128))) inside[PLAIT_MAX_THREADS];

_Static_assert(offsetof(struct rt_thread, depth) == LOG_THREAD_DEPTH, "loads.S");
_Static_assert(offsetof(struct rt_thread, synced) == LOG_THREAD_SYNCED, "loads.S");
_Static_assert(offsetof(struct rt_thread, cells) == LOG_THREAD_CELLS, "loads.S");
_Static_assert(offsetof(struct plait_cells, loads) == 0, "loads.S");
_Static_assert(offsetof(struct plait_cells, cells) == LOG_CELLS_FIRST, "loads.S");
_Static_assert(PLAIT_CELLS == 1 << LOG_CELLS_BITS, "loads.S");

static uint64_t stamp(uint32_t who, uint64_t count)
{
	return (uint64_t)who << LOG_COUNT_BITS | count;
}

static uint32_t who_of(uint64_t s)
{
	return (uint32_t)((s & ~HAS_READ) >> LOG_COUNT_BITS);
}

static uint64_t count_of(uint64_t s)
{
	return s & ((1ull << LOG_COUNT_BITS) - 1);
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

/* ---- cells: what a thread has read without a lock ---- */

/* In a file of its own, reserved, so that it survives a kill and a store cannot fail. */
static void open_cells(struct rt_thread *t, struct inside *in)
{
	const size_t size = sizeof(struct plait_cells);
	char path[RT_BUFFER_PATH];
	long fd, p = -1;

	in->bare = true;
	if (!rt_buffer_path(path, 'c', t->index) || !t->buffer.window)
		return;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			0644, 0, 0);
	if (fd < 0)
		return;
	if (rt_buffer_reserve((int)fd, 0, size))
		p = rt_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p >= 0 || p < -4095)
		t->cells = (struct plait_cells *)p;
}

/* It reads much, and should do so without a lock. */
static bool wants_cells(const struct rt_thread *t, const struct inside *in)
{
	return !t->cells && !in->bare && in->reads >= READS_FOR_CELLS;
}

/* This thread has read or written the place, under its lock; its last writer's stamp is `last` now. `by` goes
 * first: after a kill in between, the new count would seem to have come before that writer. */
static void note_read(const struct rt_thread *t, uint32_t place, uint64_t last)
{
	volatile struct plait_cell *c = &t->cells->cells[place];

	c->by = 0;
	c->stamp = last;
	c->last = *t->synced;
}

/* The cell of the thread in a stamp, if its loads without a lock may have seen `last`. */
static struct plait_cell *cell_of(uint64_t stamp, uint32_t place, uint64_t last)
{
	struct plait_cells *cells = who_of(stamp) ? rt_threads[who_of(stamp) - 1].cells : NULL;

	/* the writer's own may have been taken before others read */
	return cells && !((cells->cells[place].stamp ^ last) & ~HAS_READ) ? &cells->cells[place]
									  : NULL;
}

/* How far that thread has come, by its cell. */
static uint64_t look_at_cell(uint64_t known, uint32_t place, uint64_t last)
{
	const volatile struct plait_cell *c = cell_of(known, place, last);
	uint64_t count = c ? c->last : 0;

	return count > count_of(known) ? stamp(who_of(known), count) : known;
}

/* ... and this is all that the writer knows of: what the thread stores later it must tell itself. */
static void cut_cell(uint64_t known, uint32_t place, uint64_t last, uint64_t by)
{
	struct plait_cell *c = cell_of(known, place, last);

	if (!c || who_of(known) == who_of(by))
		return;
	c->seen = count_of(known);
	c->by = by;
}

/* Has a writer not seen the last load of this thread? */
static bool was_cut(const struct rt_thread *t, uint32_t place)
{
	return t->cells && plait_cell_is_cut(&t->cells->cells[place]);
}

/* ---- around an atomic ---- */

RECORD_SLOW static uint64_t lock_slow(uint64_t *word)
{
	uint64_t s;

	for (unsigned i = 1; (s = __atomic_exchange_n(word, LOCKED, __ATOMIC_ACQUIRE)) == LOCKED;
	     i++) {
		if (i % SPINS == 0)
			rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		__builtin_ia32_pause();
	}
	return s;
}

static uint64_t lock_place(uint32_t place)
{
	uint64_t s = __atomic_exchange_n(&log_stamps[place], LOCKED, __ATOMIC_ACQUIRE);

	return likely(s != LOCKED) ? s : lock_slow(&log_stamps[place]);
}

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
	in->place = log_cell_of(p) + 1;
	in->last = lock_place(in->place - 1);
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
	return who_of(last) && who_of(last) != me && !log_knows(l, last);
}

/* Those who have read since the last write; empty where nobody has. */
static struct readers *readers_at(const struct inside *in)
{
	static struct readers nobody;

	return in->last & HAS_READ ? &readers_of[in->place - 1] : &nobody;
}

/* Is this reader to stand among those of the place? The last writer's cell is looked at in any case. */
static bool is_entered(const struct rt_thread *t, const struct inside *in)
{
	return !t->cells || who_of(in->last) != t->index + 1;
}

/* The reader's own entry, or a free one; NULL: there is no room. */
static uint64_t *reader_entry(struct readers *r, uint32_t me)
{
	for (uint64_t i = 0; i < r->n; i++)
		if (who_of(r->stamps[i]) == me)
			return &r->stamps[i];
	return r->n < READERS ? &r->stamps[r->n] : NULL;
}

static void enter_reader(const struct inside *in, uint64_t now)
{
	struct readers *r = &readers_of[in->place - 1];
	uint64_t *entry;

	if (!(in->last & HAS_READ))
		r->n = 0;
	entry = reader_entry(r, who_of(now));
	r->n += entry == &r->stamps[r->n];
	*entry = now;
}

/* A writer holds the place: how far those have come whom it must come after. */
static void look_at_cells(struct inside *in, struct readers *r)
{
	in->after = look_at_cell(in->last & ~HAS_READ, in->place - 1, in->last);
	for (uint64_t i = 0; i < r->n; i++)
		r->stamps[i] = look_at_cell(r->stamps[i], in->place - 1, in->last);
}

static void cut_cells(const struct inside *in, const struct readers *r, uint64_t by)
{
	cut_cell(in->after, in->place - 1, in->last, by);
	for (uint64_t i = 0; i < r->n; i++)
		cut_cell(r->stamps[i], in->place - 1, in->last, by);
}

/* Must a record say where this came? */
static bool needs_record(const struct inside *in, const struct readers *r,
			 const struct rt_thread *t)
{
	const struct log_thread *l = &log_threads[t->index];

	if (is_news(l, t->index + 1, in->after) || was_cut(t, in->place - 1) || wants_cells(t, in))
		return true;
	for (uint64_t i = 0; in->writes && i < r->n; i++)
		if (is_news(l, t->index + 1, r->stamps[i]))
			return true;
	return false;
}

/* The operation is counted, and the place has this stamp now. */
static void unlock_place(const struct rt_thread *t, struct inside *in, uint64_t last)
{
	uint32_t place = in->place - 1;

	if (t->cells)
		note_read(t, place, last);
	in->count++;
	in->writes = false;
	in->place = 0;
	__atomic_store_n(&log_stamps[place], last, __ATOMIC_RELEASE);
}

static void finish(struct rt_thread *t, struct inside *in, const struct readers *r)
{
	uint64_t now = stamp(t->index + 1, *t->synced), last = in->last;

	if (in->writes) {
		cut_cells(in, r, now);
		last = now;
	} else if (is_entered(t, in)) {
		enter_reader(in, now);
		last |= HAS_READ;
		in->reads++;
	}
	unlock_place(t, in, last);
}

/* Behind the atomic. True: log_atomic_record must be called. */
bool log_atomic_leave(void)
{
	struct rt_thread *t = recorded();
	struct inside *in;
	struct readers *r;

	if (!t || !(in = &inside[t->index])->place)
		return false;
	if (in->nested) {
		in->nested--;
		return false;
	}
	in->writes = has_written(in);
	if (in->writes && in->last >> LOG_COUNT_BITS == t->index + 1) { /* nobody was here since */
		unlock_place(t, in, stamp(t->index + 1, advance(t)));
		return false;
	}
	r = readers_at(in);
	in->after = in->last & ~HAS_READ;
	in->writes |= is_entered(t, in) && !reader_entry(r, t->index + 1);
	if (in->writes)
		look_at_cells(in, r);
	if (needs_record(in, r, t))
		return true;
	advance(t);
	finish(t, in, r);
	return false;
}

static void come_after(struct rt_thread *t, uint64_t last)
{
	if (is_news(&log_threads[t->index], t->index + 1, last))
		log_hand_over(t, *t->synced + 1, who_of(last), count_of(last));
}

void log_atomic_record(void)
{
	struct rt_thread *t = rt_self_;
	struct inside *in = &inside[t->index];
	struct readers *r = readers_at(in);

	if (wants_cells(t, in))
		open_cells(t, in);
	if (was_cut(t, in->place - 1))
		log_came_before(t, t->cells->cells[in->place - 1].last,
				t->cells->cells[in->place - 1].by);
	for (uint64_t i = 0; in->writes && i < r->n; i++)
		come_after(t, r->stamps[i]);
	come_after(t, in->after);
	if (advance(t) >= t->next_mark)
		log_mark(t);
	finish(t, in, r);
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
	return inside[t->index].count + (t->cells ? t->cells->loads : 0);
}

static void nobody_wrote(void)
{
	for (uint32_t i = 0; i < PLACES; i++)
		log_stamps[i] = NOBODY;
}

void log_forked(void)
{
	for (uint32_t i = 0; i < PLAIT_MAX_THREADS; i++)
		rt_threads[i].cells = NULL;
	nobody_wrote();
	log_new_nonce();
	memset(inside, 0, sizeof(inside));
}

void atomics_init(void)
{
	nobody_wrote();
	rt_atomic_enter = log_atomic_enter;
	rt_atomic_leave = leave;
}
