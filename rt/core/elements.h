/* rt/core/elements.h - which element an event belongs to.
 *
 * An element is what an access vector is kept for: a group of sites, or a synchronisation object.
 * Two tables give each a number: one by site, one by the element's id. Modes order and block number
 * the elements that they record; the control engine numbers those whose vectors it obeys. Number 0
 * means: none. */
#ifndef RT_CORE_ELEMENTS_H
#define RT_CORE_ELEMENTS_H

#include "rt/core/rt.h"
#include "unplait/vectors.h"

enum { ELEMENTS_MAX = 1 << 16 };

extern uint32_t *elements_sites; /* by site, below elements_nsites */
extern uint32_t elements_nsites;

static inline uint32_t elements_of_site(uint32_t site)
{
	return likely(site < elements_nsites) ? elements_sites[site] : 0;
}

/* False: there is no memory for the tables. */
bool elements_init(void);
void elements_clear(void);
/* Give a number to a site, or to an element by its id. False: there is no room. */
bool elements_set_site(uint32_t site, uint32_t number);
bool elements_put(uint32_t element, uint32_t number);
uint32_t elements_find(uint32_t element);
/* The id of a synchronisation object. */
uint32_t elements_of_sync(const void *object);

#endif
