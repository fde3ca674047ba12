/* rt/interpose/maps.c - memory that is taken away, protected or cleared, and memory with two addresses.
 *
 * To a thread that uses the memory these calls are a write of all of it. Memory that is mapped at a second address
 * is one object with two names: a search that goes by addresses does not know, and the run says so. */
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void range_point(void *p, size_t n)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me || !n)
		return;
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_INPUT,
						.site = site,
						.object = p,
						.size = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX,
						.writes = true });
	control_changed();
}

int hook_munmap(void *p, size_t n)
{
	range_point(p, n);
	return real.munmap(p, n);
}

int hook_mprotect(void *p, size_t n, int how)
{
	range_point(p, n);
	return real.mprotect(p, n, how);
}

int hook_madvise(void *p, size_t n, int advice)
{
	range_point(p, n);
	return real.madvise(p, n, advice);
}

void *hook_mremap(void *p, size_t n, size_t size, int flags, ...)
{
	va_list ap;
	void *to;

	va_start(ap, flags);
	to = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
	va_end(ap);
	range_point(p, n);
	if (!n)
		control_limit(PLAIT_LIMIT_ALIAS);
	return real.mremap(p, n, size, flags, to);
}

/* ---- two addresses ---- */

/* What was mapped to be shared, by two numbers; it stays here when it is unmapped. */
enum { KNOWN = 64 };
static struct {
	uint64_t one, two;
} known[KNOWN];
static size_t nknown;

static void maps_note(uint64_t one, uint64_t two)
{
	size_t i;

	for (i = 0; i < nknown; i++)
		if (known[i].one == one && known[i].two == two)
			break;
	if (i < nknown || nknown == KNOWN) {
		control_limit(PLAIT_LIMIT_ALIAS);
		return;
	}
	known[nknown].one = one;
	known[nknown++].two = two;
}

static void note_mapping(void *p, int flags, int fd)
{
	struct stat st;

	if (p == MAP_FAILED || rt_mode != PLAIT_MODE_CONTROL || fd < 0 ||
	    (flags & MAP_TYPE) == MAP_PRIVATE ||
	    rt_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) != 0)
		return;
	maps_note(st.st_dev, st.st_ino);
}

/* clang-format off: two of a kind */
#define MAP(name, offset)                                                                          \
	void *hook_##name(void *p, size_t n, int how, int flags, int fd, offset at)                \
	{                                                                                          \
		void *r;                                                                           \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		if (flags & MAP_FIXED)                                                             \
			range_point(p, n);                                                         \
		plait_call_site = 0;                                                               \
		r = real.name(p, n, how, flags, fd, at);                                           \
		note_mapping(r, flags, fd);                                                        \
		return r;                                                                          \
	}
MAP(mmap, off_t)
MAP(mmap64, off64_t)
/* clang-format on */

void *hook_shmat(int id, const void *p, int flags)
{
	void *r;

	HOOK_ENTER;
	plait_call_site = 0;
	r = real.shmat(id, p, flags);
	if (r != MAP_FAILED && rt_mode == PLAIT_MODE_CONTROL)
		maps_note(UINT64_MAX, (uint64_t)id);
	return r;
}

/* A run begins. What constructors have mapped is there. */
void maps_reset(void)
{
	static size_t before;
	static bool begun;

	if (!begun)
		before = nknown;
	begun = true;
	nknown = before;
}
