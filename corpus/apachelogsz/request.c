/* request.c - read a request line, find the page. */
#include <stdio.h>
#include <string.h>

#include "httpd.h"

struct page {
	const char *path;
	int length;
};

static const struct page pages[] = {
	{ "/", 512 }, { "/index.html", 512 }, { "/logo.png", 2048 }, { "/doc/a.html", 900 },
};

void request_parse(const char *text, struct request *r)
{
	memset(r, 0, sizeof(*r));
	r->status = 200;
	if (sscanf(text, "%7s %47s HTTP/1.%d", r->method, r->path, &r->minor) != 3)
		r->status = 400;
	else if (strcmp(r->method, "GET") && strcmp(r->method, "HEAD"))
		r->status = 405;
}

void request_answer(struct request *r)
{
	size_t i;

	if (r->status != 200)
		return;
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].path, r->path)) {
			r->length = strcmp(r->method, "HEAD") ? pages[i].length : 0;
			return;
		}
	r->status = 404;
}
