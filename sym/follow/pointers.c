/* sym/follow/pointers.c - a pointer of the recorded run as the machine knows it.
 *
 * A recorded value that became an address is a number of another process. addrmap.c knows globals
 * and heap blocks; what the machine's own memory holds at the same place tells the rest, when it
 * fits; constants are found by their bytes. What nothing explains points to memory of its own with
 * unknown contents, and is counted as a gap. */
#include "sym/follow/follow.h"

#include <string.h>

bool follow_is_pointer(uint64_t v)
{
	return v & ADDR_TAG || v & FUNC_TAG;
}

uint64_t follow_unknown_memory(struct machine *m, uint64_t size, const char *name)
{
	uint64_t at = mem_new(m, OBJ_ENV, size);

	memory_own(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff)->name = name;
	for (uint64_t i = 0; i + 8 <= size && i < 4096; i += 8)
		mem_store(m, (struct val){ at + i, 0 }, 64, follow_symbol(m, 64, "outside", NULL));
	return at;
}

static uint64_t opaque(struct machine *m, uint64_t value)
{
	uint64_t at =
		follow_unknown_memory(m, 1024, "memory of the recorded run that nothing explains");

	addrmap_learn(&follow_of(m)->n, value & ~15ull, 1024, at);
	return at + (value & 15);
}

/* A constant without a symbol: the program's own constant with the same bytes, else just the
 * bytes. 0 = it is none. */
static uint64_t constant_at(struct machine *m, uint64_t value)
{
	struct follow *fo = follow_of(m);
	const struct global *best = NULL;
	const uint8_t *bytes;
	size_t n = addrmap_constant(&fo->n, value, &bytes);
	uint64_t at;

	if (!n)
		return 0;
	for (size_t i = 0; i < m->ir->globals.len; i++) {
		const struct global *g = &m->ir->globals.data[i];

		if (g->readonly && g->init && g->size <= n && (!best || g->size > best->size) &&
		    !memcmp(g->init, bytes, g->size))
			best = g;
	}
	if (best) {
		addrmap_learn(&fo->n, value, best->size, best->address);
		return best->address;
	}
	n = MIN(n, 4096);
	at = mem_new(m, OBJ_ENV, n);
	if (mem_write(m, at, bytes, n))
		return 0;
	memory_own(&m->s->memory, (uint32_t)(at >> 32) & 0x3fffffff)->name = "a constant";
	addrmap_learn(&fo->n, value, n, at);
	return at;
}

/* Could the object that our memory points to here be the one at this native address? We may run a
 * little ahead of the recorded order, so memory may hold a later pointer already. */
static bool may_be(struct machine *m, const struct object *o, uint32_t off, uint64_t value)
{
	struct follow *fo = follow_of(m);
	const uint8_t *bytes;
	size_t n = addrmap_constant(&fo->n, value, &bytes);
	bool stack = false;

	if (!o || off > o->size)
		return false;
	if (n)
		return o->readonly && !memcmp(o->bytes + off, bytes, MIN(n, o->size - off));
	for (size_t i = 0; i < fo->r.meta->nthreads; i++) {
		const struct trace_thread *t = &fo->r.meta->threads[i];

		stack |= value - t->stack_low < t->stack_size;
	}
	return stack == (o->kind == OBJ_STACK || (stack && o->kind == OBJ_ENV)) &&
	       o->kind != OBJ_GLOBAL;
}

/* What pthread_create stored is in no recording. glibc's handle points to the descriptor at the end
 * of the thread's stack, equally far from it in every thread. 0 = it is none. */
static uint64_t handle_at(struct machine *m, uint64_t value)
{
	struct follow *fo = follow_of(m);

	for (size_t i = 1; i < fo->threads.len; i++) {
		const struct trace_thread *t = &fo->r.meta->threads[fo->threads.data[i].index];
		uint64_t depth = t->stack_low + t->stack_size - value;

		if (value % 64 || depth - 1 >= 4096 ||
		    (fo->handle_depth && depth != fo->handle_depth))
			continue;
		fo->handle_depth = depth;
		return i + 1;
	}
	return 0;
}

uint64_t follow_translate(struct machine *m, uint64_t value, uint64_t clock, uint64_t until,
			  struct val old)
{
	struct follow *fo = follow_of(m);
	bool hint = !old.x && follow_is_pointer(old.c);
	struct rec_block *block;
	uint64_t at;

	if (value < 65536 || value >> 47)
		return value;
	for (size_t i = 0; i < fo->handles.len; i++)
		if (fo->handles.data[i] == value)
			return i + 1;
	at = hint ? 0 : handle_at(m, value);
	if (at)
		return at;
	if (hint && addrmap_may_be(&fo->n, old.c, value, clock, until))
		return old.c;
	at = addrmap_machine(&fo->n, value, clock, until, &block);
	if (block) { /* allocated by a thread that we have not run so far */
		block->object = mem_new(m, OBJ_HEAP, block->size ? block->size : 256);
		*map_put(&fo->n.base_of, (uint32_t)(block->object >> 32) & 0x3fffffff, 0) =
			block->address + 1;
		return block->object + (value - block->address);
	}
	if (at)
		return at;
	if (hint && old.c & FUNC_TAG) { /* a function of a library */
		addrmap_learn(&fo->n, value, 1, old.c);
		return old.c;
	}
	if (hint && !addrmap_native(&fo->n, old.c)) {
		const struct object *o =
			memory_find(&m->s->memory, (uint32_t)(old.c >> 32) & 0x3fffffff);
		uint32_t off = (uint32_t)old.c - ADDR_BIAS;

		if (may_be(m, o, off, value)) {
			addrmap_learn(&fo->n, value - off, o->size, old.c - off);
			return old.c;
		}
	}
	at = addrmap_learned(&fo->n, value);
	if (!at)
		at = constant_at(m, value);
	if (at)
		return at;
	if (value >> 32) {
		follow_gap(m, "a pointer to memory that the recording does not explain");
		return opaque(m, value);
	}
	return value;
}
