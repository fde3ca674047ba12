/* rt/interpose/paths.c - files that are opened by name.
 *
 * Most names pass through. A device of random numbers is a file of ours (random.c), and a folder of
 * /proc that is named by our number is this process's own. */
#include "rt/interpose/world.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

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

/* What is really opened. */
static const char *resolve(const char *path, char *out, size_t room)
{
	const char *device;

	if (!world_is_virtual() || !path || path[0] != '/')
		return path;
	device = random_device_path(path);
	return device ? device : own_proc(path, out, room);
}

/* ---- the functions ---- */

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0;
}

/* clang-format off: tables. */
#define OPENS(name)                                                                                \
	int hook_##name(const char *path, int flags, ...)                                          \
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
		return real.name(resolve(path, own, sizeof(own)), flags, mode);                    \
	}
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                                             \
	int hook_##name(int folder, const char *path, int flags, ...)                              \
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
		return real.name(folder, resolve(path, own, sizeof(own)), flags, mode);            \
	}
OPENS_AT(openat)
OPENS_AT(openat64)

#define NAMED(ret, name, params, args)                                                             \
	ret hook_##name params                                                                     \
	{                                                                                          \
		char own[PATH_MAX];                                                                \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		return real.name args;                                                             \
	}
#define RESOLVED resolve(path, own, sizeof(own))
NAMED(int, __open_2, (const char *path, int flags), (RESOLVED, flags))
NAMED(int, __open64_2, (const char *path, int flags), (RESOLVED, flags))
NAMED(FILE *, fopen, (const char *path, const char *mode), (RESOLVED, mode))
NAMED(FILE *, fopen64, (const char *path, const char *mode), (RESOLVED, mode))
NAMED(FILE *, freopen, (const char *path, const char *mode, FILE *f), (RESOLVED, mode, f))
NAMED(FILE *, freopen64, (const char *path, const char *mode, FILE *f), (RESOLVED, mode, f))
/* clang-format on */
