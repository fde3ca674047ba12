#include "base/err.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct err *err_errno(int errnum, const char *fmt, ...)
{
	va_list ap;
	_cleanup_(xfreep) char *what = NULL;

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	return make(ERR_ENV, xasprintf("%s: %s", what, strerror(errnum)));
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
