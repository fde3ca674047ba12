/* rt/interpose/io.c - blocking I/O without losing control.
 *
 * Under control an operation on a descriptor is a scheduling point. It is ready when poll(2) says so
 * (regular files always are, and descriptors that do not block); then libc's function is called, and
 * does not block. We wait for the outside world only if nobody else can run. Pipes and socket pairs
 * that the target has made are known. If threads wait for these alone, nothing outside can help, and
 * this is a deadlock. */
#include "rt/interpose/blocked.h"
#include "rt/interpose/world.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"
#include "unplait/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { MAX_FDS = 1024, POLL_SET = 64 };
enum { OUTSIDE, INTERNAL /* both ends are in this process */, EPOLL };
static uint8_t known[MAX_FDS];

static void note(int fd, uint8_t what)
{
	if (fd >= 0 && fd < MAX_FDS && control_self())
		known[fd] = what;
}

/* Which ends belong together. */
static uint16_t pair_of[MAX_FDS];

static void note_internal(int one, int two)
{
	static uint16_t npairs;

	note(one, INTERNAL);
	note(two, INTERNAL);
	npairs = npairs % 0x4000 + 1;
	if (one >= 0 && one < MAX_FDS && two >= 0 && two < MAX_FDS)
		pair_of[one] = pair_of[two] = npairs;
}

/* Whoever reads knows what was done before the write. A made-up address stands for a pair; everything
 * outside is one, because nobody can tell what comes back. */
static void *message_of(int fd)
{
	bool inside = fd >= 0 && fd < MAX_FDS && known[fd] == INTERNAL;

	return (void *)(uintptr_t)(1 + (inside ? pair_of[fd] : 0));
}

static bool is_outside(int fd);

/* Does this epoll watch something outside? The kernel says what it watches. */
static bool epoll_outside(int fd)
{
	char path[64], text[4096], *at;
	bool outside = false;
	long f, n;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (f < 0)
		return true;
	n = rt_syscall(SYS_read, f, (long)text, sizeof(text) - 1, 0, 0, 0);
	rt_syscall(SYS_close, f, 0, 0, 0, 0, 0);
	if (n <= 0 || n == sizeof(text) - 1)
		return true;
	text[n] = 0;
	for (at = strstr(text, "tfd:"); at && !outside; at = strstr(at, "tfd:")) {
		int watched = 0;

		for (at += 4; *at == ' '; at++)
			;
		for (; *at >= '0' && *at <= '9'; at++)
			watched = watched * 10 + *at - '0';
		outside = watched == fd || is_outside(watched);
	}
	return outside;
}

static bool is_outside(int fd)
{
	if (fd < 0 || fd >= MAX_FDS)
		return true;
	return known[fd] == EPOLL ? epoll_outside(fd) : known[fd] == OUTSIDE;
}

/* Epolls that watch something foreign. */
static bool watches_foreign[MAX_FDS];

bool io_is_foreign(int fd)
{
	struct stat st;

	if (fd >= 0 && fd < MAX_FDS && known[fd] != OUTSIDE)
		return known[fd] == EPOLL && watches_foreign[fd];
	return rt_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 && S_ISSOCK(st.st_mode);
}

/* ---- waiting ---- */

bool (*io_is_answered)(const struct control_thread *t);

/* In a replay that has the answers: the log says what comes from this descriptor. */
static bool is_logged(int fd)
{
	return unlikely(io_is_answered != NULL) && io_is_foreign(fd);
}

static bool fd_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return rt_syscall(SYS_poll, (long)&p, 1, 0, 0, 0, 0) != 0;
}

/* Asking the kernel about everybody at every point is most of what a server costs under control.
 * What was not ready stays so until somebody does something to a descriptor; as not all of that
 * passes through here, an answer is good for some choices only. */
enum { TRUST = 16 };
static uint64_t io_epoch = 1;
static struct {
	uint64_t epoch; /* not ready then; 0: unknown */
	uint32_t age;
} looks[PLAIT_MAX_THREADS];

void io_done(void)
{
	io_epoch++;
}

static bool trusted(const struct control_thread *t)
{
	return looks[t->task.id].epoch == io_epoch && ++looks[t->task.id].age <= TRUST &&
	       control_trusts();
}

static bool looked(const struct control_thread *t, bool ready)
{
	looks[t->task.id].epoch = ready ? 0 : io_epoch;
	looks[t->task.id].age = 0;
	return ready;
}

static bool one_ready(const struct control_thread *t)
{
	if (is_logged((int)t->op.value))
		return io_is_answered(t);
	return !trusted(t) && looked(t, fd_ready((int)t->op.value, (short)(t->op.value >> 32)));
}

static bool set_ready(const struct control_thread *t)
{
	const struct pollfd *set = t->op.object2;

	for (uint64_t i = 0; unlikely(io_is_answered != NULL) && i < t->op.value; i++)
		if (is_logged(set[i].fd))
			return io_is_answered(t);
	/* poll writes revents, which the real call overwrites afterwards */
	return !trusted(t) && looked(t, rt_syscall(SYS_poll, (long)t->op.object2, (long)t->op.value,
						   0, 0, 0, 0) != 0);
}

static const struct control_wait one_wait = { "for a file descriptor", one_ready, NULL,
					      CONTROL_OUTSIDE };
static const struct control_wait set_wait = { "in poll", set_ready, NULL, CONTROL_OUTSIDE };

/* What t waits for, as a poll set; 0 when it waits for no descriptor from outside. */
static size_t outside_of(const struct control_thread *t, struct pollfd *set, size_t max)
{
	const struct pollfd *p = t->op.object2;
	size_t i, n = 0;

	if (t->op.wait == &one_wait && max) {
		set[0] = (struct pollfd){ .fd = (int)t->op.value,
					  .events = (short)(t->op.value >> 32) };
		n = 1;
	}
	for (i = 0; t->op.wait == &set_wait && i < t->op.value && n < max; i++)
		set[n++] = p[i];
	for (i = 0; i < n; i++)
		if (is_outside(set[i].fd) && !is_logged(set[i].fd))
			return n;
	return 0;
}

static bool waits_for_log(const struct control_thread *t)
{
	const struct pollfd *p = t->op.object2;

	if (t->op.wait == &one_wait)
		return is_logged((int)t->op.value);
	for (size_t i = 0; t->op.wait == &set_wait && i < t->op.value; i++)
		if (is_logged(p[i].fd))
			return true;
	return false;
}

/* Nobody can run, and somebody waits for what the log does not have. In the recorded schedule that is how
 * the run ended: it waits until its time is over. */
static bool wait_for_log(void)
{
	for (size_t i = 0; io_is_answered && i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (!t->rt || t->ended || !waits_for_log(t))
			continue;
		if (!control_is_fixed())
			control_diverged(
				"it waits for more than the recorded run got from outside");
		rt_syscall(SYS_poll, 0, 0, 100, 0, 0, 0);
		return true;
	}
	return false;
}

/* Another process may act on what t waits for. What it signals to a condition variable does not
 * reach us: the waiter wakes and looks, which is always allowed. */
static bool wake_shared(struct control_thread *t)
{
	if (!t->rt || t->ended || !t->op.wait || !t->op.shared)
		return false;
	t->released |= t->op.kind == PLAIT_EV_WOKEN;
	return true;
}

/* Somebody outside may help whom we cannot wait for: look again in a moment. */
static bool nap(const struct control_thread *one)
{
	struct timespec moment = { 0, 1000000 };
	bool helps = helpers_at_work();
	size_t i;

	for (i = 0; i < control_nthreads(); i++)
		if (!one || control_thread_at(i) == one)
			helps |= wake_shared(control_thread_at(i));
	if (!helps)
		return false;
	control_note(PLAIT_UNCONTROLLED_IO);
	rt_syscall(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
	return true;
}

/* A replay waits for the thread that a decision names; the first run waits for anybody. */
bool io_wait(const struct control_thread *one)
{
	struct pollfd set[POLL_SET];
	size_t i, n = one ? outside_of(one, set, POLL_SET) : 0;

	for (i = 0; !one && i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (t->rt && !t->ended)
			n += outside_of(t, set + n, POLL_SET - n);
	}
	if (!n)
		return children_await(one) || nap(one) || (!one && wait_for_log());
	if (!one)
		control_note(PLAIT_UNCONTROLLED_IO);
	/* a child may end before something comes */
	rt_syscall(SYS_poll, (long)set, (long)n, children_awaited() ? 1 : -1, 0, 0, 0);
	return true;
}

static bool nonblocking(int fd)
{
	long flags = rt_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);

	return flags < 0 || (flags & O_NONBLOCK);
}

/* SO_RCVTIMEO and SO_SNDTIMEO, in ns; 0: none. */
static uint64_t receive_timeout[MAX_FDS], send_timeout[MAX_FDS];

static uint64_t fd_deadline(int fd, short events)
{
	const uint64_t *timeouts = events == POLLOUT ? send_timeout : receive_timeout;

	return fd >= 0 && fd < MAX_FDS && timeouts[fd] ? control_now() + timeouts[fd]
						       : CONTROL_NEVER;
}

int hook_setsockopt(int fd, int level, int option, const void *value, socklen_t n)
{
	const struct timeval *tv = value;
	uint64_t *timeouts = option == SO_RCVTIMEO ? receive_timeout : send_timeout;
	int r;

	HOOK_ENTER;
	plait_call_site = 0;
	r = outside.setsockopt(fd, level, option, value, n);
	if (r == 0 && control_self() && level == SOL_SOCKET && fd >= 0 && fd < MAX_FDS &&
	    (option == SO_RCVTIMEO || option == SO_SNDTIMEO) && n >= sizeof(*tv))
		timeouts[fd] = (uint64_t)tv->tv_sec * 1000000000ull + (uint64_t)tv->tv_usec * 1000;
	return r;
}

/* The point before an operation on one descriptor. Different descriptors do not conflict; two uses
 * of one do, and calls that change or look at any of them (cc/expand/state.def). A made-up address
 * stands for it. False: a signal handler or a timeout ended it. */
static bool fd_point(uint32_t site, int fd, short events, bool dont_wait)
{
	struct control_thread *me = control_self();
	bool done;

	if (!me)
		return true;
	looks[me->task.id].epoch = 0;
	if (dont_wait && events != POLLOUT)
		control_spin_check(me, site, (void *)(uintptr_t)(fd + 1), 0);
	done = control_point(
		me,
		&(struct control_op){ .kind = events == POLLOUT ? PLAIT_EV_OUTPUT : PLAIT_EV_INPUT,
				      .site = site,
				      .object = (void *)(uintptr_t)(unsigned)(fd + 1),
				      .object2 = &plait_state_files,
				      .writes = true,
				      .value = (uint64_t)(uint16_t)events << 32 | (uint32_t)fd,
				      .signals = CONTROL_RESTARTS,
				      .wait = dont_wait || nonblocking(fd) ? NULL : &one_wait,
				      .deadline = fd_deadline(fd, events) });
	io_done();
	if (!dont_wait)
		control_changed();
	if (events == POLLOUT)
		rt_record_sa_n(PLAIT_EV_RELEASE, site, message_of(fd), 0);
	if (done)
		return true;
	errno = me->interrupted ? EINTR : EAGAIN;
	return false;
}

static void received(uint32_t site, int fd, short events, ssize_t n)
{
	if (events == POLLIN && n >= 0 && control_self())
		rt_record_sa_n(PLAIT_EV_ACQUIRE, site, message_of(fd), 0);
}

/* Instrumented code notes what it read by itself. */
static bool noted_by_caller(uint32_t site)
{
	return site && site < PLAIT_PC_SITE_FIRST;
}

static void note_input(uint32_t site, const void *p, ssize_t n)
{
	if (!rt_recording || noted_by_caller(site))
		return;
	if (n > 0)
		rt_record_bytes(PLAIT_EV_INPUT_BYTES, site, p, (size_t)n);
	else
		rt_record_sv(PLAIT_EV_INPUT, site, (uint64_t)n);
}

static void note_output(uint32_t site, int fd, ssize_t n)
{
	if (rt_recording)
		rt_record_output(site, fd, n > 0 ? (uint64_t)n : 0);
}

/* The flight recorder: a wait for this descriptor (-1: for several) begins, and is over. */
static void waits_for(uint32_t site, int fd)
{
	note_blocked(PLAIT_EV_INPUT, site, (void *)(intptr_t)(fd + 1));
}

static int came_back(uint32_t site, int r)
{
	if (unlikely(rt_keeps_last))
		rt_record_sv(PLAIT_EV_INPUT, site, (uint64_t)r);
	return r;
}

/* ---- reading and writing ---- */

static void note_length(uint32_t site, ssize_t n)
{
	if (rt_recording && !noted_by_caller(site))
		rt_record_sv(PLAIT_EV_INPUT, site, (uint64_t)n);
}

/* clang-format off: a table. The point, then libc's function, then a note of what it did. */
#define IO(ret, name, params, args, events, dont_wait, note)                                       \
	ret hook_##name params                                                                     \
	{                                                                                          \
		uint32_t site = hook_site();                                                       \
		ret r;                                                                             \
                                                                                                   \
		if (!fd_point(site, fd, events, dont_wait))                                        \
			return -1;                                                                 \
		if (events == POLLIN)                                                              \
			waits_for(site, fd);                                                       \
		r = outside.name args;                                                             \
		received(site, fd, events, r);                                                     \
		note;                                                                              \
		return r;                                                                          \
	}
#define AT_ONCE (flags & MSG_DONTWAIT)
#define OUTPUT	note_output(site, fd, r)

IO(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), POLLIN, false, note_input(site, p, r))
IO(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), POLLIN, false,
   note_length(site, r))
IO(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), POLLIN, AT_ONCE,
   note_input(site, p, r))
IO(ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, struct sockaddr *from, socklen_t *len),
   (fd, p, n, flags, from, len), POLLIN, AT_ONCE, note_input(site, p, r))
IO(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), POLLIN, AT_ONCE,
   note_length(site, r))
IO(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), POLLOUT, false, OUTPUT)
IO(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), POLLOUT, false, OUTPUT)
IO(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), POLLOUT, AT_ONCE,
   OUTPUT)
IO(ssize_t, sendto,
   (int fd, const void *p, size_t n, int flags, const struct sockaddr *to, socklen_t len),
   (fd, p, n, flags, to, len), POLLOUT, AT_ONCE, OUTPUT)
IO(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), POLLOUT, AT_ONCE,
   OUTPUT)
IO(int, accept, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len), POLLIN,
   false, came_back(site, r))
IO(int, accept4, (int fd, struct sockaddr *address, socklen_t *len, int flags),
   (fd, address, len, flags), POLLIN, false, came_back(site, r))
/* clang-format on */

/* ---- waiting for several ---- */

/* False: a signal handler ended it. */
static bool wait_point(struct control_thread *me, uint32_t site, struct pollfd *fds, nfds_t n,
		       int64_t timeout_ns, int signals)
{
	bool wait = timeout_ns != 0;

	looks[me->task.id].epoch = 0;
	if (!wait)
		control_spin_check(me, site, fds, 0);
	control_point(me, &(struct control_op){
				  .kind = PLAIT_EV_INPUT,
				  .site = site,
				  .object = &plait_state_files,
				  .object2 = fds,
				  .value = n,
				  .signals = signals,
				  .wait = wait ? &set_wait : NULL,
				  .deadline = timeout_ns > 0 ? control_now() + (uint64_t)timeout_ns
							     : CONTROL_NEVER });
	if (!me->interrupted)
		return true;
	errno = EINTR;
	return false;
}

static bool poll_point(struct control_thread *me, uint32_t site, struct pollfd *fds, nfds_t n,
		       int64_t timeout_ns)
{
	return wait_point(me, site, fds, n, timeout_ns, CONTROL_ENDS);
}

/* The same while another mask holds, NULL: as it is. */
static bool masked_poll_point(struct control_thread *me, uint32_t site, struct pollfd *fds,
			      nfds_t n, int64_t timeout_ns, const sigset_t *mask)
{
	uint64_t before = me->signal_mask;
	bool r;

	if (mask)
		memcpy(&me->signal_mask, mask, sizeof(me->signal_mask));
	r = wait_point(me, site, fds, n, timeout_ns, mask ? CONTROL_ENDS_SURELY : CONTROL_ENDS);
	me->signal_mask = before;
	return r;
}

int hook_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me) {
		waits_for(site, -1);
		return came_back(site, outside.poll(fds, n, timeout));
	}
	if (!poll_point(me, site, fds, n, timeout < 0 ? -1 : timeout * 1000000ll))
		return -1;
	return outside.poll(fds, n, 0);
}

int hook_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct control_thread *me = control_self();
	struct timespec zero = { 0 };
	uint32_t site = hook_site();

	if (!me) {
		waits_for(site, -1);
		return came_back(site, outside.ppoll(fds, n, timeout, mask));
	}
	if (!masked_poll_point(me, site, fds, n, timeout ? (int64_t)timespec_ns(timeout) : -1,
			       mask))
		return -1;
	return outside.ppoll(fds, n, &zero, NULL);
}

/* The same as a poll set; how many of it. */
static nfds_t poll_set(struct pollfd *fds, int n, const fd_set *r, const fd_set *w, const fd_set *x)
{
	nfds_t k = 0;
	int fd;

	for (fd = 0; fd < n && k < POLL_SET; fd++) {
		short events = (short)((r && FD_ISSET(fd, r) ? POLLIN : 0) |
				       (w && FD_ISSET(fd, w) ? POLLOUT : 0) |
				       (x && FD_ISSET(fd, x) ? POLLPRI : 0));

		if (events)
			fds[k++] = (struct pollfd){ .fd = fd, .events = events };
	}
	return k;
}

int hook_select(int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *timeout)
{
	struct control_thread *me = control_self();
	struct pollfd fds[POLL_SET];
	struct timeval zero = { 0 };
	uint32_t site = hook_site();

	if (!me) {
		waits_for(site, -1);
		return came_back(site, outside.select(n, r, w, x, timeout));
	}
	if (!poll_point(me, site, fds, poll_set(fds, n, r, w, x),
			timeout ? timeout->tv_sec * 1000000000ll + timeout->tv_usec * 1000 : -1))
		return -1;
	return outside.select(n, r, w, x, &zero);
}

int hook_pselect(int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *timeout,
		 const sigset_t *mask)
{
	struct control_thread *me = control_self();
	struct pollfd fds[POLL_SET];
	struct timespec zero = { 0 };
	uint32_t site;

	HOOK_ENTER;
	site = rt_take_site();
	if (!me) {
		waits_for(site, -1);
		return came_back(site, outside.pselect(n, r, w, x, timeout, mask));
	}
	if (!masked_poll_point(me, site, fds, poll_set(fds, n, r, w, x),
			       timeout ? (int64_t)timespec_ns(timeout) : -1, mask))
		return -1;
	return outside.pselect(n, r, w, x, &zero, NULL);
}

int hook_epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	struct control_thread *me = control_self();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint32_t site = hook_site();

	if (!me) {
		waits_for(site, fd);
		return came_back(site, outside.epoll_wait(fd, events, n, timeout));
	}
	if (!poll_point(me, site, &p, 1, timeout < 0 ? -1 : timeout * 1000000ll))
		return -1;
	return outside.epoll_wait(fd, events, n, 0);
}

int hook_epoll_pwait(int fd, struct epoll_event *events, int n, int timeout, const sigset_t *mask)
{
	struct control_thread *me = control_self();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint32_t site = hook_site();

	if (!me) {
		waits_for(site, fd);
		return came_back(site, outside.epoll_pwait(fd, events, n, timeout, mask));
	}
	if (!masked_poll_point(me, site, &p, 1, timeout < 0 ? -1 : timeout * 1000000ll, mask))
		return -1;
	return outside.epoll_wait(fd, events, n, 0);
}

/* ---- descriptors ---- */

/* clang-format off: a table. What they make is known from then on. */
#define MAKES(name, params, args, note)                                                            \
	int hook_##name params                                                                     \
	{                                                                                          \
		int r;                                                                             \
                                                                                                   \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		r = real.name args;                                                                \
		if (r >= 0)                                                                        \
			note;                                                                      \
		return r;                                                                          \
	}
MAKES(pipe, (int fds[2]), (fds), note_internal(fds[0], fds[1]))
MAKES(pipe2, (int fds[2], int flags), (fds, flags), note_internal(fds[0], fds[1]))
MAKES(socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds),
      note_internal(fds[0], fds[1]))
MAKES(eventfd, (unsigned value, int flags), (value, flags), note_internal(r, r))
MAKES(epoll_create, (int size), (size), note(r, EPOLL))
MAKES(epoll_create1, (int flags), (flags), note(r, EPOLL))
/* clang-format on */

int hook_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	int r;

	HOOK_ENTER;
	plait_call_site = 0;
	r = outside.epoll_ctl(epoll, op, fd, event);
	if (r == 0 && op == EPOLL_CTL_ADD && epoll >= 0 && epoll < MAX_FDS && io_is_foreign(fd))
		watches_foreign[epoll] = true;
	return r;
}

/* A thread that reads the other end sees the close. */
int hook_close(int fd)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me && fd >= 0 && fd < MAX_FDS) {
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_OUTPUT,
							.site = site,
							.object = (void *)(uintptr_t)(fd + 1),
							.object2 = &plait_state_files,
							.writes = true });
		rt_record_sa_n(PLAIT_EV_RELEASE, site, message_of(fd), 0);
		known[fd] = OUTSIDE;
		watches_foreign[fd] = false;
		receive_timeout[fd] = send_timeout[fd] = 0;
		timers_closed(fd);
		io_done();
		control_changed();
	}
	return real.close(fd);
}

/* After fork the other end may be in the child. */
void io_forked(void)
{
	int fd;

	for (fd = 0; fd < MAX_FDS; fd++)
		if (known[fd] == INTERNAL)
			known[fd] = OUTSIDE;
}

/* ---- stdio's own locks: libc's state is the truth, we only wait until it is free ---- */

struct stdio_lock {
	int lock, count;
	void *owner;
};

static bool file_ready(const struct control_thread *t)
{
	const struct stdio_lock *l = t->op.object;

	return !l->lock || l->owner == (void *)t->handle;
}

static const struct control_wait file_wait = { "to lock a stdio stream", file_ready, NULL,
					       CONTROL_OUTSIDE };

void hook_flockfile(FILE *f)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_LOCK,
							.site = site,
							.object = f->_lock,
							.writes = true,
							.wait = &file_wait });
	real.flockfile(f);
	rt_record_sa_r(PLAIT_EV_LOCK, site, f->_lock, 0);
}

void hook_funlockfile(FILE *f)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		control_step(me, &(struct control_op){ .kind = PLAIT_EV_UNLOCK,
						       .site = site,
						       .object = f->_lock,
						       .writes = true });
	rt_record_sa_r(PLAIT_EV_UNLOCK, site, f->_lock, 0);
	real.funlockfile(f);
	if (me)
		control_changed();
}
