/* A backslash at the end of the text lets the loop skip the end of the text; the copy runs over the end of its block
 * (CVE-2021-3156). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct service {
	struct service *next;
	long known;
};

static char arguments[64] = "edit\\\0this is behind the end of it, and a bit more";

static __attribute__((noinline)) void unescape(char *to, const char *from)
{
	while (*from) {
		if (from[0] == '\\')
			from++;
		*to++ = *from++; /* BUG:a */
	}
	*to = 0;
}

int main(void)
{
	char *buffer = malloc(strlen(arguments) + 3);
	struct service *list = malloc(sizeof(*list)), *end = malloc(sizeof(*end));

	*end = (struct service){ NULL, 2 };
	*list = (struct service){ end, 1 };
	unescape(buffer, arguments);
	return (int)list->next->known;
}
