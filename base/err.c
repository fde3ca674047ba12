#include "base/err.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct err {
	enum err_kind kind;
	char *message; /* owned */
};

static struct err *make(enum err_kind kind, char *message)
{
	struct err *err = xmalloc(sizeof(*err));

	err->kind = kind;
	err->message = message;
	return err;
}

struct err *err_new(enum err_kind kind, const char *fmt, ...)
{
	va_list ap;
	char *message;

	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	return make(kind, message);
}

/* The limit that may be behind an error, if there is one: "" or ": ...". Owned. */
static char *limit_behind(int errnum)
{
	static const struct {
		int errnum;
		__rlimit_resource_t resource;
		const char *what;
	} limits[] = {
		{ EFBIG, RLIMIT_FSIZE, "the size of files is limited to %llu bytes (ulimit -f)" },
		{ EMFILE, RLIMIT_NOFILE, "open files are limited to %llu (ulimit -n)" },
		{ ENOMEM, RLIMIT_AS, "address space is limited to %llu bytes (ulimit -v)" },
		{ EAGAIN, RLIMIT_NPROC, "processes are limited to %llu (ulimit -u)" },
	};
	struct rlimit limit;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		_cleanup_(xfreep) char *text = NULL;

		if (limits[i].errnum != errnum || getrlimit(limits[i].resource, &limit) != 0 ||
		    limit.rlim_cur == RLIM_INFINITY)
			continue;
		text = xasprintf(limits[i].what, (unsigned long long)limit.rlim_cur);
		return xasprintf(": %s", text);
	}
	return xstrdup("");
}

struct err *err_errno(int errnum, const char *fmt, ...)
{
	va_list ap;
	_cleanup_(xfreep) char *what = NULL, *limit = limit_behind(errnum);

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	return make(ERR_ENV, xasprintf("%s: %s%s", what, strerror(errnum), limit));
}

struct err *err_wrap(struct err *err, const char *fmt, ...)
{
	va_list ap;
	_cleanup_(xfreep) char *context = NULL;
	char *message;

	if (!err)
		return NULL;
	va_start(ap, fmt);
	context = xvasprintf(fmt, ap);
	va_end(ap);
	message = xasprintf("%s: %s", context, err->message);
	free(err->message);
	err->message = message;
	return err;
}

const char *err_message(const struct err *err)
{
	return err->message;
}

enum err_kind err_kind(const struct err *err)
{
	return err->kind;
}

void err_free(struct err *err)
{
	if (!err)
		return;
	free(err->message);
	free(err);
}
