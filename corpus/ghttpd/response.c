/* response.c - the pages. */
#include <stdio.h>
#include <string.h>

#include "ghttpd.h"

struct page {
	const char *url, *type, *body;
};

static const struct page pages[] = {
	{ "/", "text/html", "<h1>It works</h1>" },
	{ "/index.html", "text/html", "<h1>It works</h1>" },
	{ "/about.txt", "text/plain", "a small server" },
};

static void send_head(int status, const char *reason, const char *type, size_t length)
{
	printf("HTTP/1.0 %d %s\r\n", status, reason);
	printf("Content-Type: %s\r\nContent-Length: %zu\r\n\r\n", type, length);
}

void respond_error(int status)
{
	const char *reason = status == 404 ? "Not Found" : status == 403 ? "Forbidden" : "Bad Request";

	send_head(status, reason, "text/plain", strlen(reason));
	fputs(reason, stdout);
}

int respond(const struct request *r)
{
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].url, r->url)) {
			send_head(200, "OK", pages[i].type, strlen(pages[i].body));
			fputs(pages[i].body, stdout);
			return 200;
		}
	respond_error(404);
	return 404;
}
