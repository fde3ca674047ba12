/* rt/modes/order.h - access vectors: which element an event belongs to, and recording who came when. */
#ifndef RT_MODES_ORDER_H
#define RT_MODES_ORDER_H

#include "rt/core/elements.h"
#include "rt/modes/order-offsets.h"

/* A recorded element. The holder of the lock appends to the vector and makes the access. A thread
 * that makes many accesses in a row keeps the lock, as the slot's owner: see order.c. */
struct order_slot {
	uint32_t lock;
	uint32_t element;
	uint32_t *word,
		*end; /* the last run, and the end of its chunk; NULL: nothing can be added */
	uint32_t sequence, nwords;
	struct rt_thread *owner; /* NULL: the lock is taken and released for every access */
	uint32_t keep_after;	 /* accesses in a row that make an owner */
	uint32_t met;		 /* how often somebody found it taken */
	uint8_t pad[16];
};
_Static_assert(sizeof(struct order_slot) == 64, "one cache line");

extern struct order_slot *order_slots; /* by number, from 1 */

/* Modes order and block: read the profile, open the file. */
void order_init(void);
/* Without a profile, the compiler's table says which element a site belongs to. */
void order_module(const struct plait_module *module, uint32_t first_site);
/* A synchronisation event, in its true place. object2: the mutex of a wait. */
void order_sync(const struct rt_sync *sync);
/* A count of accesses as a vector has it: above the thread. */
#define ORDER_ONCE (1u << PLAIT_VECTORS_THREAD_BITS)
/* NULL: this access is not recorded. */
struct order_slot *order_enter_slot(struct order_slot *slot, uint32_t count);

/* Most sites of a partial profile are not. */
static inline bool order_records(uint32_t site)
{
	return elements_of_site(site) != 0;
}

/* order-patch.c. Can the text of this process be changed? */
bool order_can_patch(void);
/* Have the sites with a slot recorded, in the module's order variant. */
void order_patch(const struct plait_module *module, uint32_t first_site);
/* Write the jumps that this run wants. False: the system forbids it, and nothing has changed. */
bool places_patch(const struct plait_module *module, uint32_t first_site);
/* Where the program made an access whose recorded copy lies at pc; pc itself if it is none. */
uint64_t order_hot_pc(uint64_t pc);
/* In the child of a fork: nobody owns anything. */
void order_forked(void);
/* For order-kept.S: begin an access that was not the owner's. */
void order_enter_place(struct order_slot *slot, uint32_t count);

/* Before and after the access. What enter returns goes to leave. */
static inline struct order_slot *order_enter(uint32_t site)
{
	uint32_t number = elements_of_site(site);
	struct rt_thread *t = rt_self_;
	struct order_slot *s;
	uint32_t *last;

	if (likely(!number))
		return NULL;
	s = &order_slots[number];
	if (__atomic_load_n(&s->owner, __ATOMIC_RELAXED) != t || !t || t->depth || t->held ||
	    t->detached_from_trace)
		return order_enter_slot(s, ORDER_ONCE);
	/* say that we are inside, then look again whether we may */
	__atomic_store_n(&t->held, (void *)((uintptr_t)s | ORDER_KEPT), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last = s->word - 1;
	if (unlikely(__atomic_load_n(&s->owner, __ATOMIC_RELAXED) != t ||
		     *last >> PLAIT_VECTORS_THREAD_BITS >= PLAIT_VECTORS_COUNT_MAX)) {
		__atomic_store_n(&t->held, NULL, __ATOMIC_RELEASE);
		return order_enter_slot(s, ORDER_ONCE);
	}
	*(volatile uint32_t *)last += 1u << PLAIT_VECTORS_THREAD_BITS;
	return t->held;
}
static inline void order_leave(struct order_slot *slot)
{
	if (!((uintptr_t)slot & ORDER_KEPT))
		__atomic_store_n(&slot->lock, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&rt_self_->held, NULL, __ATOMIC_RELEASE);
}

#endif
