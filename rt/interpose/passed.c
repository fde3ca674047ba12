/* rt/interpose/passed.c - functions that only mode sync and its replays have an interest in (rt/log): here
 * they are libc's (or rt/log/heard.c's), but for what OpenMP's runtime asks. */
#include "rt/interpose/interpose.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off: a table */
#define PASS(ret, name, params, args)                                                              \
	ret hook_##name params                                                                     \
	{                                                                                          \
		HOOK_ENTER;                                                                        \
		plait_call_site = 0;                                                               \
		return outside.name args;                                                          \
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
PASS(FILE *, fdopen, (int fd, const char *mode), (fd, mode))
PASS(int, fstat, (int fd, struct stat *st), (fd, st))
PASS(int, fstat64, (int fd, struct stat64 *st), (fd, st))
PASS(int, getaddrinfo,
     (const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **ret),
     (node, service, hints, ret))
PASS(int, get_nprocs, (void), ())
PASS(DIR *, opendir, (const char *path), (path))
PASS(struct dirent *, readdir, (DIR * d), (d))
PASS(struct dirent64 *, readdir64, (DIR * d), (d))
PASS(int, closedir, (DIR * d), (d))
/* clang-format on */

/* LLVM's OpenMP runtime gives the processor away in its loops only where there are more threads than
 * processors. Under control one thread runs at a time: the runtime, and nobody else, is told so. With
 * places for threads it would count processors a second time, and not believe it: run/runtime.c
 * switches those off. */
static bool is_openmp(const void *caller)
{
	const char *places = getenv("KMP_AFFINITY");
	Dl_info info;

	return places && strcmp(places, "disabled") == 0 && dladdr(caller, &info) &&
	       info.dli_fname && strstr(info.dli_fname, "omp");
}

long hook_sysconf(int name)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (name == _SC_NPROCESSORS_CONF && rt_mode == PLAIT_MODE_CONTROL &&
	    is_openmp(__builtin_return_address(0)))
		return 1;
	return real.sysconf(name);
}
