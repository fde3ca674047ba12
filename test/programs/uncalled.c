/* Functions that nobody calls hand their parameters straight to libc: pointers that the points-to analysis
 * meets for the first time when it asks where input flows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int uncalled_length(const char *s)
{
	return strlen(s) > 3;
}

int uncalled_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int main(void)
{
	puts("ok");
	return 0;
}
