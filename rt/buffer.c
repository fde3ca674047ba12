/* rt/buffer.c - per-thread event files that survive everything.
 *
 * A thread writes through a window: a shared mapping of a part of its file. What has been stored is
 * in the page cache and stays, however the process ends. When the window is full, the file is
 * grown, the next window is mapped where the last record ended, and the old one is unmapped.
 *
 * No descriptor stays open (the target may close all of them, or count them): the file is opened
 * again by its absolute path for each window. The blocks are allocated before they are mapped: a
 * full disk is an error here, and not SIGBUS at the next store. Windows grow, so that a short-lived
 * thread costs 16 KiB and a busy one a system call per 4 MiB. */
#include "rt/rt.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define PAGE	     4096ull
#define FIRST_WINDOW (16ull << 10)
#define LAST_WINDOW  (4ull << 20)

/* dir/tNNNNN */
static bool buffer_path(char *path, size_t size, uint32_t index)
{
	size_t len = 0;

	while (rt_dir[len])
		len++;
	if (!len || len + 8 >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		path[i] = rt_dir[i];
	path[len++] = '/';
	path[len++] = 't';
	for (uint32_t i = 0, unit = 10000; i < 5; i++, unit /= 10)
		path[len++] = (char)('0' + index / unit % 10);
	path[len] = 0;
	return true;
}

bool rt_buffer_reserve(int fd, uint64_t from, uint64_t n)
{
	static const char zeros[PAGE];
	struct rlimit limit = { 0 };
	long r;

	/* growing beyond the limit would raise SIGXFSZ in the target */
	if (rt_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) == 0 &&
	    limit.rlim_cur < from + n)
		return false;
	r = rt_syscall(SYS_fallocate, fd, 0, (long)from, (long)n, 0, 0);
	if (r == 0)
		return true;
	if (r != -95 /* EOPNOTSUPP */ && r != -38 /* ENOSYS */)
		return false;
	for (; n > 0; n -= PAGE, from += PAGE)
		if (rt_syscall(SYS_pwrite64, fd, (long)zeros, PAGE, (long)from, 0, 0) != PAGE)
			return false;
	return true;
}

static uint8_t *map_window(uint32_t index, uint64_t offset, uint64_t size)
{
	char path[4200];
	long fd, p;

	if (!buffer_path(path, sizeof(path), index))
		return NULL;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_CLOEXEC, 0644, 0, 0);
	if (fd < 0)
		return NULL;
	p = rt_buffer_reserve((int)fd, offset, size)
		    ? rt_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_POPULATE, fd, (long)offset)
		    : -1;
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return p < 0 && p > -4096 ? NULL : (uint8_t *)p;
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

uint8_t *rt_buffer_room(struct rt_thread *t, size_t n)
{
	struct rt_buffer *b = &t->buffer;
	uint64_t at, offset, size = b->window ? (uint64_t)(b->end - b->window) * 4 : FIRST_WINDOW;
	uint8_t *window;

	if (b->next && (size_t)(b->end - b->next) >= n)
		return b->next;
	if (t->detached_from_trace || !rt_writing)
		return NULL;
	if (!worth_trying(b))
		return lost(t);
	if (size > LAST_WINDOW)
		size = LAST_WINDOW;
	at = b->window ? b->offset + (uint64_t)(b->next - b->window) : b->offset;
	offset = at & ~(PAGE - 1);
	if (size < at - offset + n + PAGE)
		size = (at - offset + n + 2 * PAGE) & ~(PAGE - 1);
	window = map_window(t->index, offset, size);
	if (!window) {
		b->broken = true;
		__atomic_fetch_or(&rt_run->flags, PLAIT_RUN_NO_SPACE, __ATOMIC_RELAXED);
		return lost(t);
	}
	if (b->window)
		rt_syscall(SYS_munmap, (long)b->window, b->end - b->window, 0, 0, 0, 0);
	b->broken = false;
	b->window = window;
	b->offset = offset;
	b->end = window + size;
	b->next = b->clock_at = window + (at - offset);
	return b->next;
}

/* The thread writes no more. */
void rt_buffer_close(struct rt_thread *t)
{
	struct rt_buffer *b = &t->buffer;

	if (b->window)
		rt_syscall(SYS_munmap, (long)b->window, b->end - b->window, 0, 0, 0, 0);
	*b = (struct rt_buffer){ 0 };
}
