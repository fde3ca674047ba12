/* rt/order.h - access vectors: which element an event belongs to, and recording who came when. */
#ifndef RT_ORDER_H
#define RT_ORDER_H

#include "rt/rt.h"
#include "unplait/vectors.h"

/* A recorded element. Whoever holds the lock appends to the vector and makes the access. */
struct order_slot {
	uint32_t lock;
	uint32_t element;
	uint32_t *word,
		*end; /* the last run, and the end of its chunk; NULL: nothing can be added */
	uint32_t sequence, nwords;
	uint8_t pad[32];
};

/* Slot number (from 1) of each site; 0: not recorded. */
extern uint32_t *order_sites;
extern uint32_t order_nsites;
extern struct order_slot *order_slots; /* by number, from 1 */

/* Modes order and block: read the profile, open the file. */
void order_init(void);
/* Without a profile, the compiler's table says which element a site belongs to. */
void order_module(const struct plait_module *module, uint32_t first_site);
/* A synchronisation event, in its true place. object2: the mutex of a wait. */
void order_sync(uint32_t kind, uint32_t site, const void *object, const void *object2);
/* NULL: this access is not recorded. */
struct order_slot *order_enter_slot(struct order_slot *slot);

/* Before and after the access. */
static inline struct order_slot *order_enter(uint32_t site)
{
	uint32_t number = likely(site < order_nsites) ? order_sites[site] : 0;

	return likely(!number) ? NULL : order_enter_slot(&order_slots[number]);
}
static inline void order_leave(struct order_slot *slot)
{
	__atomic_store_n(&slot->lock, 0, __ATOMIC_RELEASE);
	rt_self_->held = NULL;
}

/* For the control engine too: a table of sites, and a number per element (0: unknown). */
bool order_set_site(uint32_t site, uint32_t number);
uint32_t order_find(uint32_t element);
bool order_put(uint32_t element, uint32_t number);
void order_clear(void);
/* The element of a synchronisation object. */
uint32_t order_sync_element(const void *object);

#endif
