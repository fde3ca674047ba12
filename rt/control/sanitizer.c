/* rt/control/sanitizer.c - AddressSanitizer looks at an address before our hook is called, and in the
 * hook another thread may free the block. So after a switch we have it look again.
 *
 * Only at freed heap memory: the compiler's own accesses (frames on the sanitizer's fake stack) come
 * through our hooks, too, and were never checked. */
#include "rt/control/engine.h"

extern __attribute__((weak)) void __asan_loadN(const void *p, size_t n);
extern __attribute__((weak)) void __asan_storeN(const void *p, size_t n);
extern __attribute__((weak)) void *__asan_region_is_poisoned(const void *p, size_t n);
extern __attribute__((weak)) void __asan_get_shadow_mapping(size_t *scale, size_t *offset);

/* A report walks the stack with the sanitizer's locks held. The first walk in a process runs a once
 * routine of the unwinder, which is a scheduling point: so it is run before. */
extern __attribute__((weak)) int _Unwind_Backtrace(int (*)(void *, void *), void *);

static int enough(void *context, void *arg)
{
	(void)context;
	(void)arg;
	return 5; /* _URC_END_OF_STACK */
}

void sanitizer_init(void)
{
	if (__asan_region_is_poisoned && _Unwind_Backtrace)
		_Unwind_Backtrace(enough, NULL);
}

enum { FREED = 0xfd }; /* the sanitizer's mark in its shadow */

static bool is_freed(const void *p, size_t n)
{
	const void *bad = __asan_region_is_poisoned(p, n);
	size_t scale, offset;

	if (!bad)
		return false;
	__asan_get_shadow_mapping(&scale, &offset);
	return *(const uint8_t *)(((uintptr_t)bad >> scale) + offset) == FREED;
}

void sanitizer_look_again(const struct control_op *op)
{
	if (likely(!__asan_region_is_poisoned) || !plait_is_access(op->kind) ||
	    !__asan_get_shadow_mapping || !op->size || !is_freed(op->object, op->size))
		return;
	if (op->writes && __asan_storeN)
		__asan_storeN(op->object, op->size);
	else if (__asan_loadN)
		__asan_loadN(op->object, op->size);
}
