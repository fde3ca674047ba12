/* rt/log/noted.c - mode sync: calls that bring something in, or send something out, as they are recorded.
 *
 * libc's function does the work; what it returned and filled becomes an answer in the thread's file. The
 * answer is complete before the operation counts, so a kill in between costs this call and no more. */
#include "rt/log/passing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

static bool recorded(void)
{
	const struct rt_thread *t = rt_self_;

	return log_begun && t && !t->depth && !t->detached_from_trace;
}

/* An answer without bytes is one, too. */
static void finish(struct passing *x)
{
	if (!x->begun)
		pass_result(x);
}

/* clang-format off: a table */
#define BEFORE_IN
#define BEFORE_OUT log_operation(LOG_WORLD);
#define BEFORE_SOFT
#define AFTER_IN log_operation(LOG_WORLD);
#define AFTER_OUT
#define AFTER_SOFT
#define CALL(how, type, name, params, args, when, space, what)                                     \
	static type noted_##name params                                                            \
	{                                                                                          \
		size_t room __attribute__((unused)) = space;                                       \
		struct passing passing = { .call = PLAIT_CALL_##name }, *x = &passing;             \
		type r;                                                                            \
		int e;                                                                             \
                                                                                                   \
		plait_call_site = 0;                                                               \
		if (!recorded() || !(when))                                                        \
			return real.name args;                                                     \
		BEFORE_##how r = real.name args;                                                   \
		e = errno;                                                                         \
		x->result = (int64_t)r == -1 ? -(int64_t)e : (int64_t)r;                           \
		what;                                                                              \
		finish(x);                                                                         \
		AFTER_##how errno = e;                                                             \
		return r;                                                                          \
	}
#include "rt/log/calls.def"
#undef CALL
/* clang-format on */

/* ---- files by name ---- */

/* The tool puts the file into the plait when the run is over. */
static void note_name(char how, const char *path)
{
	char text[2 * PATH_MAX];
	size_t n = strlen(path), used = 0;

	if (n >= PATH_MAX || !n)
		return;
	memcpy(text, path, n + 1);
	if (path[0] != '/') {
		if (rt_syscall(SYS_getcwd, (long)(text + n + 1), PATH_MAX - 2, 0, 0, 0, 0) < 0)
			return;
		used = strlen(text + n + 1);
		text[n + 1 + used++] = '/';
	}
	memcpy(text + n + 1 + used, path, n);
	pass_name(how, text, n + 1 + used + n);
}

static char how_open(int flags)
{
	return flags & (O_CREAT | O_TRUNC) || (flags & O_ACCMODE) == O_WRONLY ? 'w' : 'r';
}

static int opened(uint32_t call, const char *path, int flags, int r)
{
	struct passing passing = { .call = call, .result = r < 0 ? -errno : r };
	int e = errno;
	uint8_t outside;

	note_name(how_open(flags), path);
	forget_fd(r);
	outside = is_outside(r);
	fill(&passing, &outside, sizeof(outside));
	errno = e;
	return r;
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0;
}

/* clang-format off: tables */
#define OPENS(name, params, last, made, call, path)                                                \
	static int noted_##name params                                                             \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		plait_call_site = 0;                                                               \
		va_start(ap, last);                                                                \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		if (!recorded())                                                                   \
			return real.made;                                                          \
		log_operation(LOG_WORLD);                                                          \
		return opened(call, path, flags, real.made);                                       \
	}
OPENS(open, (const char *path, int flags, ...), flags, open(path, flags, mode), PLAIT_CALL_open,
      path)
OPENS(open64, (const char *path, int flags, ...), flags, open64(path, flags, mode), PLAIT_CALL_open,
      path)
OPENS(openat, (int folder, const char *path, int flags, ...), flags,
      openat(folder, path, flags, mode), PLAIT_CALL_openat, path)
OPENS(openat64, (int folder, const char *path, int flags, ...), flags,
      openat64(folder, path, flags, mode), PLAIT_CALL_openat, path)
/* clang-format on */

static int noted___open_2(const char *path, int flags)
{
	return noted_open(path, flags);
}

static int noted___open64_2(const char *path, int flags)
{
	return noted_open64(path, flags);
}

static FILE *noted_fopen(const char *path, const char *mode)
{
	if (recorded())
		note_name(mode[0] == 'r' ? 'r' : 'w', path);
	return real.fopen(path, mode);
}

static FILE *noted_fopen64(const char *path, const char *mode)
{
	if (recorded())
		note_name(mode[0] == 'r' ? 'r' : 'w', path);
	return real.fopen64(path, mode);
}

static FILE *noted_freopen(const char *path, const char *mode, FILE *f)
{
	if (recorded() && path)
		note_name(mode[0] == 'r' ? 'r' : 'w', path);
	return real.freopen(path, mode, f);
}

/* ---- taking over ---- */

/* Which of the descriptors that were there from the start are files. */
void noted_begin(void)
{
	struct passing passing = { .call = PLAIT_CALL_begin };
	uint8_t outside[3];

	for (int fd = 0; fd < 3; fd++)
		outside[fd] = is_outside(fd);
	fill(&passing, outside, sizeof(outside));
}

void noted_init(void)
{
#define CALL(how, type, name, params, args, when, space, what)                                     \
	if (real.name)                                                                             \
		interpose_##name = noted_##name;
#include "rt/log/calls.def"
#undef CALL
	interpose_open = noted_open;
	interpose_open64 = noted_open64;
	interpose_openat = noted_openat;
	interpose_openat64 = noted_openat64;
	interpose___open_2 = noted___open_2;
	interpose___open64_2 = noted___open64_2;
	interpose_fopen = noted_fopen;
	interpose_fopen64 = noted_fopen64;
	interpose_freopen = noted_freopen;
}
