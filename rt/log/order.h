/* rt/log/order.h - private to rt/log/: the fast path of recording the order of synchronisation. */
#ifndef RT_LOG_ORDER_H
#define RT_LOG_ORDER_H

#include "rt/log/log.h"

#include "rt/core/record.h"
#include "unplait/log.h"

enum {
	LOG_PLACES = 1 << 14,
	LOG_SHARED = 1 << 10, /* more places, for objects that have none of their own */
	LOG_PROBES = 8,
	LOG_KNOWN = 64, /* threads that a thread remembers */
	LOG_COUNT_BITS = PLAIT_STAMP_BITS,
};

/* Its object, or NULL: it is for all that have no other. The last operation is one word, thread index + 1
 * above the count, so that it can be looked at while the holder of a mutex writes it. */
struct log_place {
	const void *object;
	uint64_t last; /* 0: nobody yet */
	uint32_t lock;
} __attribute__((aligned(64)));

extern struct log_place log_places[LOG_PLACES + LOG_SHARED];

/* What a thread has written, and knows. */
struct log_thread {
	uint64_t count;			/* operations, while it has no window */
	uint64_t written;		/* the count in its last record */
	uint64_t marked, marked_clock;	/* the count of its last check mark, and when that was */
	uint64_t known[LOG_KNOWN];	/* how far another thread is known to have come */
	uint32_t known_who[LOG_KNOWN];	/* ... index + 1 */
	uint64_t last_known[LOG_KNOWN]; /* what the next difference is to */
};
extern struct log_thread log_threads[PLAIT_MAX_THREADS];

/* The program's own static memory: its objects have the same offsets in every run. */
extern uint64_t log_program_low, log_program_size __attribute__((visibility("hidden")));

RECORD_SLOW struct log_place *log_find_place(const void *object, uint64_t hash);
/* Operation `at` of t, its last or its next one, came after operation `count` of the thread with index who - 1. */
RECORD_SLOW void log_hand_over(struct rt_thread *t, uint64_t at, uint32_t who, uint64_t count);
/* Write down the thread's check mark. */
RECORD_SLOW void log_mark(struct rt_thread *t);
/* Operation `count` of t came before what the stamp (as in struct log_place) stands for. */
RECORD_SLOW void log_came_before(struct rt_thread *t, uint64_t count, uint64_t stamp);

/* Does it know already that the thread came so far? last: as in struct log_place. */
static inline bool log_knows(const struct log_thread *l, uint64_t last)
{
	uint32_t who = (uint32_t)(last >> LOG_COUNT_BITS);

	return l->known_who[who % LOG_KNOWN] == who &&
	       l->known[who % LOG_KNOWN] >= (last & ((1ull << LOG_COUNT_BITS) - 1));
}

/* Somebody else has it. */
RECORD_SLOW void log_lock_slow(uint32_t *lock);

static inline void log_lock(uint32_t *lock)
{
	if (unlikely(__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE)))
		log_lock_slow(lock);
}

static inline void log_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static inline struct log_place *place_of(const void *object)
{
	uint64_t hash = (uint64_t)object * 0x9e3779b97f4a7c15ull >> 40;
	struct log_place *p = &log_places[hash % LOG_PLACES];

	return likely(p->object == object) ? p : log_find_place(object, hash);
}

/* Its first operation, or it is not recorded. */
RECORD_SLOW struct rt_thread *log_recorded_slow(void);

/* Is this thread recorded, right here? */
static inline struct rt_thread *recorded(void)
{
	struct rt_thread *t = rt_self_;

	return likely(t && !t->depth && t->synced) ? t : log_recorded_slow();
}

static inline uint64_t advance(struct rt_thread *t)
{
	return ++*(volatile uint64_t *)t->synced;
}

/* Write down that the thread has slept. */
RECORD_SLOW void log_slept(void);

/* The thread has waited for long, maybe: its next operation gets a mark, and with it its time. */
static inline void log_woke(struct rt_thread *t)
{
	if (t)
		t->next_mark = 0;
}

/* Count an operation that is mixed into the thread's hash. */
static inline uint64_t log_step(struct rt_thread *t, uint32_t kind, const void *object)
{
	uint64_t offset = (uint64_t)object - log_program_low, count;

	t->hash = plait_log_mix(t->hash, kind, offset < log_program_size ? offset : 0);
	count = advance(t);
	if (unlikely(count >= t->next_mark))
		log_mark(t);
	return count;
}

/* Operation `at` of t follows the last one of the place. */
static inline void follow_place(struct rt_thread *t, const struct log_place *p, uint64_t at)
{
	uint64_t last = p->last;

	if (unlikely(last >> LOG_COUNT_BITS != t->index + 1 && last))
		log_hand_over(t, at, (uint32_t)(last >> LOG_COUNT_BITS),
			      last & ((1ull << LOG_COUNT_BITS) - 1));
}

static inline void stamp_place(const struct rt_thread *t, struct log_place *p, uint64_t count)
{
	__atomic_store_n(&p->last, (uint64_t)(t->index + 1) << LOG_COUNT_BITS | count,
			 __ATOMIC_RELAXED);
}

/* The next operation of t, at a place that is held. Its record goes first: after a kill in between there is a record of
 * an operation that was never made, which nobody asks for, and not an operation whose order is lost. */
static inline void take_place(struct rt_thread *t, struct log_place *p, uint32_t kind,
			      const void *object)
{
	follow_place(t, p, *t->synced + 1);
	stamp_place(t, p, log_step(t, kind, object));
}

/* ---- mutexes keep their last operation themselves ---- */

/* libc links robust mutexes into a list, and uses these two words of no other mutex. `check` tells that
 * they are ours: a mutex just made has zeros there, one that was copied, or used by another process, has
 * something else. */
struct log_mutex_stamp {
	uint64_t last; /* as in struct log_place */
	uint64_t check;
} __attribute__((may_alias));
_Static_assert(sizeof(struct log_mutex_stamp) == sizeof(((pthread_mutex_t *)0)->__data.__list),
	       "a mutex has room for its stamp");

enum {
	/* Kinds that libc lets be: not robust, without priorities, of one process. The flags above those
	 * are about elision. */
	LOG_UNSTAMPED = 0xfc,
};

extern uint64_t log_nonce; /* odd; another one in each process */

/* The mutex has no stamp of ours: it is new, or what happened to it is not known. */
RECORD_SLOW void log_unknown_stamp(struct rt_thread *t, struct log_mutex_stamp *s, uint64_t check);

static inline void take_stamp(struct rt_thread *t, struct log_mutex_stamp *s, uint32_t kind,
			      const pthread_mutex_t *m)
{
	uint64_t check = log_nonce ^ (uint64_t)m, last = s->last;

	if (unlikely(s->check != check))
		log_unknown_stamp(t, s, check);
	else if (unlikely(last >> LOG_COUNT_BITS != t->index + 1))
		log_hand_over(t, *t->synced + 1, (uint32_t)(last >> LOG_COUNT_BITS),
			      last & ((1ull << LOG_COUNT_BITS) - 1));
	s->last = (uint64_t)(t->index + 1) << LOG_COUNT_BITS | log_step(t, kind, m);
}

/* An object that one thread alone can hold, and this one has taken it: nobody else is here meanwhile. */
static inline void log_taken(const void *object, uint32_t kind)
{
	struct rt_thread *t = recorded();
	struct log_place *p;

	if (!t)
		return;
	p = place_of(object);
	if (likely(p->object))
		take_place(t, p, kind, object);
	else
		log_operation(object, kind);
}

static inline __attribute__((always_inline)) void log_mutex_taken(pthread_mutex_t *m, uint32_t kind)
{
	struct rt_thread *t = recorded();

	if (unlikely(m->__data.__kind & LOG_UNSTAMPED))
		log_taken(m, kind);
	else if (likely(t))
		take_stamp(t, (struct log_mutex_stamp *)&m->__data.__list, kind, m);
}

/* It gives something back, and only counts. */
static inline void log_count(void)
{
	struct rt_thread *t = recorded();

	if (t)
		advance(t);
}

#endif
