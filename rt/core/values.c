/* rt/core/values.c - values of address-feeding loads, mode path.
 *
 * Instrumented code stores the bytes of a value into an open block of the thread's window
 * (hooks.h has the five instructions), because a program has more of these values than of anything
 * else that mode path writes: a record each would cost too much. The block is one record,
 * PATH_VALUES:
 *
 *	tag | used + 1, 0 while it is open | room | bytes
 *
 * Both numbers are varints of two bytes, so that they can be changed in place. A kill leaves an
 * open block, and the zeros at its end may be values or none: at most they are lost.
 *
 * Other records may come behind an open block. But what has a clock of its own (an allocation, a
 * birth, an input) closes it first, so that a reader knows on which side of it a value was read; if
 * nothing came behind the block, what is left of its room is given back.
 *
 * A signal handler may come between the instructions that store a value. The interrupted block is
 * put aside until the handler returns, neither closed nor moved; the handler has its own. */
#include "rt/core/record.h"

#define BLOCK_FIRST 128
#define BLOCK_LAST  512
#define HEAD	    5 /* tag and two numbers */

__thread struct plait_values plait_values;
static __thread uint8_t nowhere[16];

static void put_two_bytes(uint8_t *p, size_t v)
{
	uint16_t both = (uint16_t)((v & 0x7f) | 0x80 | v >> 7 << 8);

	memcpy(p, &both, 2);
}

static void forget_block(struct rt_thread *t)
{
	t->values.block = NULL;
	plait_values = (struct plait_values){ 0 };
}

void rt_values_close(struct rt_thread *t)
{
	uint8_t *block = t->values.block, *next = plait_values.next, *limit = t->buffer.limit;
	size_t used = (size_t)(next - block);
	bool last = t->buffer.next == t->values.block_end;

	if (!block || t->depth || limit == BUFFER_BUSY)
		return;
	t->depth = RT_BUSY;
	t->buffer.limit = BUFFER_BUSY;
	__asm__ volatile("" ::: "memory");
	put_two_bytes(block - 4, used + 1);
	__asm__ volatile("" ::: "memory");
	if (last) {
		put_two_bytes(block - 2, used);
		t->buffer.next = next;
	}
	t->values.size = last || next >= plait_values.end ? BLOCK_LAST : BLOCK_FIRST;
	forget_block(t);
	__asm__ volatile("" ::: "memory");
	t->buffer.limit = limit;
	t->depth = 0;
}

static void open_block(struct rt_thread *t)
{
	size_t size = t->values.size ? t->values.size : BLOCK_FIRST;
	uint8_t *p;

	t->buffer.clock_at = t->buffer.next; /* each block has a clock */
	p = record_begin(t, HEAD + size, false);
	if (!p)
		return;
	put_two_bytes(p + 1, 0);
	put_two_bytes(p + 3, size);
	record_end(t, p, p + HEAD + size, PLAIT_EV_PATH_VALUES);
	t->values.self = &plait_values;
	t->values.block = p + HEAD;
	t->values.block_end = p + HEAD + size;
	plait_values.next = p + HEAD;
	plait_values.end = p + HEAD + size - 7; /* below it there is room for any value */
}

/* There is no room for the next value: make some, even if nobody will read it. */
void plait_flush_values(void)
{
	struct rt_thread *t = rt_self();

	rt_values_close(t);
	plait_values = (struct plait_values){ nowhere, nowhere + 1 };
	if (rt_writing && rt_mode == PLAIT_MODE_PATH)
		open_block(t);
}

void rt_values_interrupted(struct rt_thread *t, struct rt_values *saved,
			   struct plait_values *saved_place)
{
	*saved = t->values;
	*saved_place = plait_values;
	forget_block(t);
	t->values.held += saved->block != NULL;
}

void rt_values_resumed(struct rt_thread *t, const struct rt_values *saved,
		       const struct plait_values *saved_place)
{
	rt_values_close(t);
	t->values = *saved;
	plait_values = *saved_place;
}

void rt_values_forget(struct rt_thread *t)
{
	forget_block(t);
	t->values.held = 0;
}
