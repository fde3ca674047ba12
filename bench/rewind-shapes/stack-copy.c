/* A name of the request is copied into a buffer on the stack without a bound (CVE-2001-0820, CVE-2018-12326). The pointer
 * behind the buffer is overwritten, and used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reply {
	char host[16];
	long *status;
};

static long answered;

static __attribute__((noinline)) void copy_host(struct reply *r, const char *from)
{
	strcpy(r->host, from); /* BUG:a */
}

static __attribute__((noinline)) long serve(const char *request)
{
	struct reply r = { .status = &answered };

	copy_host(&r, request + 5);
	++*r.status;
	return answered;
}

int main(int argc, char **argv)
{
	return (int)serve(argc > 1 ? argv[1] : "Host:aaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}
