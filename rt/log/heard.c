/* rt/log/heard.c - what a run under control hears from others (doc/design/record.md).
 *
 * A hunt lets its runs talk to the world: sockets are real, and the schedule alone is ours. The run whose
 * events are recorded writes down what each such call brought (talks.def), beside everything else. The tool
 * makes a log of it, with answers and nothing else, if somebody outside of the process took part. A replay
 * gets the answers in place of the calls. Its points, steps and decisions stay those of rt/interpose/io.c,
 * which calls us where it would call libc; so the schedule fits, and other schedules can be tried.
 *
 * Pipes, socket pairs and the like of the process itself stay real, and so do its clocks, which are virtual,
 * and its files, which the plait carries. */
#include "rt/log/passing.h"

#include "rt/control/control.h"
#include "rt/interpose/controlled.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/syscall.h>

enum { FDS = 1024 };

bool polls_foreign(const struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if (is_foreign(fds[i].fd))
			return true;
	return false;
}

static bool is_in(int fd, const fd_set *set)
{
	return set && FD_ISSET(fd, set);
}

bool selects_foreign(int n, const fd_set *in, const fd_set *out, const fd_set *err)
{
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
		if ((is_in(fd, in) || is_in(fd, out) || is_in(fd, err)) && is_foreign(fd))
			return true;
	return false;
}

/* ---- is there somebody outside? ---- */

/* Both lie at the same place in an IPv4 and an IPv6 address. 0: it has no port. */
static uint16_t port_of(const void *address)
{
	const struct sockaddr_in *a = address;

	return a->sin_family == AF_INET || a->sin_family == AF_INET6 ? a->sin_port : 0;
}

/* Does a socket of this process have the port? */
static bool is_own_port(uint16_t port, int but)
{
	for (int fd = 0; fd < FDS; fd++) {
		struct sockaddr_storage a = { 0 };
		socklen_t n = sizeof(a);

		if (fd != but &&
		    rt_syscall(SYS_getsockname, fd, (long)&a, (long)&n, 0, 0, 0) == 0 &&
		    port_of(&a) == port)
			return true;
	}
	return false;
}

/* A connected socket: does the other end belong to this process? */
static bool is_own_peer(int fd)
{
	struct ucred peer = { 0 };
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(peer), m = sizeof(a);

	if (rt_syscall(SYS_getpeername, fd, (long)&a, (long)&m, 0, 0, 0) != 0)
		return false;
	if (port_of(&a))
		return is_own_port(port_of(&a), fd);
	return rt_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&n, 0) ==
		       0 &&
	       peer.pid == (pid_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Who has answered, if this call says so. That nobody was there is an answer from outside, too. */
static bool is_contact(const struct passing *x, int fd)
{
	switch (x->call) {
	case PLAIT_CALL_accept:
	case PLAIT_CALL_accept4:
		return x->result >= 0 && !is_own_peer((int)x->result);
	case PLAIT_CALL_connect:
		return !is_own_peer(fd);
	case PLAIT_CALL_recvfrom:
		return x->result >= 0 &&
		       (x->address ? !is_own_port(port_of(x->address), -1) : !is_own_peer(fd));
	default:
		return false;
	}
}

/* ---- writing down ---- */

static bool hears(void)
{
	return rt_recording && control_self();
}

/* fd: what the call is about, for those that is_contact() asks about. */
static void end_hearing(struct passing *x, int fd)
{
	pass_end(x);
	if (is_contact(x, fd))
		control_input_note(PLAIT_INPUT_OUTSIDE, "socket", "");
}

/* ---- giving back ---- */

/* Of the running thread. */
static void tell(struct passing *x)
{
	struct control_thread *me = control_self();

	if (me->log_name >= control_heard->nthreads)
		control_diverged(
			"a thread talks to the outside that the recorded run did not have");
	x->thread = me->log_name;
	answers_take(me->log_name, x);
}

/* A wait is over when the log has something for the thread; not if it timed out then. */
static bool is_answered(const struct control_thread *t)
{
	const struct plait_log_answer *a =
		t->log_name < control_heard->nthreads ? answers_next(t->log_name) : NULL;

	return a && (a->result != 0 || !t->op.deadline || t->op.deadline == CONTROL_NEVER);
}

/* clang-format off: a table */
#define TALK(abroad, how, type, name, params, args, when, space, what)                             \
	static type heard_##name params                                                            \
	{                                                                                          \
		size_t room __attribute__((unused)) = space;                                       \
		struct passing passing = { .call = PLAIT_CALL_##name }, *x = &passing;             \
		type r;                                                                            \
		int e;                                                                             \
                                                                                                   \
		if (!hears() || !(abroad))                                                         \
			return real.name args;                                                     \
		r = real.name args;                                                                \
		e = errno;                                                                         \
		x->result = (int64_t)r == -1 ? -(int64_t)e : (int64_t)r;                           \
		what;                                                                              \
		end_hearing(x, FIRST args);                                                        \
		errno = e;                                                                         \
		return r;                                                                          \
	}                                                                                          \
	static type told_##name params                                                             \
	{                                                                                          \
		size_t room __attribute__((unused)) = space;                                       \
		struct passing passing = { .call = PLAIT_CALL_##name,                              \
					   .giving = true,                                         \
					   .roams = true };                                        \
		struct passing *x = &passing;                                                      \
		type r;                                                                            \
                                                                                                   \
		if (!control_self() || !(abroad))                                                  \
			return real.name args;                                                     \
		tell(x);                                                                           \
		r = (type)(x->result < 0 && !has_codes(x->call) ? -1 : x->result);                 \
		what;                                                                              \
		if (x->result < 0)                                                                 \
			errno = (int)-x->result;                                                   \
		return r;                                                                          \
	}
#define FIRST(fd, ...) (int)(intptr_t)(fd)
#include "rt/log/talks.def"
#undef FIRST
#undef TALK
/* clang-format on */

/* What an event of epoll carries is what this run has told it. */
static int heard_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	int r = real.epoll_ctl(epoll, op, fd, event);

	if (r == 0 && op != EPOLL_CTL_DEL)
		watched(fd, event);
	return r;
}

/* What stdio reads by itself is not heard. */
static FILE *heard_fdopen(int fd, const char *mode)
{
	if (hears() && is_foreign(fd))
		control_input_note(PLAIT_INPUT_UNHEARD, "fdopen", "");
	return real.fdopen(fd, mode);
}

void log_hear_init(void)
{
	bool tells = control_heard != NULL;

#define TALK(abroad, how, type, name, params, args, when, space, what)                             \
	if (real.name)                                                                             \
		outside.name = tells ? told_##name : heard_##name;
#include "rt/log/talks.def"
#undef TALK
	outside.epoll_ctl = heard_epoll_ctl;
	outside.fdopen = heard_fdopen;
	if (!tells)
		return;
	answers_init(control_heard);
	io_is_answered = is_answered;
	rt_on_main = answers_begin;
}
