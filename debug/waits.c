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

/* Is it the command that waits as long as the word has a value? */
static bool is_waiting(uint64_t op)
{
	op &= FUTEX_CMD_MASK;
	return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI;
}

/* A system call that is to be started again leaves these in rax, and the kernel says so to nobody but a debugger.
 * The instruction leaves its return address in rcx. */
static bool is_in_call(const struct user_regs_struct *r)
{
	return r->rcx == r->rip && (int64_t)r->rax <= -512 && (int64_t)r->rax >= -516;
}

/* Without the number of the system call: it is one, and its arguments are those of a wait that has a reason. */
static bool looks_like_waiting(const struct dump *d, const struct user_regs_struct *r)
{
	uint32_t word;

	return is_in_call(r) && r->rsi < 1 << 10 && is_waiting(r->rsi) && r->rdi % 4 == 0 &&
	       dump_read(d, r->rdi, &word, sizeof(word)) && word == (uint32_t)r->rdx;
}

static bool waits(const struct dump *d, const struct dump_thread *t)
{
	const struct user_regs_struct *r = &t->registers;

	if (t->number_unknown)
		return looks_like_waiting(d, r);
	return r->orig_rax == SYS_futex && is_waiting(r->rsi);
}

void dump_waits(const struct dump *d, struct dump_waits *ret)
{
	for (size_t i = 0; i < d->threads.len; i++) {
		const struct user_regs_struct *r = &d->threads.data[i].registers;
		struct dump_wait w = { .thread = i, .futex = r->rdi, .owner = SIZE_MAX };
		struct mutex m;

		if (!waits(d, &d->threads.data[i]))
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
