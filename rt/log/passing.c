/* rt/log/passing.c - see passing.h. */
#include "rt/log/passing.h"

#include "rt/core/record.h"
#include "rt/interpose/world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { FDS = 1 << 16, PART = 32 << 10, NUMBERS = 1024 };
enum { UNKNOWN, INSIDE, OUTSIDE };

/* ---- descriptors ---- */

static uint8_t fds[FDS];
static uint64_t watch[FDS]; /* what the target has told epoll to say of it */

static bool ask_kernel(int fd)
{
	struct stat st;

	return rt_syscall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) != 0 ||
	       !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

bool is_outside(int fd)
{
	if (fd < 0 || fd >= FDS)
		return true;
	if (fds[fd] == UNKNOWN)
		fds[fd] = ask_kernel(fd) ? OUTSIDE : INSIDE;
	return fds[fd] == OUTSIDE;
}

void forget_fd(int fd)
{
	if (fd >= 0 && fd < FDS)
		fds[fd] = UNKNOWN;
}

void set_outside(int fd, bool outside)
{
	if (fd >= 0 && fd < FDS)
		fds[fd] = outside ? OUTSIDE : INSIDE;
}

/* In another schedule than the recorded one a number may be in use when a thread is given a descriptor that
 * had it then. So that both live, the new one gets another number; answers that name it are translated. */
static struct {
	uint32_t thread;
	int then, here;
} numbers[NUMBERS]; /* the newest overwrites the oldest */
static unsigned nnumbers;

static void note_number(const struct passing *x, int then, int here)
{
	unsigned i = nnumbers++ % NUMBERS;

	numbers[i].thread = x->thread;
	numbers[i].then = then;
	numbers[i].here = here;
}

/* The thread's own descriptor of that number, else the newest of any thread. */
static int number_here(const struct passing *x, int then)
{
	unsigned n = nnumbers < NUMBERS ? nnumbers : NUMBERS;
	int any = then;

	for (unsigned i = 1; x->roams && i <= n; i++) {
		unsigned k = (nnumbers - i) % NUMBERS;

		if (numbers[k].then != then)
			continue;
		if (numbers[k].thread == x->thread)
			return numbers[k].here;
		if (any == then)
			any = numbers[k].here;
	}
	return any;
}

/* Something that has this number, and can be closed, asked for its flags, or given other ones. */
static int place(const struct passing *x, int fd)
{
	long f = rt_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);

	if (f < 0 || f == fd)
		return fd;
	if (x->roams && rt_syscall(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) >= 0)
		return (int)f;
	rt_syscall(SYS_dup3, f, fd, O_CLOEXEC, 0, 0, 0);
	rt_syscall(SYS_close, f, 0, 0, 0, 0, 0);
	return fd;
}

int made(struct passing *x, int fd)
{
	int here = fd;

	if (fd < 0)
		return fd;
	if (x->giving)
		here = place(x, fd);
	if (x->roams)
		note_number(x, fd, here);
	set_outside(here, true);
	return here;
}

void made_pair(struct passing *x, int pair[2])
{
	fill(x, pair, 2 * sizeof(int));
	made(x, pair[0]);
	made(x, pair[1]);
}

void closed(struct passing *x, int fd)
{
	forget_fd(fd);
	if (x->giving)
		rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* Of the files that the replay has made itself. */
void renamed(struct passing *x, const char *from, const char *to)
{
	char one[PATH_MAX], two[PATH_MAX];

	if (x->giving && paths_own(from, one, sizeof(one)) == one &&
	    paths_own(to, two, sizeof(two)) == two)
		rt_syscall(SYS_rename, (long)one, (long)two, 0, 0, 0, 0);
}

void removed(struct passing *x, const char *path)
{
	char own[PATH_MAX];

	if (x->giving && paths_own(path, own, sizeof(own)) == own)
		rt_syscall(SYS_unlink, (long)own, 0, 0, 0, 0, 0);
}

/* ---- bytes ---- */

static void put_answer(struct rt_thread *t, const struct passing *x, const uint8_t *bytes, size_t n)
{
	uint8_t *p, *q;

	if (!x->begun && plait_call_how(x->call) != PLAIT_CALL_SOFT)
		record_tell_time(t);
	p = record_begin(t, n, false);
	if (!p)
		return;
	q = p + 1;
	if (!x->begun) {
		q = put_varint(q, x->call);
		q = put_varint(q, zigzag(x->result));
	}
	q = put_varint(q, n);
	if (n)
		memcpy(q, bytes, n);
	record_end(t, p, q + n, x->begun ? PLAIT_EV_ANSWER_MORE : PLAIT_EV_ANSWER);
}

static void write_down(struct passing *x, const uint8_t *bytes, size_t n)
{
	struct rt_thread *t = rt_self_;

	do {
		size_t part = n < PART ? n : PART;

		put_answer(t, x, bytes, part);
		x->begun = true;
		bytes += part;
		n -= part;
	} while (n > 0);
}

void pass_result(struct passing *x)
{
	put_answer(rt_self_, x, NULL, 0);
	x->begun = true;
}

void pass_end(struct passing *x)
{
	if (!x->begun)
		pass_result(x);
}

void pass_name(char how, const char *text, size_t n)
{
	struct rt_thread *t = rt_self_;
	uint8_t *p = record_begin(t, n, false), *q;

	if (!p)
		return;
	q = put_varint(p + 1, (uint64_t)how);
	q = put_varint(q, n);
	memcpy(q, text, n);
	record_end(t, p, q + n, PLAIT_EV_NAMED);
}

void fill(struct passing *x, void *p, size_t n)
{
	size_t left = (size_t)(x->end - x->next);

	if (!x->giving) {
		if (n)
			write_down(x, p, n);
		return;
	}
	if (n > left)
		n = left;
	if (n)
		memcpy(p, x->next, n);
	x->next += n;
}

void fill_vector(struct passing *x, const struct iovec *v, size_t n, size_t got)
{
	for (size_t i = 0; i < n && got; i++) {
		size_t part = v[i].iov_len < got ? v[i].iov_len : got;

		fill(x, v[i].iov_base, part);
		got -= part;
	}
}

void fill_address(struct passing *x, void *a, socklen_t *l, size_t room)
{
	if (!a || !l)
		return;
	fill(x, l, sizeof(*l));
	fill(x, a, *l < room ? *l : room);
	x->address = a;
}

/* One block each, the address behind the head, as libc has it: its freeaddrinfo frees them. */
static struct addrinfo *new_address(const struct addrinfo *head)
{
	struct addrinfo *a = malloc(sizeof(*a) + head->ai_addrlen);

	if (!a)
		return NULL;
	*a = *head;
	a->ai_addr = head->ai_addrlen ? (struct sockaddr *)(a + 1) : NULL;
	a->ai_canonname = NULL;
	a->ai_next = NULL;
	return a;
}

void fill_addresses(struct passing *x, struct addrinfo **list)
{
	struct addrinfo **at = list, *a = x->giving ? NULL : *list, head;
	uint32_t more;

	for (;; a = (*at)->ai_next, at = &(*at)->ai_next) {
		more = a != NULL;
		fill(x, &more, sizeof(more));
		if (!more)
			break;
		if (a)
			head = *a;
		fill(x, &head, sizeof(head));
		if (x->giving && !(*at = new_address(&head)))
			return;
		fill(x, (*at)->ai_addr, head.ai_addrlen);
		if (x->giving)
			(*at)->ai_next = NULL;
	}
	if (x->giving)
		*at = NULL;
}

void fill_message(struct passing *x, struct msghdr *m, size_t got)
{
	size_t name;

	fill_vector(x, m->msg_iov, m->msg_iovlen, got);
	fill(x, &m->msg_flags, sizeof(m->msg_flags));
	fill(x, &m->msg_namelen, sizeof(m->msg_namelen));
	fill(x, &m->msg_controllen, sizeof(m->msg_controllen));
	name = m->msg_name ? m->msg_namelen : 0;
	fill(x, m->msg_name, name);
	fill(x, m->msg_control, m->msg_control ? m->msg_controllen : 0);
}

/* Whom it asks about is the target's; what is ready comes from the answer. */
void fill_polls(struct passing *x, struct pollfd *fds, size_t n)
{
	if (!x->giving)
		fill(x, fds, n * sizeof(*fds));
	for (size_t i = 0; x->giving && i < n; i++) {
		struct pollfd then = fds[i];

		fill(x, &then, sizeof(then));
		fds[i].revents = then.revents;
	}
}

static void fill_set(struct passing *x, int n, fd_set *set)
{
	fd_set then;

	if (!set)
		return;
	fill(x, set, ((size_t)n + 63) / 64 * 8);
	if (!x->roams)
		return;
	then = *set;
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
		FD_CLR(fd, set);
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
		if (FD_ISSET(fd, &then) && number_here(x, fd) < FD_SETSIZE)
			FD_SET(number_here(x, fd), set);
}

void fill_sets(struct passing *x, int n, fd_set *in, fd_set *out, fd_set *err)
{
	fill_set(x, n, in);
	fill_set(x, n, out);
	fill_set(x, n, err);
}

/* ---- epoll: what an event carries is often a pointer, which is another one in a replay ---- */

void watched(int fd, const struct epoll_event *event)
{
	if (event && fd >= 0 && fd < FDS)
		watch[fd] = event->data.u64;
}

/* Which descriptor was meant. Most programs pass its number. */
static int watched_by(uint64_t data)
{
	static int highest = 1024;

	if (data < FDS && watch[data] == data)
		return (int)data;
	if ((uint32_t)data < FDS && watch[(uint32_t)data] == data)
		return (int)(uint32_t)data;
	for (int i = 0; i < highest; i++)
		if (watch[i] == data)
			return i;
	for (int i = highest; i < FDS; i++)
		if (watch[i] == data) {
			highest = i + 1;
			return i;
		}
	return -1;
}

void fill_events(struct passing *x, struct epoll_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct {
			uint64_t data;
			uint32_t events;
			int32_t fd;
		} e = { events[i].data.u64, events[i].events, -1 };

		if (!x->giving)
			e.fd = watched_by(e.data);
		fill(x, &e, sizeof(e));
		e.fd = number_here(x, e.fd);
		events[i].events = e.events;
		events[i].data.u64 = e.fd >= 0 && e.fd < FDS ? watch[e.fd] : e.data;
	}
}

/* ---- what goes out ---- */

static uint64_t hash(uint64_t h, const uint8_t *p, size_t n)
{
	uint64_t word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	while (n-- > 0)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

/* Standard output is shown again; nothing else is. */
static void show(int fd, const void *p, size_t n)
{
	if (fd == 1 || fd == 2)
		rt_syscall(SYS_write, fd, (long)p, (long)n, 0, 0, 0);
}

static void compare(struct passing *x, uint64_t now)
{
	uint64_t then = now;

	fill(x, &then, sizeof(then));
	if (x->giving && then != now)
		control_sent_other();
}

void sent(struct passing *x, int fd, const void *p, size_t n)
{
	if (x->giving)
		show(fd, p, n);
	compare(x, hash(n, p, n));
}

void sent_vector(struct passing *x, int fd, const struct iovec *v, size_t n, size_t got)
{
	uint64_t h = 0;

	for (size_t i = 0; i < n && got; i++) {
		size_t part = v[i].iov_len < got ? v[i].iov_len : got;

		if (x->giving)
			show(fd, v[i].iov_base, part);
		h = hash(h, v[i].iov_base, part);
		got -= part;
	}
	compare(x, h);
}
