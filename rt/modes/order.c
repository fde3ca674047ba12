/* rt/modes/order.c - modes order and block: who accessed which element when.
 *
 * An access and its entry in the vector are one step with respect to everybody else: a lock per
 * element is held around both. The entry comes first, so that an access that crashes is in the
 * log. Accesses in a row by one thread are one 32-bit word whose count goes up, so a vector costs
 * four bytes per change of thread.
 *
 * Most elements are used by one thread for a while. After `keep_after` accesses in a row a thread
 * becomes the owner of the slot: it keeps the lock, and its accesses need no atomic instruction. It
 * says in its own word `held` that it is inside, then looks whether it still is the owner. Another
 * thread that wants the lock takes the ownership away and has the kernel run a barrier on every
 * processor (membarrier). After that it either sees the owner inside and waits for it to leave, or
 * the owner will see that it is no owner any more; then the lock is free to take. That takes
 * microseconds, so keep_after is four times as large from then on, up to a limit.
 *
 * An element may be a field of many objects, and two threads busy with an object each would pass
 * its slot to and fro at every access. When they have met there often enough (CROWDED), the thread
 * that gets it is its owner at once, and the next one lets the owner finish: until the owner's run
 * stops growing for a moment, or for one nap.
 *
 * Vectors grow in chunks taken from mapped windows of the file `vectors`; every store is complete
 * in itself, so whatever kills the process, what was recorded is readable. Windows stay mapped,
 * because other threads write into them.
 *
 * A thread that cannot get a lock for long (its holder was stopped, or left the access by a longjmp
 * from a signal handler) goes on without it and without an entry: the target never hangs because of
 * us, and the loss is counted.
 *
 * Wide accesses (memcpy ...) are entered before they are made, without holding the lock during
 * them. */
#include "rt/core/real.h"
#include "rt/modes/order.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

_Static_assert(offsetof(struct order_slot, lock) == SLOT_LOCK &&
		       offsetof(struct order_slot, word) == SLOT_WORD &&
		       offsetof(struct order_slot, owner) == SLOT_OWNER &&
		       offsetof(struct rt_thread, depth) == THREAD_DEPTH &&
		       offsetof(struct rt_thread, held) == THREAD_HELD &&
		       offsetof(struct rt_thread, nested) == THREAD_NESTED &&
		       THREAD_BITS == PLAIT_VECTORS_THREAD_BITS,
	       "order-offsets.h");

enum {
	SLOTS_MAX = ELEMENTS_MAX,
	FIRST_WORDS = 12, /* a chunk of 64 bytes */
	LAST_WORDS = (64 << 10) / 4 - 4,
	SPINS = 200,	  /* then give the processor away */
	PATIENCE = 20000, /* times, then go on without the lock */
	KEEP_AFTER = 64,  /* at first ... */
	KEEP_MOST = 1024, /* ... and at most: then taking it away costs less than was saved */
	CROWDED = 1000,	  /* meetings */
	MOMENT = 10,	  /* pauses */
	MOMENTS = 10,	  /* then a nap */
};
#define WINDOW_FIRST (64ull << 10)
#define WINDOW_LAST  (4ull << 20)

struct order_slot *order_slots;
static uint32_t nslots;
static uint32_t table_lock, file_lock;
static bool have_profile, all_sync, can_keep;

static struct plait_vectors_header *header;
static uint8_t *window, *window_end;
static uint64_t window_offset, window_size;
static char path[4200]; /* of the file */

/* ---- locks ---- */

static void nap(void)
{
	struct timespec time = { 0, 50000 };

	rt_syscall(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
}

static void wait_a_little(unsigned round)
{
	if (round < 100)
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	else
		nap();
}

static bool lock(uint32_t *word)
{
	for (unsigned i = 0; i < PATIENCE; i++) {
		for (unsigned k = 0; k < SPINS; k++) {
			if (!__atomic_load_n(word, __ATOMIC_RELAXED) &&
			    !__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
				return true;
			__builtin_ia32_pause();
		}
		wait_a_little(i);
	}
	return false;
}

/* In a crowd: as long as the owner is busy there, but not for ever. */
static void let_finish(const struct order_slot *s)
{
	uint32_t *last = __atomic_load_n(&s->word, __ATOMIC_RELAXED) - 1;
	uint32_t seen = __atomic_load_n(last, __ATOMIC_RELAXED), now;

	for (unsigned i = 0; i < MOMENTS; i++, seen = now) {
		for (unsigned k = 0; k < MOMENT; k++)
			__builtin_ia32_pause();
		now = __atomic_load_n(last, __ATOMIC_RELAXED);
		if (now == seen)
			return;
	}
	nap();
}

/* Take the lock away from the slot's owner: true when it is ours now. */
static bool take_over(struct order_slot *s)
{
	struct rt_thread *owner;
	const void *inside = (void *)((uintptr_t)s | ORDER_KEPT);

	if (s->met > CROWDED)
		let_finish(s);
	owner = __atomic_exchange_n(&s->owner, NULL, __ATOMIC_ACQ_REL);
	if (!owner)
		return false; /* nobody keeps it, or somebody else is taking it */
	if (s->keep_after < KEEP_MOST)
		s->keep_after *= 4;
	rt_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < PATIENCE; i++) {
		for (unsigned k = 0; k < SPINS; k++) {
			if (__atomic_load_n(&owner->held, __ATOMIC_ACQUIRE) != inside)
				return true;
			__builtin_ia32_pause();
		}
		wait_a_little(i);
	}
	return false;
}

/* Stop being the owner, and hold the lock as everybody does; false when we are not the owner. */
static bool release_own(struct order_slot *s, struct rt_thread *t)
{
	return __atomic_load_n(&s->owner, __ATOMIC_RELAXED) == t &&
	       __atomic_compare_exchange_n(&s->owner, &t, NULL, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static bool lock_slot(struct order_slot *s)
{
	s->met++; /* roughly */
	for (unsigned i = 0; i < PATIENCE; i++) {
		for (unsigned k = 0; k < SPINS; k++) {
			if (!__atomic_load_n(&s->lock, __ATOMIC_RELAXED) &&
			    !__atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE))
				return true;
			if (__atomic_load_n(&s->owner, __ATOMIC_RELAXED) && take_over(s))
				return true;
			__builtin_ia32_pause();
		}
		wait_a_little(i);
	}
	return false;
}

static void unlock(uint32_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* ---- the file ---- */

static bool set_path(void)
{
	size_t len = strlen(rt_dir);

	if (!len || len + 9 >= sizeof(path))
		return false;
	memcpy(path, rt_dir, len);
	memcpy(path + len, "/vectors", 9);
	return true;
}

/* Calls nobody outside: see order-kept.S. */
static bool map_window(uint64_t size)
{
	long fd, p;

	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			0644, 0, 0);
	if (fd < 0)
		return false;
	p = rt_syscall(SYS_fallocate, fd, 0, (long)window_offset, (long)size, 0, 0);
	if (p == -95)
		p = rt_syscall(SYS_ftruncate, fd, (long)(window_offset + size), 0, 0, 0, 0);
	if (p == 0)
		p = rt_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_POPULATE, fd, (long)window_offset);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p <= 0 && p > -4096)
		return false;
	window = (uint8_t *)p;
	window_end = window + size;
	window_offset += size;
	window_size = size;
	return true;
}

/* The next chunk of an element; chunks double until they are LAST_WORDS long. */
static bool grow(struct order_slot *s)
{
	uint32_t nwords = !s->nwords ? FIRST_WORDS : s->nwords * 2 + 4;
	struct plait_vectors_chunk *c;
	uint64_t size, skip;
	bool ok = true;

	if (nwords > LAST_WORDS)
		nwords = LAST_WORDS;
	if (!lock(&file_lock))
		return false;
	size = sizeof(*c) + nwords * 4ull;
	if ((uint64_t)(window_end - window) < size) {
		/* a chunk without an element fills what is left */
		skip = (uint64_t)(window_end - window);
		if (skip)
			((struct plait_vectors_chunk *)window)->nwords =
				(uint32_t)(skip - sizeof(*c)) / 4;
		ok = map_window(window_size * 4 > WINDOW_LAST ? WINDOW_LAST : window_size * 4);
	}
	if (ok) {
		c = (struct plait_vectors_chunk *)window;
		c->element = s->element;
		c->sequence = s->sequence++;
		c->reserved = 1; /* in use */
		__atomic_store_n(&c->nwords, nwords, __ATOMIC_RELEASE);
		window += size;
		header->used = window_offset - (uint64_t)(window_end - window);
		s->nwords = nwords;
		s->word = c->words;
		s->end = c->words + nwords;
	} else {
		s->word = s->end = NULL;
		__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_NO_SPACE, __ATOMIC_RELAXED);
	}
	unlock(&file_lock);
	return ok;
}

/* The slot of an element, added when new; 0 when there is no room. */
static uint32_t slot_number(uint32_t element)
{
	uint32_t number = elements_find(element);
	struct order_slot *s;

	if (number || !lock(&table_lock))
		return number;
	number = elements_find(element);
	if (!number && nslots + 1 < SLOTS_MAX) {
		s = &order_slots[nslots + 1];
		s->element = element;
		s->keep_after = KEEP_AFTER;
		if (grow(s)) {
			number = ++nslots;
			elements_put(element, number);
		}
	}
	unlock(&table_lock);
	return number;
}

/* ---- the profile ---- */

static const char *number_at(const char *p, const char *end, uint32_t *ret)
{
	uint32_t n = 0;

	while (p < end && *p == ' ')
		p++;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		n = n * 10 + (uint32_t)(*p - '0');
	*ret = n;
	return p;
}

static void read_line(const char *p, const char *end)
{
	uint32_t site, element;

	if (end - p > 5 && !memcmp(p, "site ", 5)) {
		p = number_at(p + 5, end, &site);
		number_at(p, end, &element);
		elements_set_site(site, slot_number(element));
	} else if (end - p == 8 && !memcmp(p, "sync all", 8)) {
		all_sync = true;
	} else if (end - p > 5 && !memcmp(p, "sync ", 5)) {
		number_at(p + 5, end, &element);
		slot_number(element);
	}
}

static bool read_profile(const char *path)
{
	long fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long size = fd < 0 ? 0 : rt_syscall(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
	const char *text, *end, *line, *next;

	if (size <= 0)
		return false;
	text = real.mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (text == MAP_FAILED)
		return false;
	end = text + size;
	for (line = text; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			next = end;
		read_line(line, next);
	}
	real.munmap((void *)text, (size_t)size);
	return true;
}

void order_init(void)
{
	const char *profile = rt_option_value("profile");

	/* the order variant has 31 bits for the address of a slot */
	order_slots = rt_reserve_memory(SLOTS_MAX * sizeof(*order_slots), MAP_32BIT);
	if (order_slots && order_can_patch())
		plait_variant = PLAIT_VARIANT_ORDER;
	if (!order_slots)
		order_slots = rt_reserve_memory(SLOTS_MAX * sizeof(*order_slots), 0);
	if (!order_slots || !elements_init() || !set_path() || !map_window(WINDOW_FIRST))
		return;
	header = (struct plait_vectors_header *)window;
	window += sizeof(*header);
	header->version = PLAIT_VECTORS_VERSION;
	header->mode = rt_mode;
	header->used = sizeof(*header);
	memcpy(header->magic, PLAIT_VECTORS_MAGIC, 8);
	have_profile = profile && read_profile(profile);
	if (!profile)
		all_sync = true;
	can_keep = rt_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0,
			      0) == 0;
	rt_access = RT_ACCESS_ORDER;
	rt_on_sync = order_sync;
	rt_true_pc = order_hot_pc;
}

void order_module(const struct plait_module *module, uint32_t first_site)
{
	static uint32_t base; /* of this module's elements */

	if (!rt_on_sync)
		return;
	if (!have_profile && rt_mode == PLAIT_MODE_ORDER)
		for (uint32_t i = 0; i < module->nsites && module->element_of_site; i++)
			if (module->element_of_site[i] != UINT32_MAX)
				elements_set_site(first_site + i,
						  slot_number(base + module->element_of_site[i]));
	base += module->nelements;
	order_patch(module, first_site);
}

/* ---- recording ---- */

static void lost(void)
{
	__atomic_fetch_add(&header->lost, 1, __ATOMIC_RELAXED);
}

/* Returns how many accesses in a row this makes. */
static uint32_t append(struct order_slot *s, uint32_t thread, uint32_t count)
{
	volatile uint32_t *word = s->word;
	uint32_t last;

	if (unlikely(!word)) {
		lost();
		return 0;
	}
	last = likely(word > s->end - s->nwords) ? word[-1] : 0; /* 0: the chunk is new */
	if (last && (last & ((1u << PLAIT_VECTORS_THREAD_BITS) - 1)) == thread &&
	    last + count > last) {
		word[-1] = last + count;
		return (last + count) >> PLAIT_VECTORS_THREAD_BITS;
	}
	if (word >= s->end && !grow(s)) {
		lost();
		return 0;
	}
	*(volatile uint32_t *)s->word++ = thread | count;
	return count >> PLAIT_VECTORS_THREAD_BITS;
}

struct order_slot *order_enter_slot(struct order_slot *s, uint32_t count)
{
	struct rt_thread *t = rt_self();
	uintptr_t held = (uintptr_t)s;

	if (rt_run->nthreads < 2 || unlikely(t->depth || t->held || t->detached_from_trace))
		return NULL;
	/* of our own slot the run may have become too long for its word: the lock is ours already
	 */
	if (!release_own(s, t) && __atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE) &&
	    unlikely(!lock_slot(s))) {
		lost();
		return NULL;
	}
	if (append(s, t->index, count) >= (s->met > CROWDED ? 1 : s->keep_after) && can_keep) {
		held |= ORDER_KEPT;
		__atomic_store_n(&t->held, (void *)held, __ATOMIC_RELAXED);
		__atomic_store_n(&s->owner, t, __ATOMIC_RELEASE);
	}
	t->held = (void *)held;
	return (struct order_slot *)held;
}

void order_enter_place(struct order_slot *s, uint32_t count)
{
	struct rt_thread *t = rt_self();

	if (t->held)
		t->nested++;
	else
		order_enter_slot(s, count);
}

void order_forked(void)
{
	for (uint32_t i = 1; order_slots && i <= nslots; i++)
		order_slots[i].owner = NULL;
}

static void sync_entry(uint32_t element)
{
	uint32_t number = all_sync ? slot_number(element) : elements_find(element);
	struct order_slot *s = number ? order_enter_slot(&order_slots[number], ORDER_ONCE) : NULL;

	if (s)
		order_leave(s);
}

void order_sync(const struct rt_sync *sync)
{
	uint32_t number = elements_of_site(sync->site);
	struct order_slot *s;

	if (!plait_vectors_sync(sync->kind) || rt_run->nthreads < 2)
		return;
	if (number && rt_mode == PLAIT_MODE_ORDER) {
		s = order_enter_slot(&order_slots[number], ORDER_ONCE);
		if (s)
			order_leave(s);
	} else {
		sync_entry(elements_of_sync(sync->object));
	}
	if (sync->object2)
		sync_entry(elements_of_sync(sync->object2));
}
