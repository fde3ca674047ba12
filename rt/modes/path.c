/* rt/modes/path.c - the path variant: branch bits and inputs. The full variant has the bits too
 * (hooks.c); values.c has the values.
 *
 * Bits and values are two queues that re-execution empties at its own pace (a bit at each recorded
 * branch, a value at each address-feeding load), so a value need not wait for the bits before it.
 */
#include "rt/core/record.h"

#include <string.h>

__thread uint64_t plait_bits = 1;

void plait_flush_bits(void)
{
	uint64_t bits = plait_bits;
	uint32_t count;

	if (bits <= 1 || rt_mode == PLAIT_MODE_CONTROL)
		return;
	count = 63 - (uint32_t)__builtin_clzll(bits);
	plait_bits = 1;
	if (rt_mode == PLAIT_MODE_PATH || rt_mode == PLAIT_MODE_FULL)
		rt_record_bits(count, bits & ~(1ULL << count));
}

/* What plait_flush_bits does most of the time, and whether that was all; for kept.S. */
#define QUICK __attribute__((preserve_most, target("general-regs-only")))
QUICK bool plait_quick_bits(void);
QUICK bool plait_quick_bits(void)
{
	struct rt_thread *t = rt_self_;
	uint64_t bits = plait_bits & INT64_MAX;
	uint8_t *p, *limit;

	if ((rt_mode != PLAIT_MODE_PATH && rt_mode != PLAIT_MODE_FULL) || !record_is_easy(t))
		return false;
	p = t->buffer.next;
	limit = t->buffer.limit;
	t->buffer.limit = BUFFER_BUSY;
	__asm__ volatile("" ::: "memory");
	p[1] = 63;
	t->buffer.next = put_varint(p + 2, bits);
	put_tag(p, PLAIT_EV_PATH_BITS);
	plait_bits = 1;
	__asm__ volatile("" ::: "memory");
	t->buffer.limit = limit;
	return true;
}

__attribute__((always_inline)) static inline void path_number(uint32_t kind, uint64_t n)
{
	struct rt_thread *t = rt_self_;

	if (rt_mode != PLAIT_MODE_PATH)
		return;
	if (record_is_easy(t))
		record_easy_number(t, kind, n);
	else
		rt_record_number(kind, n);
}

void plait_path_switch(uint32_t successor, uint32_t nsuccessors)
{
	(void)nsuccessors;
	path_number(PLAIT_EV_PATH_SWITCH, successor);
}

void plait_path_value(uint64_t value)
{
	if (rt_recording)
		rt_record_number(PLAIT_EV_PATH_VALUE, value);
}

void plait_path_input(uint32_t site, uint64_t value)
{
	rt_record_sv(PLAIT_EV_INPUT, site, value);
}

void plait_path_input_range(uint32_t site, const void *p, size_t n)
{
	if (p)
		rt_record_bytes(PLAIT_EV_INPUT_BYTES, site, p, n);
}

void plait_path_input_text(uint32_t site, const char *p, uint64_t result)
{
	(void)result;
	if (p)
		rt_record_bytes(PLAIT_EV_INPUT_BYTES, site, p, strlen(p) + 1);
}

void plait_path_input_line(uint32_t site, char *const *p, uint64_t result)
{
	if ((int64_t)result > 0 && p && *p)
		rt_record_bytes(PLAIT_EV_INPUT_BYTES, site, *p, result + 1);
}
