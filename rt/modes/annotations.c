/* rt/modes/annotations.c - what programs say about their own synchronisation.
 *
 * Two interfaces that race detectors have had for long, accepted as they are: ThreadSanitizer's
 * (sanitizer/tsan_interface.h) and the dynamic annotations of helgrind, DRD and ThreadSanitizer's
 * first version. All of it becomes the events `release` and `acquire`, `benign` and `ignore`.
 *
 * The names are weak: a program that brings its own, as many do, keeps them. */
#include "rt/modes/annotations.h"

#include "rt/core/rt.h"

#define EXPORT PLAIT_EXPORT __attribute__((used, weak))

/* Prototypes that no header of ours has. */
#pragma clang diagnostic ignored "-Wmissing-prototypes"

enum { READS = 1, WRITES = 2 };
/* ThreadSanitizer's __tsan_mutex_* flags. */
enum { MUTEX_TRY_FAILED = 1 << 5 };

#define RELEASE(p) annotations_release((const void *)(p), rt_take_site())
#define ACQUIRE(p) annotations_acquire((const void *)(p), rt_take_site())

void annotations_acquire(const void *p, uint32_t site)
{
	rt_record_sa_n(PLAIT_EV_ACQUIRE, site, p, 0);
}

void annotations_release(const void *p, uint32_t site)
{
	rt_record_sa_n(PLAIT_EV_RELEASE, site, p, 0);
}

/* ---- ThreadSanitizer ---- */

EXPORT void __tsan_acquire(void *p)
{
	ACQUIRE(p);
}

EXPORT void __tsan_release(void *p)
{
	RELEASE(p);
}

EXPORT void __tsan_mutex_create(void *p, unsigned flags)
{
	(void)p, (void)flags;
}

EXPORT void __tsan_mutex_destroy(void *p, unsigned flags)
{
	(void)p, (void)flags;
}

EXPORT void __tsan_mutex_pre_lock(void *p, unsigned flags)
{
	(void)p, (void)flags;
}

EXPORT void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion)
{
	(void)recursion;
	if (!(flags & MUTEX_TRY_FAILED))
		ACQUIRE(p);
}

EXPORT int __tsan_mutex_pre_unlock(void *p, unsigned flags)
{
	(void)flags;
	RELEASE(p);
	return 0;
}

/* clang-format off: a table of what needs nothing done */
#define NOTHING(name)                                                                              \
	EXPORT void name(void *p, unsigned flags)                                                  \
	{                                                                                          \
		(void)p, (void)flags;                                                              \
	}
NOTHING(__tsan_mutex_post_unlock)
NOTHING(__tsan_mutex_pre_signal)
NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert)
NOTHING(__tsan_mutex_post_divert)

/* ---- dynamic annotations ---- */

#define HERE	 const char *file, int line
#define UNUSED() ((void)file, (void)line)
#define ORDERS(name, what)                                                                         \
	EXPORT void name(HERE, const volatile void *p)                                             \
	{                                                                                          \
		UNUSED();                                                                          \
		what(p);                                                                           \
	}
ORDERS(AnnotateHappensBefore, RELEASE)
ORDERS(AnnotateHappensAfter, ACQUIRE)
ORDERS(WTFAnnotateHappensBefore, RELEASE)
ORDERS(WTFAnnotateHappensAfter, ACQUIRE)
ORDERS(AnnotateCondVarSignal, RELEASE)
ORDERS(AnnotateCondVarSignalAll, RELEASE)
ORDERS(AnnotatePublishMemoryRange, RELEASE)
/* clang-format on */

EXPORT void AnnotateCondVarWait(HERE, const volatile void *p, const volatile void *mutex)
{
	UNUSED();
	(void)mutex;
	ACQUIRE(p);
}

EXPORT void AnnotateRWLockAcquired(HERE, const volatile void *lock, long write)
{
	UNUSED();
	(void)write;
	ACQUIRE(lock);
}

EXPORT void AnnotateRWLockReleased(HERE, const volatile void *lock, long write)
{
	UNUSED();
	(void)write;
	RELEASE(lock);
}

EXPORT void AnnotateRWLockCreate(HERE, const volatile void *lock)
{
	UNUSED();
	(void)lock;
}

EXPORT void AnnotateRWLockDestroy(HERE, const volatile void *lock)
{
	UNUSED();
	(void)lock;
}

static void benign(const volatile void *p, size_t size, uint32_t site)
{
	rt_record_sa_n(PLAIT_EV_BENIGN, site, (const void *)p, size);
}

EXPORT void AnnotateBenignRaceSized(HERE, const volatile void *p, size_t size, const char *why)
{
	UNUSED();
	(void)why;
	benign(p, size, rt_take_site());
}

EXPORT void WTFAnnotateBenignRaceSized(HERE, const volatile void *p, size_t size, const char *why)
{
	UNUSED();
	(void)why;
	benign(p, size, rt_take_site());
}

EXPORT void AnnotateBenignRace(HERE, const volatile void *p, const char *why)
{
	UNUSED();
	(void)why;
	benign(p, 4, rt_take_site()); /* as ThreadSanitizer has it */
}

static void ignore(unsigned what, int by)
{
	static __thread int depth[2];
	struct rt_sync s = { .kind = PLAIT_EV_IGNORE };

	depth[what - 1] += by;
	s.n = (depth[0] > 0 ? READS : 0) | (depth[1] > 0 ? WRITES : 0);
	if (rt_on_sync)
		rt_on_sync(&s);
	if (rt_recording)
		rt_record_number(PLAIT_EV_IGNORE, s.n);
}

void annotations_ignore(int by)
{
	ignore(READS, by);
	ignore(WRITES, by);
}

EXPORT void AnnotateIgnoreReadsBegin(HERE)
{
	UNUSED();
	ignore(READS, 1);
}

EXPORT void AnnotateIgnoreReadsEnd(HERE)
{
	UNUSED();
	ignore(READS, -1);
}

EXPORT void AnnotateIgnoreWritesBegin(HERE)
{
	UNUSED();
	ignore(WRITES, 1);
}

EXPORT void AnnotateIgnoreWritesEnd(HERE)
{
	UNUSED();
	ignore(WRITES, -1);
}
