/* A text of the client is the format (CVE-2000-0573): %s takes a pointer that nobody passed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[128];

static __attribute__((noinline)) int answer(const char *text, long code)
{
	return snprintf(line, sizeof(line), text, code); /* BUG:a */
}

static __attribute__((noinline)) int command(const char *text)
{
	return answer(text, 200);
}

int main(int argc, char **argv)
{
	return command(argc > 1 ? argv[1] : "SITE EXEC %s%s%s%s");
}
