/* rt/modes/tsan.c - the -fsanitize=thread interface, for objects of gcc, clang or rustc that are linked
 * with libplait instead of libtsan.
 *
 * Plain accesses are announced before they are made (__tsan_read4 ...): for a read, the value is
 * what stands there now; the value of a write is not known yet, so the event is a range without
 * a value. Atomics are performed here, with their values. Sites are program counters (pcs.c).
 *
 * Nothing is done for function entry and exit: frames are found when they are needed. */
#include "rt/core/rt.h"

#include <string.h>

#define EXPORT PLAIT_EXPORT __attribute__((used))
#define SITE() rt_pc_site(__builtin_return_address(0))
#define ACTIVE unlikely(rt_access != RT_ACCESS_PLAIN)

/* Prototypes that no header has. */
#pragma clang diagnostic ignored "-Wmissing-prototypes"

EXPORT void __tsan_init(void)
{
	rt_init();
	__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_TSAN_ROUTE, __ATOMIC_RELAXED);
}

EXPORT void __tsan_func_entry(void *pc)
{
	(void)pc;
}

EXPORT void __tsan_func_exit(void)
{
}

EXPORT void __tsan_ignore_thread_begin(void)
{
}

EXPORT void __tsan_ignore_thread_end(void)
{
}

/* clang-format off */
/* The compiler gives every access name four times: plain, unaligned, volatile, both. */
#define READ(name, n)								\
	EXPORT void __tsan_##name##n(void *p)					\
	{									\
		if (ACTIVE)							\
			(void)plait_read##n(p, SITE());				\
	}
#define WRITE(name, n)								\
	EXPORT void __tsan_##name##n(void *p)					\
	{									\
		if (ACTIVE)							\
			plait_write_range(p, n, SITE());			\
	}
#define BOTH(name, n)								\
	EXPORT void __tsan_##name##n(void *p)					\
	{									\
		if (ACTIVE) {							\
			(void)plait_read##n(p, SITE());				\
			plait_write_range(p, n, SITE());			\
		}								\
	}
#define SIZES(M, name) M(name, 1) M(name, 2) M(name, 4) M(name, 8)
SIZES(READ, read) SIZES(READ, unaligned_read) SIZES(READ, volatile_read)
SIZES(READ, unaligned_volatile_read)
SIZES(WRITE, write) SIZES(WRITE, unaligned_write) SIZES(WRITE, volatile_write)
SIZES(WRITE, unaligned_volatile_write)
SIZES(BOTH, read_write) SIZES(BOTH, unaligned_read_write)

#define RANGES(prefix)								\
	EXPORT void __tsan_##prefix##read16(void *p)				\
	{									\
		if (ACTIVE)							\
			plait_read_range(p, 16, SITE());			\
	}									\
	EXPORT void __tsan_##prefix##write16(void *p)				\
	{									\
		if (ACTIVE)							\
			plait_write_range(p, 16, SITE());			\
	}
RANGES() RANGES(unaligned_) RANGES(volatile_) RANGES(unaligned_volatile_)
	/* clang-format on */

	EXPORT void __tsan_read_range(void *p, size_t n)
{
	if (ACTIVE)
		plait_read_range(p, n, SITE());
}

EXPORT void __tsan_write_range(void *p, size_t n)
{
	if (ACTIVE)
		plait_write_range(p, n, SITE());
}

EXPORT void __tsan_vptr_update(void **p, void *value)
{
	if (ACTIVE && *p != value)
		plait_write_range(p, sizeof(*p), SITE());
}

EXPORT void __tsan_vptr_read(void **p)
{
	if (ACTIVE)
		(void)plait_read8(p, SITE());
}

EXPORT void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	if (ACTIVE) {
		plait_read_range(from, n, SITE());
		plait_write_range(to, n, SITE());
	}
	return memcpy(to, from, n);
}

EXPORT void *__tsan_memmove(void *to, const void *from, size_t n)
{
	if (ACTIVE) {
		plait_read_range(from, n, SITE());
		plait_write_range(to, n, SITE());
	}
	return memmove(to, from, n);
}

EXPORT void *__tsan_memset(void *to, int c, size_t n)
{
	if (ACTIVE)
		plait_write_range(to, n, SITE());
	return memset(to, c, n);
}

/* ---- atomics: performed by the hooks of the full variant, whatever the mode ---- */

#define BOTH_ORDERS(order, failing) ((uint32_t)(order) | ((uint32_t)(failing) + 1) << 4)

/* clang-format off */
#define ATOMICS(T, bits, n)								\
	EXPORT T __tsan_atomic##bits##_load(const volatile T *p, int order)		\
	{										\
		return plait_atomic_load##n((const void *)p, (uint32_t)order, SITE());	\
	}										\
	EXPORT void __tsan_atomic##bits##_store(volatile T *p, T v, int order)		\
	{										\
		plait_atomic_store##n((void *)p, v, (uint32_t)order, SITE());		\
	}										\
	RMW(T, bits, n, exchange, XCHG) RMW(T, bits, n, fetch_add, ADD)			\
	RMW(T, bits, n, fetch_sub, SUB) RMW(T, bits, n, fetch_and, AND)			\
	RMW(T, bits, n, fetch_or, OR) RMW(T, bits, n, fetch_xor, XOR)			\
	RMW(T, bits, n, fetch_nand, NAND)						\
	CAS(T, bits, n, strong) CAS(T, bits, n, weak)					\
	EXPORT T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T c, T v,	\
							    int order, int failing)	\
	{										\
		return plait_atomic_cas##n((void *)p, c, v, BOTH_ORDERS(order, failing), SITE()); \
	}
#define RMW(T, bits, n, name, op)							\
	EXPORT T __tsan_atomic##bits##_##name(volatile T *p, T v, int order)		\
	{										\
		return plait_atomic_rmw##n((void *)p, v, PLAIT_RMW_##op, (uint32_t)order, SITE()); \
	}
#define CAS(T, bits, n, name)								\
	EXPORT int __tsan_atomic##bits##_compare_exchange_##name(volatile T *p, T *c, T v, \
								 int order, int failing) \
	{										\
		T expected = *c, old;							\
											\
		old = plait_atomic_cas##n((void *)p, expected, v, BOTH_ORDERS(order, failing), SITE()); \
		*c = old;								\
		return old == expected;							\
	}
ATOMICS(uint8_t, 8, 1)
ATOMICS(uint16_t, 16, 2)
ATOMICS(uint32_t, 32, 4)
ATOMICS(uint64_t, 64, 8)
/* clang-format on */

EXPORT void __tsan_atomic_thread_fence(int order)
{
	plait_fence((uint32_t)order, SITE());
}

EXPORT void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
