/* rt/core/buffer.c - per-thread event files that survive everything.
 *
 * A thread writes into a window, a small file that it has mapped: what has been stored is in the
 * page cache and stays, however the process ends. When the window is full, its records are written
 * to the end of the thread's event file, and the window begins anew. So the pages that a thread
 * touches are always the same few, warm in its cache, and the kernel has nothing to clear, map and
 * unmap for each page of the trace: that cost more than half of what is left now.
 *
 * The first word of the window says how much of the event file counts. A kill between the write
 * and the update of that word leaves bytes in the event file that do not count; one before the
 * window has been cleared leaves the word marked, and the reader knows the window's records
 * already.
 *
 * No descriptor stays open (the target may close all of them, or count them): the event file is
 * opened again by its absolute path each time. The window's blocks are allocated before they are
 * used: a full disk is an error here, and not SIGBUS at the next store. A window begins with a
 * small part, so that a short-lived thread costs 16 KiB and one file. */
#include "rt/core/rt.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define PAGE	     4096ull
#define FIRST_WINDOW (16ull << 10)
#define WINDOW	     (128ull << 10)

bool rt_buffer_path(char path[RT_BUFFER_PATH], char letter, uint32_t index)
{
	size_t len = 0;

	while (rt_dir[len])
		len++;
	if (!len || len + 8 >= RT_BUFFER_PATH)
		return false;
	for (size_t i = 0; i < len; i++)
		path[i] = rt_dir[i];
	path[len++] = '/';
	path[len++] = letter;
	for (uint32_t i = 0, unit = 10000; i < 5; i++, unit /= 10)
		path[len++] = (char)('0' + index / unit % 10);
	path[len] = 0;
	return true;
}

static bool within_limit(uint64_t size)
{
	struct rlimit limit = { 0 };

	/* growing beyond the limit would raise SIGXFSZ in the target */
	return rt_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0 ||
	       limit.rlim_cur >= size;
}

bool rt_buffer_reserve(int fd, uint64_t from, uint64_t n)
{
	static const char zeros[PAGE];
	long r;

	if (!within_limit(from + n))
		return false;
	r = rt_syscall(SYS_fallocate, fd, 0, (long)from, (long)n, 0, 0);
	if (r == 0)
		return true;
	if (r != -95 /* EOPNOTSUPP */ && r != -38 /* ENOSYS */)
		return false;
	for (uint64_t piece; n > 0; n -= piece, from += piece) {
		piece = n < PAGE ? n : PAGE;
		if (rt_syscall(SYS_pwrite64, fd, (long)zeros, (long)piece, (long)from, 0, 0) !=
		    (long)piece)
			return false;
	}
	return true;
}

static long open_file(char letter, uint32_t index)
{
	char path[RT_BUFFER_PATH];

	if (!rt_buffer_path(path, letter, index))
		return -1;
	return rt_syscall(SYS_openat, AT_FDCWD, (long)path,
			  O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644, 0, 0);
}

static void close_file(long fd)
{
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* The window's first `size` bytes can be stored to from now on. */
static bool reserve_window(struct rt_thread *t, uint64_t size)
{
	struct rt_buffer *b = &t->buffer;
	long fd = open_file('w', t->index), p = (long)b->window;
	bool done;

	if (fd < 0)
		return false;
	done = rt_buffer_reserve((int)fd, 0, size);
	if (done && !b->window) {
		p = rt_syscall(SYS_mmap, 0, WINDOW, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_POPULATE, fd, 0);
		done = p >= 0 || p < -4095;
	}
	close_file(fd);
	if (!done)
		return false;
	if (!b->window) {
		struct plait_window *w = (void *)p;

		b->next = b->clock_at = (uint8_t *)p + sizeof(*w);
		if (t->synced) {
			w->synced = *t->synced;
			t->synced = &w->synced;
		}
	}
	b->window = (uint8_t *)p;
	b->end = b->window + size;
	return true;
}

static bool write_all(long fd, const uint8_t *from, uint64_t n, uint64_t at)
{
	while (n > 0) {
		long r = rt_syscall(SYS_pwrite64, fd, (long)from, (long)n, (long)at, 0, 0);

		if (r <= 0)
			return false;
		from += r;
		at += (uint64_t)r;
		n -= (uint64_t)r;
	}
	return true;
}

/* The records of the window become part of the event file. */
static bool empty_window(struct rt_thread *t)
{
	struct rt_buffer *b = &t->buffer;
	volatile struct plait_window *w = (volatile void *)b->window;
	uint8_t *first = b->window + sizeof(*w);
	uint64_t n = (uint64_t)(b->next - first);
	long fd;
	bool done;

	if (!within_limit(b->written + n) || (fd = open_file('t', t->index)) < 0)
		return false;
	done = write_all(fd, first, n, b->written) ||
	       (rt_keeps_last && rt_last_make_room(t) && write_all(fd, first, n, b->written));
	close_file(fd);
	if (!done)
		return false;
	b->written += n;
	w->before = b->written | PLAIT_WINDOW_STALE;
	__asm__ volatile("" ::: "memory");
	__builtin_memset(first, 0, n);
	__asm__ volatile("" ::: "memory");
	w->before = b->written;
	b->next = b->clock_at = first;
	if (rt_keeps_last)
		rt_last_turn(t, within_limit(b->written + WINDOW));
	return true;
}

static uint8_t *lost(struct rt_thread *t)
{
	t->buffer.lost++;
	rt_run->threads[t->index].lost++;
	return NULL;
}

/* Room as a thread sees it: pages that cannot be had now may be there later (the disk was full, all
 * descriptors were in use), so try again now and then. */
static bool worth_trying(struct rt_buffer *b)
{
	return !b->broken || (b->lost & 0xffff) == 0;
}

static bool make_room(struct rt_thread *t, size_t n)
{
	struct rt_buffer *b = &t->buffer;

	if (!b->window)
		return reserve_window(t, FIRST_WINDOW);
	if (b->end < b->window + WINDOW && reserve_window(t, WINDOW) &&
	    (size_t)(b->end - b->next) >= n)
		return true;
	return empty_window(t);
}

uint8_t *rt_buffer_room(struct rt_thread *t, size_t n)
{
	struct rt_buffer *b = &t->buffer;

	if (b->next && (size_t)(b->end - b->next) >= n)
		return b->next;
	if (t->detached_from_trace || !rt_writing)
		return NULL;
	/* code that a signal has interrupted is about to store into this window */
	if (t->values.held || !worth_trying(b))
		return lost(t);
	if (!make_room(t, n)) {
		b->broken = true;
		__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_NO_SPACE, __ATOMIC_RELAXED);
		return lost(t);
	}
	b->broken = false;
	return b->next;
}

/* The thread writes no more. */
void rt_buffer_close(struct rt_thread *t)
{
	struct rt_buffer *b = &t->buffer;

	rt_values_forget(t);
	if (b->window)
		rt_syscall(SYS_munmap, (long)b->window, WINDOW, 0, 0, 0, 0);
	t->synced = NULL;
	*b = (struct rt_buffer){ 0 };
}

void *rt_reserve_memory(size_t n, int flags)
{
	long p = rt_syscall(SYS_mmap, 0, (long)n, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}
