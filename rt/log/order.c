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
 * while the lock is held, giving something away (a post, a signal) before it is done. A failed attempt
 * to take a lock is made inside the place's own lock; from then on giving back happens there as well.
 *
 * Objects are found by a hash of their address, and two of them may share a place. The order of records
 * in a place is an order in which it all happened, so nothing breaks: there are only more hand-overs.
 *
 * The count is also in the head of the thread's window (struct plait_window), so that after a kill it is
 * known how far each thread came. */
#include "rt/log/log.h"

#include "rt/core/record.h"

#include <sched.h>
#include <sys/syscall.h>

enum {
	PLACES = 1 << 14,
	KNOWN = 64, /* threads that a thread remembers */
	SPINS = 100,
};

struct log_place {
	uint32_t lock;
	uint32_t last; /* thread index + 1; 0: nobody yet */
	uint64_t count;
	bool tried;
} __attribute__((aligned(64)));

static struct log_place places[PLACES];

/* What a thread has written, and knows. */
static struct log_thread {
	uint64_t count;		    /* operations */
	uint64_t written;	    /* the count in its last record */
	uint64_t known[KNOWN];	    /* how far another thread is known to have come */
	uint32_t known_who[KNOWN];  /* ... index + 1 */
	uint64_t last_known[KNOWN]; /* what the next difference is to */
} threads[PLAIT_MAX_THREADS];

bool log_begun;

static struct log_place *place_of(const void *object)
{
	return &places[((uint64_t)object * 0x9e3779b97f4a7c15ull >> 40) % PLACES];
}

static void lock(struct log_place *p)
{
	for (unsigned i = 1; __atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE); i++) {
		if (i % SPINS == 0)
			rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		__builtin_ia32_pause();
	}
}

static void unlock(struct log_place *p)
{
	__atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
}

/* Is this thread recorded, right here? */
static struct rt_thread *recorded(void)
{
	struct rt_thread *t = rt_self_;

	return likely(log_begun && t && !t->depth && !t->detached_from_trace) ? t : NULL;
}

static uint64_t advance(struct rt_thread *t)
{
	uint64_t count = ++threads[t->index].count;

	if (likely(t->buffer.window))
		((volatile struct plait_window *)t->buffer.window)->synced = count;
	return count;
}

static uint8_t *put_count(struct log_thread *l, uint8_t *q)
{
	q = put_varint(q, l->count - l->written);
	l->written = l->count;
	return q;
}

static __attribute__((noinline)) void hand_over(struct rt_thread *t, uint32_t who, uint64_t count)
{
	struct log_thread *l = &threads[t->index];
	unsigned k = who % KNOWN;
	uint8_t *p, *q;

	if (l->known_who[k] == who && l->known[k] >= count)
		return;
	p = record_begin(t, 0, false);
	if (!p)
		return;
	l->known_who[k] = who;
	l->known[k] = count;
	q = put_count(l, p + 1);
	q = put_varint(q, who - 1);
	q = put_varint(q, zigzag((int64_t)(count - l->last_known[k])));
	l->last_known[k] = count;
	record_end(t, p, q, PLAIT_EV_HANDOVER);
}

static void take_place(struct rt_thread *t, struct log_place *p, uint64_t count)
{
	if (p->last != t->index + 1) {
		if (p->last)
			hand_over(t, p->last, p->count);
		p->last = t->index + 1;
	}
	p->count = count;
}

struct log_place *log_open(const void *object)
{
	struct log_place *p = place_of(object);

	if (!recorded())
		return NULL;
	lock(p);
	return p;
}

void log_close(struct log_place *p)
{
	struct rt_thread *t = rt_self_;

	take_place(t, p, advance(t));
	unlock(p);
}

void log_operation(const void *object)
{
	struct rt_thread *t = recorded();
	struct log_place *p;

	if (!t)
		return;
	p = place_of(object);
	lock(p);
	take_place(t, p, advance(t));
	unlock(p);
}

void log_also(const void *object)
{
	struct rt_thread *t = recorded();
	struct log_place *p;

	if (!t)
		return;
	p = place_of(object);
	lock(p);
	take_place(t, p, threads[t->index].count);
	unlock(p);
}

void log_count(void)
{
	struct rt_thread *t = recorded();

	if (t)
		advance(t);
}

void log_result(int64_t result)
{
	struct rt_thread *t = recorded();
	uint8_t *p, *q;

	if (!t || !(p = record_begin(t, 0, false)))
		return;
	q = put_count(&threads[t->index], p + 1);
	q = put_varint(q, zigzag(result));
	record_end(t, p, q, PLAIT_EV_RESULT);
}

void log_tried(struct log_place *p)
{
	__atomic_store_n(&p->tried, true, __ATOMIC_RELAXED);
}

bool log_was_tried(const void *object)
{
	return __atomic_load_n(&place_of(object)->tried, __ATOMIC_RELAXED);
}

/* ---- the beginning ---- */

static void main_begins(void)
{
	log_begun = true;
	noted_begin();
}

void log_record_init(void)
{
	locks_init();
	noted_init();
	rt_on_main = main_begins;
}
