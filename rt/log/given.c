/* rt/log/given.c - a replay of mode sync: calls get their answers from the log, and are not made.
 *
 * Each thread takes its own answers one after the other. When the recorded order is obeyed
 * (rt/control/handovers.c), they fit. A run with another schedule may ask for something else: time and
 * chance are then those of any controlled run, everything else ends the run, since nobody knows what the
 * world would have said.
 *
 * Descriptors keep their numbers: where one was made, something stands in its place. Files are real ones:
 * those of the plait. What goes out is compared with what went out then, and not sent. */
#include "rt/log/passing.h"

#include "rt/control/control.h"
#include "rt/interpose/controlled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* The log ends in the middle of this call: the thread stays in it. */
static const struct control_wait end_wait = { "where the recording ends", never_ready, NULL,
					      CONTROL_LOG_ENDS };

static void take(struct control_thread *me, uint32_t site, struct passing *x)
{
	uint32_t kind = plait_call_how(x->call) == PLAIT_CALL_IN ? PLAIT_EV_INPUT : PLAIT_EV_OUTPUT;

	control_point(me, &(struct control_op){ .kind = kind,
						.site = site,
						.object = LOG_WORLD,
						.writes = true,
						.logged = true });
	if (!answers_next(me->log_name))
		control_point(
			me, &(struct control_op){ .kind = kind, .site = site, .wait = &end_wait });
	answers_take(me->log_name, x);
	control_changed();
}

/* The calling thread, if the log has answers for it. */
static struct control_thread *given_self(void)
{
	struct control_thread *me = control_self();

	return me && me->log_name < control_log->nthreads ? me : NULL;
}

/* clang-format off: a table */
#define CALL(how, type, name, params, args, when, space, what)                                     \
	static type given_##name params                                                            \
	{                                                                                          \
		size_t room __attribute__((unused)) = space;                                       \
		struct passing passing = { .call = PLAIT_CALL_##name, .giving = true };            \
		struct passing *x = &passing;                                                      \
		uint32_t site = rt_take_site();                                                    \
		struct control_thread *me = given_self();                                          \
		type r;                                                                            \
                                                                                                   \
		if (!me || !(when) ||                                                              \
		    (plait_call_how(x->call) == PLAIT_CALL_SOFT &&                                 \
		     !answers_take_soft(me->log_name, x))) {                                       \
			plait_call_site = site;                                                    \
			return hook_##name args;                                                   \
		}                                                                                  \
		if (plait_call_how(x->call) != PLAIT_CALL_SOFT)                                    \
			take(me, site, x);                                                         \
		r = (type)(x->result < 0 && !has_codes(x->call) ? -1 : x->result);                 \
		what;                                                                              \
		if (x->result < 0)                                                                 \
			errno = (int)-x->result;                                                   \
		return r;                                                                          \
	}
#include "rt/log/calls.def"
#undef CALL
/* clang-format on */

/* ---- files by name ---- */

/* It had this number. */
static int move_to(int fd, int wanted)
{
	struct passing x = { .giving = true };

	if (fd == wanted)
		return fd;
	if (fd < 0) {
		made(&x, wanted);
		return wanted;
	}
	rt_syscall(SYS_dup3, fd, wanted, 0, 0, 0, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return wanted;
}

/* A device may have been a file then, or now. */
static int opened(struct passing *x, int fd)
{
	uint8_t outside = 0;

	fd = move_to(fd, (int)x->result);
	fill(x, &outside, sizeof(outside));
	set_outside(fd, outside);
	return fd;
}

/* clang-format off: a table */
#define OPENS(name, params, path, made_by, number)                                                 \
	static int given_##name params                                                             \
	{                                                                                          \
		struct passing x = { .call = number, .giving = true };                             \
		uint32_t site = rt_take_site();                                                    \
		struct control_thread *me = given_self();                                          \
		mode_t mode;                                                                       \
                                                                                                   \
		TAKE_MODE(mode);                                                                   \
		if (!me)                                                                           \
			return hook_##made_by;                                                     \
		take(me, site, &x);                                                                \
		if (x.result < 0) {                                                                \
			errno = (int)-x.result;                                                    \
			return -1;                                                                 \
		}                                                                                  \
		return opened(&x, hook_##made_by);                                                 \
	}
#define CHECKED(name, as)                                                                          \
	static int given_##name(const char *path, int flags)                                       \
	{                                                                                          \
		return given_##as(path, flags);                                                    \
	}
#include "rt/log/opens.def"
#undef OPENS
#undef CHECKED
/* clang-format on */

/* ---- folders: a real stream of some folder stands for each, under the recorded number ---- */

static DIR *given_opendir(const char *path)
{
	struct passing x = { .call = PLAIT_CALL_opendir, .giving = true };
	uint32_t site = rt_take_site();
	struct control_thread *me = given_self();

	if (!me)
		return hook_opendir(path);
	take(me, site, &x);
	if (x.result < 0) {
		errno = (int)-x.result;
		return NULL;
	}
	return fdopendir(move_to((int)rt_syscall(SYS_openat, AT_FDCWD, (long)"/",
						 O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0),
				 (int)x.result));
}

static struct dirent64 *given_readdir64(DIR *d)
{
	static __thread struct dirent64 entry;
	struct passing x = { .call = PLAIT_CALL_readdir, .giving = true };
	uint32_t site = rt_take_site();
	struct control_thread *me = given_self();

	if (!me)
		return hook_readdir64(d);
	take(me, site, &x);
	if (x.result < 0)
		errno = (int)-x.result;
	if (x.result <= 0)
		return NULL;
	fill(&x, &entry, sizeof(entry));
	return &entry;
}

static struct dirent *given_readdir(DIR *d)
{
	return (struct dirent *)given_readdir64(d);
}

static int given_closedir(DIR *d)
{
	struct passing x = { .call = PLAIT_CALL_closedir, .giving = true };
	uint32_t site = rt_take_site();
	struct control_thread *me = given_self();

	if (!me)
		return hook_closedir(d);
	take(me, site, &x);
	forget_fd(dirfd(d));
	real.closedir(d);
	if (x.result < 0)
		errno = (int)-x.result;
	return x.result < 0 ? -1 : 0;
}

/* ---- the beginning ---- */

/* The descriptors that were there from the start, as they were. */
static void given_begin(void)
{
	const struct plait_log_answer *a;
	struct passing x = { .call = PLAIT_CALL_begin, .giving = true };
	uint8_t outside[3] = { 0 };

	answers_begin();
	a = answers_next(0);
	if (!a || a->call != PLAIT_CALL_begin || a->nbytes < sizeof(outside))
		return;
	answers_take(0, &x);
	fill(&x, outside, sizeof(outside));
	for (int fd = 0; fd < 3; fd++)
		set_outside(fd, outside[fd]);
}

void log_give_init(void)
{
	answers_init(control_log);
#define CALL(how, type, name, params, args, when, space, what)                                     \
	if (real.name)                                                                             \
		interpose_##name = given_##name;
#include "rt/log/calls.def"
#undef CALL
#define OPENS(name, params, path, made, number) interpose_##name = given_##name;
#define CHECKED(name, as)			interpose_##name = given_##name;
#include "rt/log/opens.def"
#undef OPENS
#undef CHECKED
	interpose_opendir = given_opendir;
	interpose_readdir = given_readdir;
	interpose_readdir64 = given_readdir64;
	interpose_closedir = given_closedir;
	rt_on_main = given_begin;
}
