/* rt/modes/order-patch.c - the order variant: hooks where the profile wants them, and nowhere else. In mode
 * sync the same for the atomics of the plain variant: hooks at all of them.
 *
 * Every access of the order variant is a place of at least five bytes, with a piece of code out of
 * the way that records it (unplait/hooks.h). For each place whose site has a slot we write a jump
 * over it, and the slot's address into that piece. This happens when a module is registered: no
 * code of it has run yet, and no other thread is in it. The pages are private copies from then on.
 *
 * Where the system forbids changing code (SELinux, some sandboxes) the full variant is used. */
#include "rt/core/real.h"
#include "rt/modes/order.h"

#include <string.h>
#include <sys/mman.h>

enum { JUMP = 0xe9, PUSH = 5, PAGE = 4096, MODULES = 64 };

static struct {
	const struct plait_order_place *begin, *end;
} patched[MODULES];
static uint32_t npatched;

static uint8_t *address_of(const int32_t *relative)
{
	return (uint8_t *)relative + *relative;
}

static bool protect(const uint8_t *from, const uint8_t *end, int how)
{
	uintptr_t low = (uintptr_t)from & ~(uintptr_t)(PAGE - 1);
	uintptr_t high = ((uintptr_t)end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);

	return real.mprotect((void *)low, high - low, how) == 0;
}

bool order_can_patch(void)
{
	const uint8_t *here = (const uint8_t *)order_can_patch;

	return protect(here, here + 1, PROT_READ | PROT_WRITE | PROT_EXEC) &&
	       protect(here, here + 1, PROT_READ | PROT_EXEC);
}

/* What a module's places span: their pages are writable as long as we work on them, and executable,
 * because our own code may be among them. */
struct span {
	uint8_t *low, *high;
};

static void include(struct span *s, uint8_t *p)
{
	if (!s->low || p < s->low)
		s->low = p;
	if (p + 2 * PUSH > s->high)
		s->high = p + 2 * PUSH;
}

/* The order variant: the slot of a place; 0: it is not recorded. */
static uint32_t slot_of(const struct plait_order_place *p, uint32_t first_site)
{
	return p->hot && p->kind <= PLAIT_PLACE_LEAVE ? elements_of_site(first_site + p->site - 1)
						      : 0;
}

static void put_jump(const struct plait_order_place *place)
{
	uint8_t *at = address_of(&place->hot), *to = address_of(&place->cold);
	int32_t distance = (int32_t)(to - (at + 5));

	*at = JUMP;
	memcpy(at + 1, &distance, 4);
}

static void put_slot(const struct plait_order_place *place, uint32_t slot)
{
	uint8_t *to = address_of(&place->cold);
	uint32_t address = (uint32_t)(uintptr_t)&order_slots[slot];
	uint32_t once = ORDER_ONCE;

	if (place->kind != PLAIT_PLACE_ENTER)
		return;
	memcpy(to + 1, &address, 4);
	if (rt_mode == PLAIT_MODE_BLOCK)
		memcpy(to + PUSH + 1, &once, 4);
}

/* Does this run record what is there? Mode sync wants all places of the plain variant. */
static bool is_wanted(const struct plait_order_place *p, uint32_t first_site)
{
	return rt_mode == PLAIT_MODE_SYNC ? p->kind == PLAIT_PLACE_SYNC && p->hot
					  : slot_of(p, first_site) != 0;
}

bool places_patch(const struct plait_module *module, uint32_t first_site)
{
	const struct plait_order_place *p, *end = module->order_places_end;
	struct span span = { 0 };

	for (p = module->order_places; p < end; p++) {
		if (is_wanted(p, first_site)) {
			include(&span, address_of(&p->hot));
			include(&span, address_of(&p->cold));
		}
	}
	if (!span.low)
		return true;
	if (!protect(span.low, span.high, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	for (p = module->order_places; p < end; p++) {
		if (!is_wanted(p, first_site))
			continue;
		if (p->kind != PLAIT_PLACE_SYNC)
			put_slot(p, slot_of(p, first_site));
		put_jump(p);
	}
	protect(span.low, span.high, PROT_READ | PROT_EXEC);
	return true;
}

void order_patch(const struct plait_module *module, uint32_t first_site)
{
	const struct plait_order_place *end = module->order_places_end;

	if (plait_variant != PLAIT_VARIANT_ORDER)
		return;
	if (!places_patch(module, first_site)) {
		/* nothing of it will be recorded, and readers of the log must know */
		__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_NO_SPACE, __ATOMIC_RELAXED);
		return;
	}
	if (npatched < MODULES) {
		patched[npatched].begin = module->order_places;
		patched[npatched++].end = end;
	}
}

uint64_t order_hot_pc(uint64_t pc)
{
	uint64_t best = 0, hot = pc;

	for (uint32_t i = 0; i < npatched; i++)
		for (const struct plait_order_place *p = patched[i].begin; p < patched[i].end;
		     p++) {
			uint64_t cold = (uint64_t)address_of(&p->cold);

			if (p->hot && p->kind != PLAIT_PLACE_SYNC && pc >= cold && pc - cold < 64 &&
			    cold > best) {
				best = cold;
				hot = (uint64_t)address_of(&p->hot);
			}
		}
	return hot;
}
