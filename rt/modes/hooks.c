/* rt/modes/hooks.c - memory accesses of the full variant.
 *
 * Each hook performs the access itself. What happens around it depends on rt_access: in mode full
 * the value is recorded; in mode control the engine is asked first (announce, be scheduled, access,
 * record); in the collecting modes their collector is told. Values are what was really read or
 * written. */
#include "rt/control/clocks.h"
#include "rt/control/handovers.h"
#include "rt/control/quick.h"
#include "rt/modes/annotations.h"
#include "rt/modes/graph.h"
#include "rt/modes/order.h"
#include "rt/core/record.h"

static void before(uint32_t kind, const void *p, size_t size, uint32_t site)
{
	if (rt_access == RT_ACCESS_CONTROL)
		control_before_access(kind, p, size, site);
	else if (rt_access == RT_ACCESS_ORDER)
		order_enter(site);
	if (rt_before_access)
		rt_before_access(kind, p, size, site);
}

static void after(uint32_t kind, const void *p, size_t size, uint32_t site, uint64_t value,
		  uint64_t value2)
{
	if (rt_access == RT_ACCESS_CONTROL)
		control_after_access(p, site, value,
				     plait_writes(kind) &&
					     !(kind == PLAIT_EV_ATOMIC_RMW && value == value2));
	else if (rt_access == RT_ACCESS_ORDER && rt_self_ && rt_self_->held)
		order_leave(rt_self_->held);
	rt_record_access(kind, site, p, (uint32_t)size, value, value2);
}

/* The access of a range follows the hook: only its place in the order is held. */
static void before_range(uint32_t kind, const void *p, size_t size, uint32_t site)
{
	before(kind, p, size, site);
	/* who copies in a loop does not spin */
	if (rt_access == RT_ACCESS_CONTROL && plait_writes(kind))
		control_after_access(p, site, 0, true);
	if (rt_access == RT_ACCESS_ORDER && rt_self_ && rt_self_->held)
		order_leave(rt_self_->held);
}

/* failure.c tells by the section that a crash in these is the caller's. */
#define HOOK __attribute__((section("plait_hooks")))

/* clang-format off: tables read better than wrapped macros */
#define PLAIN(T, n)                                                                                \
	typedef T __attribute__((aligned(1), may_alias)) any##n;                                   \
	HOOK __attribute__((noinline)) static T read_otherwise##n(const void *p, uint32_t site)    \
	{                                                                                          \
		const volatile any##n *q = p;                                                      \
		T v;                                                                               \
                                                                                                   \
		if (rt_access == RT_ACCESS_PLAIN)                                                  \
			return *q;                                                                 \
		if (rt_access == RT_ACCESS_GRAPH) {                                                \
			rt_graph_access(false, p, n, site);                                        \
			return *q;                                                                 \
		}                                                                                  \
		if (rt_access == RT_ACCESS_ORDER) {                                                \
			struct order_slot *slot = order_enter(site);                               \
                                                                                                   \
			v = *q;                                                                    \
			if (slot)                                                                  \
				order_leave(slot);                                                 \
			return v;                                                                  \
		}                                                                                  \
		if (rt_access != RT_ACCESS_RECORD)                                                 \
			before(PLAIT_EV_READ, p, n, site);                                         \
		v = *q;                                                                            \
		after(PLAIT_EV_READ, p, n, site, v, 0);                                            \
		return v;                                                                          \
	}                                                                                          \
	HOOK __attribute__((noinline)) static void write_otherwise##n(void *p, T v, uint32_t site) \
	{                                                                                          \
		volatile any##n *q = p;                                                            \
                                                                                                   \
		if (rt_access == RT_ACCESS_PLAIN) {                                                \
			*q = v;                                                                    \
			return;                                                                    \
		}                                                                                  \
		if (rt_access == RT_ACCESS_GRAPH) {                                                \
			rt_graph_access(true, p, n, site);                                         \
			*q = v;                                                                    \
			return;                                                                    \
		}                                                                                  \
		if (rt_access == RT_ACCESS_ORDER) {                                                \
			struct order_slot *slot = order_enter(site);                               \
                                                                                                   \
			*q = v;                                                                    \
			if (slot)                                                                  \
				order_leave(slot);                                                 \
			return;                                                                    \
		}                                                                                  \
		if (rt_access != RT_ACCESS_RECORD)                                                 \
			before(PLAIT_EV_WRITE, p, n, site);                                        \
		*q = v;                                                                            \
		after(PLAIT_EV_WRITE, p, n, site, v, 0);                                           \
	}                                                                                          \
	/* mode control, on its own so that the hooks need no frame: they only jump here */        \
	HOOK __attribute__((noinline)) static T read_control##n(const void *p, uint32_t site)      \
	{                                                                                          \
		struct rt_thread *t = rt_self_;                                                    \
		struct control_thread *me;                                                         \
		T v;                                                                               \
                                                                                                   \
		if (control_quick(t, PLAIT_EV_READ, p, site)) {                                    \
			v = *(const volatile any##n *)p;                                           \
			control_quick_read(t->control, p, site, v);                                \
			return v;                                                                  \
		}                                                                                  \
		if (!control.direct)                                                               \
			return read_otherwise##n(p, site);                                         \
		me = control_before_access(PLAIT_EV_READ, p, n, site);                             \
		v = *(const volatile any##n *)p;                                                   \
		if (me)                                                                            \
			control_quick_read(me, p, site, v);                                        \
		return v;                                                                          \
	}                                                                                          \
	HOOK __attribute__((noinline)) static void write_control##n(void *p, T v, uint32_t site)   \
	{                                                                                          \
		bool ours = control_quick(rt_self_, PLAIT_EV_WRITE, p, site);                      \
                                                                                                   \
		if (!ours && !control.direct) {                                                    \
			write_otherwise##n(p, v, site);                                            \
			return;                                                                    \
		}                                                                                  \
		if (!ours)                                                                         \
			ours = control_before_access(PLAIT_EV_WRITE, p, n, site) != NULL;          \
		*(volatile any##n *)p = v;                                                         \
		if (ours)                                                                          \
			control_quick_wrote();                                                     \
	}                                                                                          \
	HOOK T plait_read##n(const void *p, uint32_t site)                                         \
	{                                                                                          \
		struct rt_thread *t = rt_self_;                                                    \
		T v;                                                                               \
                                                                                                   \
		if (unlikely(rt_access != RT_ACCESS_RECORD || !record_is_easy(t))) {               \
			if (rt_access == RT_ACCESS_CONTROL)                                        \
				return read_control##n(p, site);                                   \
			if (rt_access == RT_ACCESS_GRAPH && graph_skips(false, (uint64_t)p, n))    \
				return *(const volatile any##n *)p;                                \
			if (rt_access == RT_ACCESS_ORDER && !order_records(site))                  \
				return *(const volatile any##n *)p;                                \
			return read_otherwise##n(p, site);                                         \
		}                                                                                  \
		v = *(const volatile any##n *)p;                                                   \
		record_easy_access(t, PLAIT_EV_READ, site, p, n, v);                               \
		return v;                                                                          \
	}                                                                                          \
	HOOK void plait_write##n(void *p, T v, uint32_t site)                                      \
	{                                                                                          \
		struct rt_thread *t = rt_self_;                                                    \
                                                                                                   \
		if (unlikely(rt_access != RT_ACCESS_RECORD || !record_is_easy(t))) {               \
			if (rt_access == RT_ACCESS_CONTROL)                                        \
				write_control##n(p, v, site);                                      \
			else if (rt_access == RT_ACCESS_GRAPH &&                                   \
				 graph_skips(true, (uint64_t)p, n))                                \
				*(volatile any##n *)p = v;                                         \
			else if (rt_access == RT_ACCESS_ORDER && !order_records(site))             \
				*(volatile any##n *)p = v;                                         \
			else                                                                       \
				write_otherwise##n(p, v, site);                                    \
			return;                                                                    \
		}                                                                                  \
		*(volatile any##n *)p = v;                                                         \
		record_easy_access(t, PLAIT_EV_WRITE, site, p, n, v);                              \
	}
PLAIN(uint8_t, 1)
PLAIN(uint16_t, 2)
PLAIN(uint32_t, 4)
PLAIN(uint64_t, 8)
/* clang-format on */

/* Mode graph, a range (a vector, say): is there anything to look at? */
static inline bool range_is_new(bool write, const void *p, size_t n)
{
	uint64_t a = (uint64_t)p, end = a + n;

	while (a + 8 <= end && graph_skips(write, a, 8))
		a += 8;
	if (a + 4 <= end && graph_skips(write, a, 4))
		a += 4;
	return a < end;
}

void plait_read_range(const void *p, size_t n, uint32_t site)
{
	if (rt_access == RT_ACCESS_PLAIN)
		return;
	if (rt_access == RT_ACCESS_GRAPH) {
		if (range_is_new(false, p, n))
			rt_graph_access(false, p, n, site);
		return;
	}
	if (rt_access != RT_ACCESS_RECORD)
		before_range(PLAIT_EV_READ_RANGE, p, n, site);
	rt_record_range(PLAIT_EV_READ_RANGE, site, p, n);
}

void plait_write_range(void *p, size_t n, uint32_t site)
{
	if (rt_access == RT_ACCESS_PLAIN)
		return;
	if (rt_access == RT_ACCESS_GRAPH) {
		if (range_is_new(true, p, n))
			rt_graph_access(true, p, n, site);
		return;
	}
	if (rt_access != RT_ACCESS_RECORD)
		before_range(PLAIT_EV_WRITE_RANGE, p, n, site);
	rt_record_range(PLAIT_EV_WRITE_RANGE, site, p, n);
}

/* It races with nothing, and brings order as a sequentially consistent operation does. */
void plait_atomic_read_range(const void *p, size_t n, uint32_t site)
{
	if (rt_access == RT_ACCESS_PLAIN)
		return;
	annotations_ignore(1);
	plait_read_range(p, n, site);
	annotations_ignore(-1);
	annotations_acquire(p, site);
}

void plait_atomic_write_range(void *p, size_t n, uint32_t site)
{
	if (rt_access == RT_ACCESS_PLAIN)
		return;
	annotations_ignore(1);
	plait_write_range(p, n, site);
	annotations_ignore(-1);
	annotations_acquire(p, site);
	annotations_release(p, site);
}

/* ---- atomics ---- */

static inline void atomic_before(uint32_t kind, const void *p, size_t size, uint32_t site)
{
	if (rt_access > RT_ACCESS_RECORD)
		before(kind, p, size, site);
	else if (unlikely(rt_atomic_enter && kind != PLAIT_EV_FENCE))
		rt_atomic_enter(p);
}

/* wrote: false for a compare-exchange that failed; order: as the hook got it. */
static inline void atomic_after(uint32_t kind, uint32_t site, const void *p, uint32_t size,
				uint64_t value, uint64_t value2, uint32_t order, bool wrote)
{
	if (unlikely(clocks_on))
		clocks_atomic(kind, p, size, site, order, wrote);
	if (unlikely(rt_recording && site >= PLAIT_PC_SITE_FIRST))
		rt_record_number(PLAIT_EV_ORDER, order);
	if (rt_access == RT_ACCESS_RECORD)
		rt_record_access(kind, site, p, size, value, value2);
	else if (rt_access != RT_ACCESS_PLAIN)
		after(kind, p, size, site, value, value2);
	else if (unlikely(rt_atomic_leave))
		rt_atomic_leave();
}

#define SEQ __ATOMIC_SEQ_CST

/* What an operation on floating-point numbers leaves, as bits. */
#define FLOATING(F, T, n)                                                                          \
	static T floating##n(uint32_t op, T old, T v)                                              \
	{                                                                                          \
		F a, b;                                                                            \
                                                                                                   \
		memcpy(&a, &old, sizeof(a));                                                       \
		memcpy(&b, &v, sizeof(b));                                                         \
		a = op == PLAIT_RMW_FADD   ? a + b                                                 \
		    : op == PLAIT_RMW_FSUB ? a - b                                                 \
		    : op == PLAIT_RMW_FMAX ? (a > b || b != b ? a : b)                             \
					   : (a < b || b != b ? a : b);                            \
		memcpy(&old, &a, sizeof(a));                                                       \
		return old;                                                                        \
	}
FLOATING(float, uint32_t, 4)
FLOATING(double, uint64_t, 8)
#define floating1(op, old, v) (v) /* there are none so small */
#define floating2(op, old, v) (v)

/* clang-format off */
/* old and new value of an operation that has no instruction of its own */
#define BY_CAS(T, expression) do {							\
		old = __atomic_load_n(q, __ATOMIC_RELAXED);				\
		do									\
			now = (T)(expression);						\
		while (!__atomic_compare_exchange_n(q, &old, now, true, SEQ, __ATOMIC_RELAXED)); \
	} while (0)

#define ATOMIC(T, S, n)									\
	T plait_atomic_load##n(const void *p, uint32_t order, uint32_t site)		\
	{										\
		T v;									\
											\
		/* every load of this processor is an acquire */			\
		atomic_before(PLAIT_EV_ATOMIC_READ, p, n, site);			\
		v = __atomic_load_n((const T *)p, SEQ);					\
		atomic_after(PLAIT_EV_ATOMIC_READ, site, p, n, v, 0, order, false);			\
		return v;								\
	}										\
	void plait_atomic_store##n(void *p, T v, uint32_t order, uint32_t site)		\
	{										\
		atomic_before(PLAIT_EV_ATOMIC_WRITE, p, n, site);			\
		if (order == SEQ)							\
			__atomic_store_n((T *)p, v, SEQ);				\
		else									\
			__atomic_store_n((T *)p, v, __ATOMIC_RELEASE);			\
		atomic_after(PLAIT_EV_ATOMIC_WRITE, site, p, n, v, 0, order, true);			\
	}										\
	T plait_atomic_rmw##n(void *p, T v, uint32_t op, uint32_t order, uint32_t site)	\
	{										\
		T *q = p, old, now;							\
											\
		atomic_before(PLAIT_EV_ATOMIC_RMW, p, n, site);				\
		switch (op) {								\
		case PLAIT_RMW_XCHG: old = __atomic_exchange_n(q, v, SEQ); now = v; break;	\
		case PLAIT_RMW_ADD: old = __atomic_fetch_add(q, v, SEQ); now = (T)(old + v); break; \
		case PLAIT_RMW_SUB: old = __atomic_fetch_sub(q, v, SEQ); now = (T)(old - v); break; \
		case PLAIT_RMW_AND: BY_CAS(T, old & v); break;				\
		case PLAIT_RMW_NAND: BY_CAS(T, ~(old & v)); break;			\
		case PLAIT_RMW_OR: BY_CAS(T, old | v); break;				\
		case PLAIT_RMW_XOR: BY_CAS(T, old ^ v); break;				\
		case PLAIT_RMW_MAX: BY_CAS(T, (S)old > (S)v ? old : v); break;		\
		case PLAIT_RMW_MIN: BY_CAS(T, (S)old < (S)v ? old : v); break;		\
		case PLAIT_RMW_UMAX: BY_CAS(T, old > v ? old : v); break;		\
		case PLAIT_RMW_UMIN: BY_CAS(T, old < v ? old : v); break;		\
		default: BY_CAS(T, floating##n(op, old, v)); break;			\
		}									\
		atomic_after(PLAIT_EV_ATOMIC_RMW, site, p, n, old, now, order, true);		\
		return old;								\
	}										\
	T plait_atomic_cas##n(void *p, T expected, T desired, uint32_t order, uint32_t site) \
	{										\
		T old = expected;							\
											\
		atomic_before(PLAIT_EV_ATOMIC_RMW, p, n, site);				\
		bool done = __atomic_compare_exchange_n((T *)p, &old, desired, false, SEQ, SEQ); \
		atomic_after(PLAIT_EV_ATOMIC_RMW, site, p, n, old, done ? desired : old, order, done); \
		return old;								\
	}
ATOMIC(uint8_t, int8_t, 1)
ATOMIC(uint16_t, int16_t, 2)
ATOMIC(uint32_t, int32_t, 4)
ATOMIC(uint64_t, int64_t, 8)
/* clang-format on */

void plait_racing(void)
{
	if (unlikely(rt_access == RT_ACCESS_CONTROL && control.handovers))
		handovers_count_next();
}

void plait_fence(uint32_t order, uint32_t site)
{
	atomic_before(PLAIT_EV_FENCE, NULL, 0, site);
	__atomic_thread_fence(SEQ);
	if (unlikely(clocks_on))
		clocks_fence(site, order);
	if (rt_access != RT_ACCESS_PLAIN)
		rt_record_sv(PLAIT_EV_FENCE, site, order);
}

/* In mode control the steps count: a branch is one event, with its site. */
static bool branches_are_events(void)
{
	return rt_stepping;
}

void plait_branch(uint32_t successor, uint32_t site)
{
	struct rt_thread *t = rt_self_;

	if (branches_are_events())
		rt_record_branch(site, successor);
	else if (rt_access == RT_ACCESS_RECORD && record_is_easy(t))
		record_easy_number(t, PLAIT_EV_PATH_SWITCH, successor);
	else if (rt_recording)
		rt_record_number(PLAIT_EV_PATH_SWITCH, successor);
}

void plait_flush_branch(uint32_t site)
{
	if (branches_are_events()) {
		rt_record_branch(site, plait_bits & 1);
		plait_bits = 1ULL << 62; /* one more fills it */
	} else {
		plait_flush_bits();
	}
}
