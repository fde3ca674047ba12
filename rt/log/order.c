/* rt/log/order.c - mode sync: the order of synchronisation.
 *
 * Each thread counts its operations. An object remembers its last operation: which thread, and that
 * thread's count. When another thread comes next, its file gets one record: "my operation number n came
 * after operation m of thread t". These pairs, with the order of each thread and what locks and the like
 * do anyway, are the order of all synchronisation. No object needs a name that holds in the next run.
 * Nothing is written when the same thread comes again, nor when this thread knows already that t came
 * that far.
 *
 * Operation and record must be one step for everybody who uses the object. Taking a lock is recorded
 * while the lock is held, giving something away (a post, a signal) before it is done. An attempt that
 * failed is not ordered: it has changed nothing, and that it failed is written down.
 *
 * A mutex remembers in itself, in two words that libc leaves alone: they come into the cache with it, and
 * what it protects is that memory, too. Taking it costs no atomic instruction. A mutex whose two words
 * somebody else has written comes after everything so far.
 *
 * Other objects are found by a hash of their address. Most have a place of their own. When there are very
 * many, the rest share places. The order of records in a place is an order in which it all happened, so nothing breaks:
 * there are only more hand-overs.
 *
 * The count is in the head of the thread's window (struct plait_window), so that after a kill it is
 * known how far each thread came. */
#include "rt/log/order.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>

struct log_place log_places[LOG_PLACES + LOG_SHARED];
struct log_thread log_threads[PLAIT_MAX_THREADS];
bool log_begun;
uint64_t log_nonce;
uint64_t log_program_low, log_program_size;

/* Operations between two check marks: a sixteenth of those so far, within these, and no more than the thread makes in
 * some time. A short run has many marks, and a long one few bytes of them. */
enum { MARKS_LEAST = 1, MARKS_MOST = 256 };
#define MARK_TICKS 100000ull /* some 40 us */

RECORD_SLOW struct log_place *log_find_place(const void *object, uint64_t hash)
{
	for (unsigned i = 0; i < LOG_PROBES; i++) {
		struct log_place *p = &log_places[(hash + i) % LOG_PLACES];
		const void *none = NULL;

		if (p->object == object ||
		    (!p->object &&
		     __atomic_compare_exchange_n(&p->object, &none, object, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) ||
		    p->object == object)
			return p;
	}
	return &log_places[LOG_PLACES + hash % LOG_SHARED];
}

static uint8_t *put_count(struct rt_thread *t, uint8_t *q, uint64_t count)
{
	struct log_thread *l = &log_threads[t->index];

	q = put_varint(q, count - l->written);
	l->written = count;
	return q;
}

RECORD_SLOW void log_hand_over(struct rt_thread *t, uint64_t at, uint32_t who, uint64_t count)
{
	struct log_thread *l = &log_threads[t->index];
	unsigned k = who % LOG_KNOWN;
	uint8_t *p, *q;

	if (l->known_who[k] == who && l->known[k] >= count)
		return;
	p = record_begin(t, 0, false);
	if (!p)
		return;
	l->known_who[k] = who;
	l->known[k] = count;
	q = put_count(t, p + 1, at);
	q = put_varint(q, who - 1);
	q = put_varint(q, zigzag((int64_t)(count - l->last_known[k])));
	l->last_known[k] = count;
	record_end(t, p, q, PLAIT_EV_HANDOVER);
}

RECORD_SLOW void log_came_before(struct rt_thread *t, uint64_t count, uint64_t stamp)
{
	uint8_t *p = record_begin(t, 0, false), *q;

	if (!p)
		return;
	q = put_varint(p + 1, count);
	q = put_varint(q, (stamp >> LOG_COUNT_BITS) - 1);
	q = put_varint(q, stamp & ((1ull << LOG_COUNT_BITS) - 1));
	record_end(t, p, q, PLAIT_EV_CAME_BEFORE);
}

/* At the pace that the thread has had since its last mark. */
static uint64_t operations_to_mark(const struct rt_thread *t, uint64_t count)
{
	const struct log_thread *l = &log_threads[t->index];
	uint64_t gap = count / 16, took = t->last_clock - l->marked_clock, by_time;

	gap = gap > MARKS_MOST ? MARKS_MOST : gap;
	by_time = took ? (count - l->marked) * MARK_TICKS / took : gap;
	gap = gap > by_time ? by_time : gap;
	return gap < MARKS_LEAST ? MARKS_LEAST : gap;
}

RECORD_SLOW void log_mark(struct rt_thread *t)
{
	uint64_t count = *t->synced;
	uint8_t *p, *q;

	record_tell_time(t);
	p = record_begin(t, 0, false);
	t->next_mark = count + operations_to_mark(t, count);
	log_threads[t->index].marked = count;
	log_threads[t->index].marked_clock = t->last_clock;
	if (!p)
		return;
	q = put_count(t, p + 1, count);
	q = put_varint(q, plait_log_mark_of(t->hash));
	record_end(t, p, q, PLAIT_EV_MARK);
}

RECORD_SLOW void log_slept(void)
{
	struct rt_thread *t = recorded();
	uint8_t *p;

	if (!t)
		return;
	record_tell_time(t);
	p = record_begin(t, 0, false);
	if (p)
		record_end(t, p, put_count(t, p + 1, *t->synced), PLAIT_EV_WOKE);
}

/* What is behind the last mark gets one, too. */
static void thread_ends(struct rt_thread *t)
{
	if (t == recorded() && *t->synced && log_threads[t->index].marked != *t->synced)
		log_mark(t);
}

void log_operation(const void *object, uint32_t kind)
{
	struct rt_thread *t = recorded();
	struct log_place *p;

	if (!t)
		return;
	p = place_of(object);
	log_lock(&p->lock);
	take_place(t, p, kind, object);
	log_unlock(&p->lock);
}

void log_also(const void *object)
{
	struct rt_thread *t = recorded();
	struct log_place *p;

	if (!t)
		return;
	p = place_of(object);
	log_lock(&p->lock);
	follow_place(t, p, *t->synced);
	stamp_place(t, p, *t->synced);
	log_unlock(&p->lock);
}

/* About the thread's last operation; v NULL: there is no such field. */
static void put_about(struct rt_thread *t, uint32_t kind, int64_t result, const uint64_t *v)
{
	uint8_t *p = record_begin(t, 0, false), *q;

	if (!p)
		return;
	q = put_count(t, p + 1, *t->synced);
	q = put_varint(q, zigzag(result));
	if (v)
		q = put_varint(q, *v);
	record_end(t, p, q, kind);
}

void log_result(int64_t result)
{
	struct rt_thread *t = recorded();

	if (t)
		put_about(t, PLAIT_EV_RESULT, result, NULL);
}

/* ---- after all that was done so far ---- */

/* How far another thread is. It may end meanwhile, and its window be gone: the kernel looks. */
static bool read_count(const struct rt_thread *other, uint64_t *ret)
{
	struct iovec to = { ret, sizeof(*ret) }, from = { other->synced, sizeof(*ret) };

	return from.iov_base && rt_syscall(SYS_process_vm_readv, rt_run->pid, (long)&to, 1,
					   (long)&from, 1, 0) == sizeof(*ret);
}

/* except_last: only what they have finished for certain. */
static void after_all(struct rt_thread *t, uint64_t at, bool except_last)
{
	uint64_t count;

	for (uint32_t i = 0; i < rt_run->nthreads && i < PLAIT_MAX_THREADS; i++)
		if (&rt_threads[i] != t && read_count(&rt_threads[i], &count) &&
		    count > except_last)
			log_hand_over(t, at, i + 1, count - except_last);
}

/* Whoever had it before has counted one more since, when he gave it back. The last operation of another
 * thread may be right here, with another mutex: each would come after the other. */
RECORD_SLOW void log_unknown_stamp(struct rt_thread *t, struct log_mutex_stamp *s, uint64_t check)
{
	int e = errno;

	if (s->check)
		after_all(t, *t->synced + 1, true);
	s->check = check;
	errno = e;
}

/* ---- signals ---- */

/* The handler comes after what the others have done so far. They may look at what it does without any
 * synchronisation. */
static void signalled(int number)
{
	struct rt_thread *t = recorded();
	uint64_t atomics;
	int e = errno;

	if (!t) {
		/* it came in the middle of a record, and cannot be written down */
		if (log_begun && rt_self_ && rt_self_->depth && !rt_self_->detached_from_trace)
			rt_run->threads[rt_self_->index].lost += rt_self_ != &rt_nobody;
		return;
	}
	atomics = log_atomics_of(t);
	put_about(t, PLAIT_EV_INTERRUPTED, number, &atomics);
	after_all(t, *t->synced, false);
	errno = e;
}

/* ---- the beginning ---- */

void log_new_nonce(void)
{
	struct timespec now;

	real.clock_gettime(CLOCK_MONOTONIC, &now);
	log_nonce =
		((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec << 22 ^ (uint64_t)getpid()) *
			0x9e3779b97f4a7c15ull |
		1;
}

static void main_begins(void)
{
	rt_note_modules();
	log_program_low = rt_run->modules[0].low;
	log_program_size = rt_run->modules[0].high - log_program_low;
	log_begun = true;
	noted_begin();
}

void log_record_init(void)
{
	log_new_nonce();
	locks_init();
	atomics_init();
	futex_init();
	noted_init();
	rt_on_main = main_begins;
	rt_on_end = thread_ends;
	rt_on_signal = signalled;
}
