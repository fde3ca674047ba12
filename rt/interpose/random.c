/* rt/interpose/random.c - randomness that is the same in every run.
 *
 * Every source that a program can ask through a library: getrandom and getentropy, arc4random, the
 * devices /dev/random and /dev/urandom, std::random_device, the names of temporary files. The
 * instructions rdrand and rdseed come here too where the program was built by `unplait cc'
 * (cc/instrument/machine.c); libstdc++ uses them inside std::random_device, which is taken over as
 * a whole.
 *
 * A number is a hash of the process, the thread, and how often that thread has drawn before. So what
 * one thread draws does not depend on what others drew: drawing is no communication between threads,
 * and needs no scheduling point. */
#include "rt/interpose/world.h"

#include "unplait/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { DEVICE_BYTES = 1 << 20, DEVICE_FD = 180 };

static uint64_t outside_draws; /* before main, and in handlers of signals from outside */

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Processes draw different numbers, as they would natively. */
static uint64_t stream(uint64_t who)
{
	return mix(mix((uint64_t)ids_pid()) ^ who);
}

static uint64_t draw(void)
{
	struct control_thread *me = control_self();

	return me ? mix(stream(me->task.id + 1) + me->draws++) : mix(stream(0) + outside_draws++);
}

uint64_t random_word(void)
{
	return draw();
}

static void fill(void *p, size_t n)
{
	uint64_t word;
	size_t part;

	for (; n; n -= part, p = (char *)p + part) {
		word = draw();
		part = n < sizeof(word) ? n : sizeof(word);
		memcpy(p, &word, part);
	}
}

void random_reset(void)
{
	outside_draws = 0;
}

/* ---- libc ---- */

ssize_t hook_getrandom(void *p, size_t n, unsigned flags)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual())
		return real.getrandom(p, n, flags);
	fill(p, n);
	return (ssize_t)n;
}

int hook_getentropy(void *p, size_t n)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual() || n > 256)
		return real.getentropy(p, n);
	fill(p, n);
	return 0;
}

uint32_t hook_arc4random(void)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return world_is_virtual() ? (uint32_t)draw() : real.arc4random();
}

void hook_arc4random_buf(void *p, size_t n)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (world_is_virtual())
		fill(p, n);
	else
		real.arc4random_buf(p, n);
}

uint32_t hook_arc4random_uniform(uint32_t below)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual())
		return real.arc4random_uniform(below);
	return below < 2 ? 0 : (uint32_t)(((draw() >> 32) * below) >> 32);
}

/* ---- libstdc++: std::random_device ---- */

unsigned hook__ZNSt13random_device9_M_getvalEv(void *device)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return world_is_virtual() ? (unsigned)draw()
				  : real._ZNSt13random_device9_M_getvalEv(device);
}

double hook__ZNKSt13random_device13_M_getentropyEv(const void *device)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return world_is_virtual() ? 32 : real._ZNKSt13random_device13_M_getentropyEv(device);
}

/* ---- the instructions ---- */

/* rdrand and rdseed of code built by `unplait cc'. */
uint64_t plait_random(void)
{
	uint64_t word = 0;

	if (world_is_virtual())
		return draw();
	/* -4: interrupted */
	while (rt_syscall(SYS_getrandom, (long)&word, sizeof(word), 0, 0, 0, 0) == -4)
		;
	return word;
}

/* ---- the devices ---- */

/* A file of random bytes that stands for the device; made before the first run, so that every run
 * finds it. -1: there is none. */
static int device = -1;

void random_init(void)
{
	static uint64_t words[512];
	long fd = rt_syscall(SYS_memfd_create, (long)"random", MFD_CLOEXEC, 0, 0, 0, 0), high;
	uint64_t i, k;

	if (fd < 0)
		return;
	high = rt_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, DEVICE_FD, 0, 0, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	for (i = 0; high >= 0 && i < DEVICE_BYTES / sizeof(words); i++) {
		for (k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			words[k] = mix(mix(i) + k);
		rt_syscall(SYS_write, high, (long)words, sizeof(words), 0, 0, 0);
	}
	device = (int)high;
}

const char *random_device_path(const char *path)
{
	static char own[32];

	if (device < 0 || strncmp(path, "/dev/", 5) != 0 ||
	    (strcmp(path + 5, "urandom") != 0 && strcmp(path + 5, "random") != 0))
		return NULL;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", device);
	return own;
}

bool random_is_device(int fd)
{
	struct stat a, b;

	return device >= 0 && fstat(fd, &a) == 0 && fstat(device, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
