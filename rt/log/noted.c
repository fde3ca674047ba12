/* rt/log/noted.c - mode sync: calls that bring something in, or send something out, as they are recorded.
 *
 * libc's function does the work; what it returned and filled becomes an answer in the thread's file. The
 * answer is complete before the operation counts, so a kill in between costs this call and no more. */
#include "rt/log/order.h"
#include "rt/log/passing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

/* clang-format off: a table */
#define BEFORE_IN
#define BEFORE_OUT log_operation(LOG_WORLD, PLAIT_EV_INPUT);
#define BEFORE_SOFT
#define AFTER_IN log_operation(LOG_WORLD, PLAIT_EV_INPUT);
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
		pass_end(x);                                                                       \
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

/* clang-format off: a table */
#define OPENS(name, params, path, made, number)                                                    \
	static int noted_##name params                                                             \
	{                                                                                          \
		mode_t mode;                                                                       \
                                                                                                   \
		plait_call_site = 0;                                                               \
		TAKE_MODE(mode);                                                                   \
		if (!recorded())                                                                   \
			return real.made;                                                          \
		log_operation(LOG_WORLD, PLAIT_EV_INPUT);                                          \
		return opened(number, path, flags, real.made);                                     \
	}
#define CHECKED(name, as)                                                                          \
	static int noted_##name(const char *path, int flags)                                       \
	{                                                                                          \
		return noted_##as(path, flags);                                                    \
	}
#include "rt/log/opens.def"
#undef OPENS
#undef CHECKED
/* clang-format on */

/* ---- folders: the names in them, one by one ---- */

static DIR *noted_opendir(const char *path)
{
	struct passing x = { .call = PLAIT_CALL_opendir };
	DIR *d;
	int e;

	if (!recorded())
		return real.opendir(path);
	log_operation(LOG_WORLD, PLAIT_EV_INPUT);
	d = real.opendir(path);
	e = errno;
	x.result = d ? dirfd(d) : -e;
	pass_result(&x);
	errno = e;
	return d;
}

static struct dirent64 *noted_readdir64(DIR *d)
{
	struct passing x = { .call = PLAIT_CALL_readdir };
	struct dirent64 *entry;
	int e = errno;

	if (!recorded())
		return real.readdir64(d);
	errno = 0;
	entry = real.readdir64(d);
	x.result = entry ? 1 : -errno;
	if (!entry && errno)
		e = errno;
	if (entry)
		fill(&x, entry, offsetof(struct dirent64, d_name) + strlen(entry->d_name) + 1);
	pass_end(&x);
	log_operation(LOG_WORLD, PLAIT_EV_INPUT);
	errno = e;
	return entry;
}

/* The two are one on this machine. */
static struct dirent *noted_readdir(DIR *d)
{
	return (struct dirent *)noted_readdir64(d);
}

static int noted_closedir(DIR *d)
{
	struct passing x = { .call = PLAIT_CALL_closedir };
	int r, e;

	if (!recorded())
		return real.closedir(d);
	log_operation(LOG_WORLD, PLAIT_EV_INPUT);
	forget_fd(dirfd(d));
	r = real.closedir(d);
	e = errno;
	x.result = r ? -e : 0;
	pass_result(&x);
	errno = e;
	return r;
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
#define OPENS(name, params, path, made, number) interpose_##name = noted_##name;
#define CHECKED(name, as)			interpose_##name = noted_##name;
#include "rt/log/opens.def"
#undef OPENS
#undef CHECKED
	interpose_opendir = noted_opendir;
	interpose_readdir = noted_readdir;
	interpose_readdir64 = noted_readdir64;
	interpose_closedir = noted_closedir;
	interpose_fopen = noted_fopen;
	interpose_fopen64 = noted_fopen64;
	interpose_freopen = noted_freopen;
}
