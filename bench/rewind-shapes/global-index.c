/* A size is cut to 16 bits before it is checked, not where it is used: a table is overrun (CVE-2001-0144). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
	long slot[16];
	long *(*find)(long *, int);
};

static long *find(long *slot, int n) { return &slot[n]; }
static struct names names = { .find = find };

static __attribute__((noinline)) int fits(unsigned n)
{
	unsigned short size = (unsigned short)n;

	return size <= 16;
}

static __attribute__((noinline)) void fill(long *slot, unsigned n)
{
	for (unsigned i = 0; i < n && i < 18; i++)
		slot[i] = 7 * i; /* BUG:a */
}

int main(int argc, char **argv)
{
	unsigned n = (unsigned)atoi(argc > 1 ? argv[1] : "65540");

	if (!fits(n))
		return 2;
	fill(names.slot, n);
	return (int)*names.find(names.slot, 3);
}
