/* rt/interpose/paths.c - files that are opened, or asked about, by name.
 *
 * Three names mean something else under control. A device of random numbers is a file of ours
 * (random.c). A folder of /proc that is named by our number is this process's own. And a file that a
 * plait carries is read from there: the tool has put it somewhere and says where (control/inputs.c).
 * Every other name is noted, so that the tool can put the file into a plait. */
#include "rt/interpose/world.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* "/proc/5000000/maps" is /proc/self/maps. */
static const char *own_proc(const char *path, char *out, size_t room)
{
	char prefix[32];
	int n = snprintf(prefix, sizeof(prefix), "/proc/%d", (int)ids_pid());

	if (strncmp(path, prefix, (size_t)n) != 0 || (path[n] && path[n] != '/'))
		return path;
	snprintf(out, room, "/proc/self%s", path + n);
	return out;
}

/* Files of /proc that say something else each time: the system's counters, this process's, and
 * numbers that it draws. The others (cpuinfo, self/cmdline, sys/vm/...) stay as they are, or are asked
 * for what does: frameworks look into self/status for a debugger. */
static void note_numbers(const char *path)
{
	static const char *const names[] = { "diskstats",    "interrupts", "io",	"loadavg",
					     "meminfo",	     "sched",	   "schedstat", "smaps",
					     "smaps_rollup", "stat",	   "statm",	"uptime",
					     "uuid",	     "vmstat" };
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, "/proc/", 6) == 0 && strcmp(name, names[i]) == 0)
			control_note(PLAIT_UNCONTROLLED_PROC);
}

static bool is_system(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0 ||
	       strncmp(path, "/sys/", 5) == 0;
}

/* The same name, from the root; NULL: it is too long. */
static const char *absolute(const char *path, char *room, size_t n)
{
	size_t used;

	if (path[0] == '/')
		return path;
	if (rt_syscall(SYS_getcwd, (long)room, (long)n, 0, 0, 0, 0) < 0)
		return NULL;
	used = strlen(room);
	if (used + strlen(path) + 2 > n)
		return NULL;
	snprintf(room + used, n - used, "/%s", path);
	return room;
}

static void note(char how, const char *path, char *room, size_t n)
{
	const char *full = absolute(path, room, n);

	if (full)
		control_input_note(how, path, full);
}

/* The replay of a recording in mode sync changes no file of the program: what it makes lies in a folder
 * of ours, and is found there again. */
const char *paths_own(const char *path, char *out, size_t room)
{
	const char *folder = control_own_folder(), *full = absolute(path, out, room);
	uint64_t h = 14695981039346656037ull;

	if (!folder || !full || is_system(full))
		return path;
	while (*full)
		h = (h ^ (uint8_t)*full++) * 1099511628211ull;
	snprintf(out, room, "%s/own-%016llx", folder, (unsigned long long)h);
	return out;
}

static bool exists(const char *path)
{
	return rt_syscall(SYS_access, (long)path, 0, 0, 0, 0, 0) == 0;
}

/* What is really opened. */
static const char *resolve(char how, const char *path, char *out, size_t room)
{
	const char *other;

	if (!world_is_virtual() || !path || !path[0])
		return path;
	other = random_device_path(path);
	if (other)
		return other;
	if (is_system(path)) {
		note_numbers(path);
		return own_proc(path, out, room);
	}
	other = control_log ? paths_own(path, out, room) : NULL;
	if (other && (how == 'w' || exists(other)))
		return other;
	other = how == 'r' ? control_input_find(path) : NULL;
	if (!other)
		note(how, path, out, room);
	return other ? other : path;
}

/* Relative to a folder that is open, a name says nothing. */
static const char *resolve_at(int folder, char how, const char *path, char *out, size_t room)
{
	return folder == AT_FDCWD || (path && path[0] == '/') ? resolve(how, path, out, room)
							      : path;
}

/* A file that is made or emptied is no input. */
static char how_open(int flags)
{
	return flags & (O_CREAT | O_TRUNC) || (flags & O_ACCMODE) == O_WRONLY ? 'w' : 'r';
}

static char how_stream(const char *mode)
{
	return mode[0] == 'r' ? 'r' : 'w';
}

/* ---- the functions ---- */

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0;
}

/* clang-format off: tables. */
/* params: what comes before the path, with a comma behind it; args: the same and the path, resolved. */
#define OPENS(name, params, args)                                                                  \
	int hook_##name(params const char *path, int flags, ...)                                   \
	{                                                                                          \
		char own[PATH_MAX];                                                                \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		return real.name(args, flags, mode);                                               \
	}
#define NOTHING
#define FOLDER	  int folder,
#define OPENED	  resolve(how_open(flags), path, own, sizeof(own))
#define OPENED_AT folder, resolve_at(folder, how_open(flags), path, own, sizeof(own))
OPENS(open, NOTHING, OPENED)
OPENS(open64, NOTHING, OPENED)
OPENS(openat, FOLDER, OPENED_AT)
OPENS(openat64, FOLDER, OPENED_AT)

#define NAMED(ret, name, params, args)                                                             \
	ret hook_##name params                                                                     \
	{                                                                                          \
		char own[PATH_MAX];                                                                \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		return real.name args;                                                             \
	}
#define RESOLVED(how) resolve(how, path, own, sizeof(own))
#define RESOLVED_AT   resolve_at(folder, 'r', path, own, sizeof(own))
NAMED(int, __open_2, (const char *path, int flags), (RESOLVED(how_open(flags)), flags))
NAMED(int, __open64_2, (const char *path, int flags), (RESOLVED(how_open(flags)), flags))
NAMED(FILE *, fopen, (const char *path, const char *mode), (RESOLVED(how_stream(mode)), mode))
NAMED(FILE *, fopen64, (const char *path, const char *mode), (RESOLVED(how_stream(mode)), mode))
NAMED(FILE *, freopen, (const char *path, const char *mode, FILE *f),
      (RESOLVED(how_stream(mode)), mode, f))
NAMED(FILE *, freopen64, (const char *path, const char *mode, FILE *f),
      (RESOLVED(how_stream(mode)), mode, f))
NAMED(int, stat, (const char *path, struct stat *ret), (RESOLVED('r'), ret))
NAMED(int, stat64, (const char *path, struct stat64 *ret), (RESOLVED('r'), ret))
NAMED(int, lstat, (const char *path, struct stat *ret), (RESOLVED('r'), ret))
NAMED(int, lstat64, (const char *path, struct stat64 *ret), (RESOLVED('r'), ret))
NAMED(int, fstatat, (int folder, const char *path, struct stat *ret, int flags),
      (folder, RESOLVED_AT, ret, flags))
NAMED(int, fstatat64, (int folder, const char *path, struct stat64 *ret, int flags),
      (folder, RESOLVED_AT, ret, flags))
NAMED(int, statx, (int folder, const char *path, int flags, unsigned mask, struct statx *ret),
      (folder, RESOLVED_AT, flags, mask, ret))
NAMED(int, access, (const char *path, int mode), (RESOLVED('r'), mode))
NAMED(int, faccessat, (int folder, const char *path, int mode, int flags),
      (folder, RESOLVED_AT, mode, flags))

/* Those that change what is there: the name that they change is no input any more. */
#define CHANGES(name, params, args)                                                                \
	int hook_##name params                                                                     \
	{                                                                                          \
		char own[PATH_MAX];                                                                \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		resolve('w', path, own, sizeof(own));                                              \
		return real.name args;                                                             \
	}
CHANGES(rename, (const char *from, const char *path), (from, path))
CHANGES(renameat, (int from_folder, const char *from, int folder, const char *path),
	(from_folder, from, folder, path))
CHANGES(unlink, (const char *path), (path))
CHANGES(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
CHANGES(remove, (const char *path), (path))
CHANGES(link, (const char *from, const char *path), (from, path))
CHANGES(symlink, (const char *from, const char *path), (from, path))
CHANGES(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES(mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
/* clang-format on */
