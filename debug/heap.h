/* debug/heap.h - the heap of glibc in a dump: which block does an address lie in, and is it free?
 *
 * Blocks ("chunks") of an arena follow each other from the beginning of the heap; each begins with its
 * size. A list of freed blocks per size (tcache) is found through the key that free() writes into
 * them, which equals the one of its neighbours. Nothing is believed: a size that leads outside ends
 * the walk, and what comes behind has no answer. */
#ifndef DEBUG_HEAP_H
#define DEBUG_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dump;

enum heap_state {
	HEAP_USED,
	HEAP_FREE,
	HEAP_TOP, /* never handed out */
};

struct heap_chunk {
	uint64_t start; /* what malloc() returned */
	uint64_t size;	/* bytes that the program may use */
	uint8_t state;	/* enum heap_state */
};

/* The block around an address (its header counts as part of it). False when the address does not lie in
 * the main heap, or when the chain of blocks is broken before it. */
bool heap_chunk_at(const struct dump *d, uint64_t address, struct heap_chunk *ret);
/* The free blocks of the main heap, the first `most` of them: where their bytes begin. How many there are; all that
 * can be found before a broken header. */
size_t heap_free_blocks(const struct dump *d, uint64_t *ret, size_t most);
/* Where the chain of blocks is broken: the first header that cannot be; 0 when it is whole. */
uint64_t heap_broken_at(const struct dump *d);

#endif
