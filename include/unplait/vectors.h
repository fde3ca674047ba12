/* unplait/vectors.h - access vectors: as modes `order` and `block` write them, as the control
 * engine obeys them, and which elements an event belongs to.
 *
 * An element is a number: of a memory access, what the profile or the compiler's table says of its
 * site; of a synchronisation object, PLAIT_SYNC_ELEMENT plus its place in the executable, or
 * PLAIT_SYNC_OTHER for all objects that lie elsewhere (heap, stacks, libraries). In mode block an
 * element is the number of the site of a basic block's first access.
 *
 * Nothing is recorded (or enforced) before the first thread is created: until then there is
 * only one order. */
#ifndef UNPLAIT_VECTORS_H
#define UNPLAIT_VECTORS_H

#include "unplait/abi.h"

#include <stdbool.h>
#include <stdint.h>

#define PLAIT_SYNC_ELEMENT 0x80000000u
#define PLAIT_SYNC_OTHER   0xc0000000u

/* The file `vectors` of a run folder, and the section of that name: this header, then chunks. */
#define PLAIT_VECTORS_MAGIC   "PLAITVEC"
#define PLAIT_VECTORS_VERSION 1
struct plait_vectors_header {
	char magic[8];
	uint32_t version;
	uint32_t mode; /* enum plait_mode */
	uint64_t used; /* bytes of the file that are chunks or this header */
	uint64_t lost; /* accesses that could not be written */
	uint8_t reserved[32];
};

/* Part of one element's vector. The words up to the first zero are runs: thread index in the low
 * bits, count above. An element's first chunk exists from the start: an empty vector says
 * something. */
struct plait_vectors_chunk {
	uint32_t element;
	uint32_t sequence; /* of this element, from 0 */
	uint32_t nwords;
	uint32_t reserved;
	uint32_t words[];
};
#define PLAIT_VECTORS_THREAD_BITS 13
#define PLAIT_VECTORS_COUNT_MAX	  ((1u << (32 - PLAIT_VECTORS_THREAD_BITS)) - 1)

/* A profile is text: "unplait-profile 1 order|block BUILD-ID", then lines
 *	site NUMBER ELEMENT
 *	sync ELEMENT          or: sync all
 * A line that begins with # is a comment. */
#define PLAIT_PROFILE_MAGIC "unplait-profile 1 "

/* What the control engine is asked to obey: this, then the arrays in this order. */
struct plait_vectors_request {
	uint32_t nnames, nelements, nsites, nruns;
};
/* Threads by name: name 0 is the first thread. */
struct plait_vectors_name {
	uint32_t parent, ordinal;
};
#define PLAIT_VECTORS_HARD UINT32_MAX
struct plait_vectors_element {
	uint32_t id;
	uint32_t strength; /* PLAIT_VECTORS_HARD, or: the weakest gives way first */
	uint32_t first, nruns;
};
struct plait_vectors_site {
	uint32_t site, element; /* index into the elements */
};
struct plait_vectors_run {
	uint32_t name, count;
};

/* Does an event of a synchronisation object take part? */
static inline bool plait_vectors_sync(uint32_t kind)
{
	return (kind >= PLAIT_EV_LOCK && kind <= PLAIT_EV_RWUNLOCK) ||
	       (kind >= PLAIT_EV_WAIT && kind <= PLAIT_EV_BROADCAST) ||
	       (kind >= PLAIT_EV_SEM_WAIT && kind <= PLAIT_EV_ONCE_PASS);
}

/* The element of a synchronisation object; low .. high is where the executable lies. */
static inline uint32_t plait_vectors_sync_element(uint64_t object, uint64_t load, uint64_t low,
						  uint64_t high)
{
	if (object < low || object >= high)
		return PLAIT_SYNC_OTHER;
	return PLAIT_SYNC_ELEMENT | ((uint32_t)((object - load) >> 2) & 0x3fffffff);
}

#endif
