/* What events mean: the effects column against sentences a reader can check. */
#include "trace/trace.h"

#include <criterion/criterion.h>

Test(effects, accesses)
{
	for (uint32_t k = 1; k < PLAIT_EV_COUNT; k++) {
		const char *name = event_kind_name(k), *fields = event_kind_fields(k);

		/* an access says where and how much; atomics are accesses */
		if (plait_is_access(k)) {
			cr_assert(strstr(fields, "san") == fields, "%s", name);
			cr_assert(plait_reads(k) || plait_writes(k), "%s", name);
			cr_assert(plait_is_point(k), "%s", name);
		}
		if (plait_is_atomic(k))
			cr_assert(plait_is_access(k), "%s", name);
		/* who takes or gives something back changes it */
		if (plait_acquires(k) || plait_releases(k))
			cr_assert(plait_writes(k) && !plait_is_memory(k), "%s", name);
		if (plait_may_block(k))
			cr_assert(plait_is_point(k), "%s: what may block must be a point", name);
	}
	cr_assert(!plait_is_access(PLAIT_EV_FENCE) && plait_is_point(PLAIT_EV_FENCE));
	cr_assert(!plait_is_access(PLAIT_EV_FREE) && plait_is_memory(PLAIT_EV_FREE));
	cr_assert(plait_is_step(PLAIT_EV_ONCE_END) && !plait_is_point(PLAIT_EV_ONCE_END));
	cr_assert(plait_is_point(PLAIT_EV_UNLOCK), "a trylock may come just before it");
	cr_assert_eq(plait_effects(PLAIT_EV_COUNT), 0);
}

Test(effects, what_failed_has_only_read)
{
	cr_assert(plait_effects_of(PLAIT_EV_TRYLOCK, 0) & EV_ACQUIRES);
	cr_assert_not(plait_effects_of(PLAIT_EV_TRYLOCK, EBUSY) & (EV_ACQUIRES | EV_WRITES));
	cr_assert_not(plait_effects_of(PLAIT_EV_LOCK, ETIMEDOUT) & (EV_ACQUIRES | EV_WRITES));
	cr_assert(plait_effects_of(PLAIT_EV_LOCK, EOWNERDEAD) & EV_ACQUIRES);
	cr_assert(plait_effects_of(PLAIT_EV_TRYLOCK, EBUSY) & EV_READS);
	cr_assert(plait_effects_of(PLAIT_EV_UNLOCK, EPERM) & EV_RELEASES);
}
