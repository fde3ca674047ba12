/* rt/core/folder.c - the run folder and its file `run`.
 *
 * A run folder belongs to the process that creates the file `run` in it. A process that finds the
 * file already there is a descendant that inherited the environment: it records nothing, or makes a
 * folder of its own inside (option `follow`). */
#include "rt/core/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

char rt_dir[PATH_MAX];
static struct plait_run dummy_run;
struct plait_run *rt_run = &dummy_run;

static bool put_path(char *out, size_t size, const char *dir, const char *name)
{
	size_t d = strlen(dir), n = strlen(name);

	if (d + n + 2 > size)
		return false;
	memcpy(out, dir, d);
	out[d] = '/';
	memcpy(out + d + 1, name, n + 1);
	return true;
}

/* Make rt_dir absolute: the target may change its directory. */
static bool set_dir(const char *dir)
{
	char cwd[PATH_MAX];

	if (!dir || !*dir)
		return false;
	if (dir[0] == '/') {
		if (strlen(dir) + 16 > sizeof(rt_dir))
			return false;
		memcpy(rt_dir, dir, strlen(dir) + 1);
		return true;
	}
	if (rt_syscall(SYS_getcwd, (long)cwd, sizeof(cwd), 0, 0, 0, 0) < 0)
		return false;
	return put_path(rt_dir, sizeof(rt_dir) - 16, cwd, dir);
}

/* Create and map `run`; 0, or a negative errno. */
static long create_run(void)
{
	char path[PATH_MAX];
	long fd, p;

	if (!put_path(path, sizeof(path), rt_dir, "run"))
		return -ENAMETOOLONG;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644, 0, 0);
	if (fd < 0)
		return fd;
	p = -ENOSPC;
	if (rt_buffer_reserve((int)fd, 0, (sizeof(struct plait_run) + 4095) & ~4095ull))
		p = rt_syscall(SYS_mmap, 0, sizeof(struct plait_run), PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (p < 0 && p > -4096)
		return p;
	rt_run = (struct plait_run *)p;
	return 0;
}

/* A descendant's own folder, inside the one that is taken. */
static long create_followed(void)
{
	char name[24], dir[PATH_MAX];
	long pid = rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), n = 0;
	char digits[12];

	memcpy(name, "fork-", 5);
	do
		digits[n++] = (char)('0' + pid % 10);
	while (pid /= 10);
	for (long i = 0; i < n; i++)
		name[5 + i] = digits[n - 1 - i];
	name[5 + n] = 0;
	if (!put_path(dir, sizeof(dir) - 16, rt_dir, name))
		return -ENAMETOOLONG;
	memcpy(rt_dir, dir, strlen(dir) + 1);
	n = rt_syscall(SYS_mkdir, (long)rt_dir, 0755, 0, 0, 0, 0);
	return n < 0 ? n : create_run();
}

static void fill_run(void)
{
	struct timespec now = { 0 };

	rt_run->size = sizeof(*rt_run);
	rt_run->version = PLAIT_FORMAT_VERSION;
	rt_run->mode = rt_mode;
	rt_run->clock = rt_stepping ? PLAIT_CLOCK_STEPS : PLAIT_CLOCK_TSC;
	rt_run->pid = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	rt_syscall(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0);
	if (rt_option("sync-only"))
		rt_run->flags |= PLAIT_RUN_SYNC_ONLY;
	if (rt_keeps_last)
		rt_run->flags |= PLAIT_RUN_LAST;
	rt_run->start_ns = now.tv_sec * 1000000000ll + now.tv_nsec;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(rt_run->magic, PLAIT_RUN_MAGIC, 8);
}

bool rt_folder_open(const char *dir)
{
	long r;

	if (!set_dir(dir))
		return false;
	r = create_run();
	if (r == -EEXIST && rt_option("follow"))
		r = create_followed();
	if (r < 0) {
		rt_folder_forget();
		return false;
	}
	rt_tsc0 = __builtin_ia32_rdtsc();
	fill_run();
	return true;
}

struct plait_run *rt_run_hide(void)
{
	struct plait_run *run = rt_run;

	rt_run = &dummy_run;
	return run;
}

void rt_folder_forget(void)
{
	rt_run = &dummy_run;
	rt_dir[0] = 0;
}

/* The counter's rate, from how far both clocks came during the run. */
void rt_folder_finish(void)
{
	struct timespec now = { 0 };
	int64_t ns;

	rt_syscall(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0);
	ns = now.tv_sec * 1000000000ll + now.tv_nsec - rt_run->start_ns;
	if (!rt_stepping && ns > 0)
		rt_run->clock_hz = (uint64_t)((double)rt_tsc() * 1e9 / (double)ns);
	rt_run->ended = 1;
}
