/* request.c - the request line and the few header fields we care for. */
#include <string.h>
#include <strings.h>

#include "ghttpd.h"

/* Copy up to one of the stop characters; -1 when it does not fit. */
static int copy_word(const char *from, const char *stop, char *to, size_t room)
{
	size_t n = strcspn(from, stop);

	if (n >= room)
		return -1;
	memcpy(to, from, n);
	to[n] = '\0';
	return (int)n;
}

static void parse_field(const char *line, struct request *r)
{
	if (!strncasecmp(line, "Host: ", 6))
		copy_word(line + 6, "\r\n", r->host, sizeof(r->host));
	else if (!strncasecmp(line, "Connection: keep-alive", 22))
		r->keep_alive = 1;
}

int request_parse(const char *head, struct request *r)
{
	const char *line;
	int n;

	memset(r, 0, sizeof(*r));
	if (strncmp(head, "GET ", 4))
		return strncmp(head, "POST ", 5) ? 400 : 501;
	n = copy_word(head + 4, " \r\n", r->url, sizeof(r->url));
	if (n < 0)
		return 414;
	if (n == 0 || r->url[0] != '/')
		return 400;
	if (strstr(r->url, ".."))
		return 403;
	for (line = strchr(head, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
		parse_field(line + 1, r);
	return 200;
}
