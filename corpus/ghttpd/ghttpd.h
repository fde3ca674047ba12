/* ghttpd.h - one request and what becomes of it. */
#include <stddef.h>

enum { HEAD = 2048, URL = 1024, HOST = 64 };

struct request {
	char url[URL];
	char host[HOST];
	int keep_alive;
};

/* 200, or the status of the error. */
int request_parse(const char *head, struct request *r);

int respond(const struct request *r);
void respond_error(int status);

__attribute__((format(printf, 1, 2))) void log_message(const char *format, ...);
