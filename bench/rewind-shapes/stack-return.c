/* The loop that decodes a field does not look at the size of its buffer; it runs over the return address
 * (CVE-2012-4409, CVE-2013-2028). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int used;

static __attribute__((noinline)) int unescape(const char *from, char *to)
{
	int n = 0;

	for (; *from; from++)
		to[n++] = *from == '+' ? ' ' : *from; /* BUG:a */
	to[n] = 0;
	return n;
}

static __attribute__((noinline)) int field(const char *text)
{
	char buffer[24];

	used += unescape(text, buffer);
	return buffer[used % 24];
}

int main(int argc, char **argv)
{
	return field(argc > 1 ? argv[1] : "key=aaaaaaaa+bbbbbbbb+cccccccc+dddddddd+eeeeeeee+ffffffff+gggggggg");
}
