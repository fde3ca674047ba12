/* base/err.h - errors as values.
 * A function that can fail because the world is bad returns `struct err *`: NULL is success.
 * A function that receives an error either hands it up (err_wrap adds context) or frees it. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

/* What the exit status should become when this error reaches main(). */
enum err_kind {
	ERR_ENV = 3,	      /* environment or bad input */
	ERR_USAGE = 2,	      /* the command line is wrong */
	ERR_INCONCLUSIVE = 4, /* budget used up, diverged */
};

struct err;

struct err *err_new(enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "what: strerror(errnum)", and the resource limit that may be the reason. */
struct err *err_errno(int errnum, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Put "context: " in front of the message. Takes err, returns it; NULL stays NULL. */
struct err *err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *err_message(const struct err *err);
enum err_kind err_kind(const struct err *err);
void err_free(struct err *err);

#endif
