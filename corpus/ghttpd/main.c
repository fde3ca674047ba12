/* ghttpd - a small web server that answers one request from standard input.
 *
 * Every request is written to the log through log_message(), which formats into a buffer of 200
 * bytes without a bound. A long URL in a GET request runs over the end of the buffer into
 * the log's state behind it, whose output function is then called through a wild pointer. (The
 * overflow stays inside one structure, so that the crash does not depend on the compiler.)
 * Cure: format with a bound.
 *
 * main.c connection   request.c parsing   response.c pages   log.c the log
 * usage: main < request */
#include <stdio.h>
#include <string.h>

#include "ghttpd.h"

/* Read the head of the request, up to an empty line. */
static int read_head(char *to, size_t room)
{
	size_t n = 0;
	int c, newlines = 0;

	while (newlines < 2 && (c = getchar()) != EOF && n + 1 < room) {
		to[n++] = (char)c;
		if (c == '\n')
			newlines++;
		else if (c != '\r')
			newlines = 0;
	}
	to[n] = '\0';
	return (int)n;
}

int main(void)
{
	static char head[HEAD];
	struct request r;
	int status;

	if (read_head(head, sizeof(head)) == 0) {
		puts("ghttpd: no request");
		return 0;
	}
	status = request_parse(head, &r);
	if (status == 200) {
		log_message("GET %s from %s", r.url, r.host[0] ? r.host : "nowhere");
		status = respond(&r);
	} else {
		respond_error(status);
	}
	log_message("status %d", status);
	return 0;
}
