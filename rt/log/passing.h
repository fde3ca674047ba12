/* rt/log/passing.h - private to rt/log/: what a call brings in, on its way into the log or out of it. */
#ifndef RT_LOG_PASSING_H
#define RT_LOG_PASSING_H

#include "rt/interpose/world.h"
#include "rt/log/log.h"
#include "unplait/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/uio.h>

/* One call. While recording, what passes is appended to its answer; in a replay it comes from there. */
struct passing {
	uint32_t call;
	bool giving;
	bool begun; /* recording: the answer is there, the rest is added */
	/* giving, in any schedule: the number of a descriptor may be another one's here */
	bool roams;
	uint32_t thread; /* roams: whose answers these are */
	int64_t result;
	const uint8_t *next, *end; /* giving: what is left of it */
	const void *address;	   /* what fill_address filled last; NULL: nothing */
};

/* See calls.def. */
void fill(struct passing *x, void *p, size_t n);
void fill_vector(struct passing *x, const struct iovec *v, size_t n, size_t got);
/* room: what *l was before the call. */
void fill_address(struct passing *x, void *a, socklen_t *l, size_t room);
void fill_addresses(struct passing *x, struct addrinfo **list);
void fill_message(struct passing *x, struct msghdr *m, size_t got);
void fill_polls(struct passing *x, struct pollfd *fds, size_t n);
void fill_sets(struct passing *x, int n, fd_set *in, fd_set *out, fd_set *err);
void fill_events(struct passing *x, struct epoll_event *events, size_t n);
void sent(struct passing *x, int fd, const void *p, size_t n);
void sent_vector(struct passing *x, int fd, const struct iovec *v, size_t n, size_t got);
/* A descriptor is new. Returns its number here. */
int made(struct passing *x, int fd);
void made_pair(struct passing *x, int fds[2]);
void closed(struct passing *x, int fd);
void renamed(struct passing *x, const char *from, const char *to);
void removed(struct passing *x, const char *path);
void watched(int fd, const struct epoll_event *event);

/* Is it no file? What a file holds is in the plait as a whole; everything else is written down as it
 * comes. */
bool is_outside(int fd);
/* The number means something else now: ask again. */
void forget_fd(int fd);
/* ... and this is the answer, whatever the kernel would say. */
void set_outside(int fd, bool outside);

/* A descriptor that leads out of the process: a socket that is no end of a pair of ours, or an epoll that
 * watches one. In a run under control. */
static inline bool is_foreign(int fd)
{
	return io_is_foreign(fd);
}
bool polls_foreign(const struct pollfd *fds, nfds_t n);
bool selects_foreign(int n, const fd_set *in, const fd_set *out, const fd_set *err);

/* Standing for everything outside: one object, so that all of it is in one order. */
#define LOG_WORLD ((const void *)&log_begun)

/* Recording: an answer without bytes. */
void pass_result(struct passing *x);
/* ... if nothing has been written yet: an answer without bytes is one, too. */
void pass_end(struct passing *x);
/* Recording: the target names a file; text: the name, NUL, its path. */
void pass_name(char how, const char *text, size_t n);

/* ---- answers.c: a replay takes them, each thread its own one after the other ---- */

void answers_init(const struct plait_log *log);
void answers_begin(void); /* a run begins */
/* The next one, to look at; NULL: there is none. */
const struct plait_log_answer *answers_next(uint32_t thread);
/* Take the next one; ends the run if it is the answer to another call. */
void answers_take(uint32_t thread, struct passing *x);
/* Time and chance: false when the log has no such answer here. */
bool answers_take_soft(uint32_t thread, struct passing *x);
/* Its results are codes of its own, below 0. */
static inline bool has_codes(uint32_t call)
{
	return call == PLAIT_CALL_getaddrinfo;
}

/* For calls.def: how many bytes, or entries, the call has filled. */
#define GOT (r > 0 ? (size_t)r : 0)

/* What comes behind the flags of an open, in a function whose parameters end with `flags, ...`. */
#define TAKE_MODE(mode)                                                                            \
	do {                                                                                       \
		va_list ap;                                                                        \
		va_start(ap, flags);                                                               \
		(mode) = flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(ap, int) : 0;              \
		va_end(ap);                                                                        \
	} while (0)

/* For how much the target has room. */
static inline size_t room_of(const socklen_t *l)
{
	return l ? *l : 0;
}

#endif
