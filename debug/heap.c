/* debug/heap.c - see heap.h.
 *
 * A chunk is: size of the previous one (8 bytes, only meaningful when that is free), size | flags (8
 * bytes), the user's bytes. Sizes are multiples of 16 from 32 on; bit 0 says that the previous chunk
 * is in use. The main heap begins with the tcache of the main thread: a chunk of 0x290 bytes (glibc
 * 2.30 and later), which is how we recognise it. A freed chunk in a tcache has "in use" set in its
 * neighbour, so free() leaves a key in its second word: the random number `tcache_key`. We know it
 * from the lists that the tcache itself points to. */
#include "debug/heap.h"

#include "debug/dump.h"

#include <elf.h>
#include <string.h>

enum { TCACHE_CHUNK = 0x290, TCACHE_BINS = 64 };

/* Where the main heap is: a writable segment without a file that begins with a tcache. */
static const struct dump_segment *find_heap(const struct dump *d)
{
	for (size_t i = 0; i < d->segments.len; i++) {
		const struct dump_segment *s = &d->segments.data[i];
		uint64_t head[2];

		if (s->flags & PF_W && dump_read(d, s->address, head, sizeof(head)) &&
		    head[0] == 0 && head[1] == (TCACHE_CHUNK | 1))
			return s;
	}
	return NULL;
}

/* The key in freed blocks: that of the first block in any list of the tcache; 0 = no such list. */
static uint64_t find_key(const struct dump *d, const struct dump_segment *heap)
{
	uint64_t lists = heap->address + 16 + 2 * TCACHE_BINS;

	for (unsigned i = 0; i < TCACHE_BINS; i++) {
		uint64_t block, key;

		if (dump_read(d, lists + 8ull * i, &block, 8) && block &&
		    dump_read(d, block + 8, &key, 8) && key)
			return key;
	}
	return 0;
}

static bool chunk_size(const struct dump *d, const struct dump_segment *heap, uint64_t at,
		       uint64_t *size)
{
	uint64_t end = heap->address + heap->size;

	if (!dump_read(d, at + 8, size, 8))
		return false;
	*size &= ~7ull;
	return *size >= 32 && *size % 16 == 0 && *size <= end - at;
}

static uint8_t state_of(const struct dump *d, const struct dump_segment *heap, uint64_t at,
			uint64_t size, uint64_t key)
{
	uint64_t next, second;

	if (at + size == heap->address + heap->size)
		return HEAP_TOP;
	if (dump_read(d, at + size + 8, &next, 8) && !(next & 1))
		return HEAP_FREE;
	if (key && dump_read(d, at + 24, &second, 8) && second == key)
		return HEAP_FREE;
	return HEAP_USED;
}

bool heap_chunk_at(const struct dump *d, uint64_t address, struct heap_chunk *ret)
{
	const struct dump_segment *heap = find_heap(d);
	uint64_t at, size, key;

	if (!heap || address < heap->address || address >= heap->address + heap->size)
		return false;
	key = find_key(d, heap);
	for (at = heap->address; at < heap->address + heap->size; at += size) {
		if (!chunk_size(d, heap, at, &size))
			return false;
		if (address < at + size + 8) { /* the user's bytes reach into the next header */
			*ret = (struct heap_chunk){ .start = at + 16,
						    .size = size - 8,
						    .state = state_of(d, heap, at, size, key) };
			if (address >= at + size && ret->state != HEAP_USED)
				continue;
			return true;
		}
	}
	return false;
}

size_t heap_free_blocks(const struct dump *d, uint64_t *ret, size_t most)
{
	const struct dump_segment *heap = find_heap(d);
	uint64_t at, size, key;
	size_t n = 0;

	if (!heap)
		return 0;
	key = find_key(d, heap);
	for (at = heap->address; at < heap->address + heap->size; at += size) {
		if (!chunk_size(d, heap, at, &size))
			break;
		if (state_of(d, heap, at, size, key) != HEAP_FREE)
			continue;
		if (n < most)
			ret[n] = at + 16;
		n++;
	}
	return n;
}

uint64_t heap_broken_at(const struct dump *d)
{
	const struct dump_segment *heap = find_heap(d);
	uint64_t at, size;

	if (!heap)
		return 0;
	for (at = heap->address; at < heap->address + heap->size; at += size)
		if (!chunk_size(d, heap, at, &size))
			return at;
	return 0;
}
