/* rt/interpose/passed.c - functions that only mode sync and its replays have an interest in (rt/log): here
 * they are libc's. */
#include "rt/interpose/interpose.h"

/* clang-format off: a table */
#define PASS(ret, name, params, args)                                                              \
	ret hook_##name params                                                                     \
	{                                                                                          \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		return real.name args;                                                             \
	}
PASS(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
PASS(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
PASS(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
PASS(int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
PASS(int, listen, (int fd, int n), (fd, n))
PASS(int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))
PASS(int, shutdown, (int fd, int how), (fd, how))
PASS(int, getsockopt, (int fd, int level, int option, void *p, socklen_t *n),
     (fd, level, option, p, n))
PASS(int, getsockname, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))
PASS(int, getpeername, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))
PASS(int, epoll_ctl, (int epoll, int op, int fd, struct epoll_event *event), (epoll, op, fd, event))
PASS(int, fstat, (int fd, struct stat *st), (fd, st))
PASS(int, fstat64, (int fd, struct stat64 *st), (fd, st))
PASS(int, getaddrinfo,
     (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret),
     (node, service, hints, ret))
PASS(long, sysconf, (int name), (name))
PASS(int, get_nprocs, (void), ())
/* clang-format on */
