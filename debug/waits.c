/* debug/waits.c - see waits.h. */
#include "debug/waits.h"

#include "debug/dump.h"

#include <linux/futex.h>
#include <sys/syscall.h>

/* The beginning of glibc's pthread_mutex_t. */
struct mutex {
	int32_t lock;
	uint32_t count;
	int32_t owner;
};

static size_t thread_of(const struct dump *d, int32_t tid)
{
	for (size_t i = 0; i < d->threads.len; i++)
		if (d->threads.data[i].tid == (uint32_t)tid)
			return i;
	return SIZE_MAX;
}

static bool waits(const struct user_regs_struct *r)
{
	unsigned op = (unsigned)r->rsi & FUTEX_CMD_MASK;

	return r->orig_rax == SYS_futex &&
	       (op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI);
}

void dump_waits(const struct dump *d, struct dump_waits *ret)
{
	for (size_t i = 0; i < d->threads.len; i++) {
		const struct user_regs_struct *r = &d->threads.data[i].registers;
		struct dump_wait w = { .thread = i, .futex = r->rdi, .owner = SIZE_MAX };
		struct mutex m;

		if (!waits(r))
			continue;
		/* who waits for a mutex has set its word to 2: owned, and somebody waits */
		if (dump_read(d, w.futex, &m, sizeof(m)) && m.lock == 2)
			w.owner = thread_of(d, m.owner);
		vec_push(ret, w);
	}
}

static const struct dump_wait *wait_of(const struct dump_waits *all, size_t thread)
{
	for (size_t i = 0; i < all->len; i++)
		if (all->data[i].thread == thread)
			return &all->data[i];
	return NULL;
}

bool dump_cycle(const struct dump *d, struct dump_cycle *ret)
{
	struct dump_waits all = { 0 };
	bool found = false;

	dump_waits(d, &all);
	for (size_t i = 0; i < all.len && !found; i++) {
		size_t start = all.data[i].thread, at = start;

		vec_clear(ret);
		do {
			const struct dump_wait *w = wait_of(&all, at);

			vec_push(ret, at);
			at = w ? w->owner : SIZE_MAX;
		} while (at != SIZE_MAX && at != start && ret->len <= all.len);
		found = at == start;
	}
	if (!found)
		vec_clear(ret);
	vec_deinit(&all);
	return found;
}
