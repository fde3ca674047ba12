/* The search for an attribute finds none, and nobody asks (CVE-2017-9047's kin, CVE-2018-14404). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attribute {
	const char *name;
	long value;
	struct attribute *next;
};

static struct attribute height = { "height", 3, NULL }, width = { "width", 4, &height };

static __attribute__((noinline)) struct attribute *find(struct attribute *a, const char *name)
{
	for (; a; a = a->next)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL; /* BUG:a */
}

static __attribute__((noinline)) long area(struct attribute *all, const char *other)
{
	struct attribute *w = find(all, "width"), *h = find(all, other); /* BUG:a */

	return w->value * h->value;
}

int main(int argc, char **argv)
{
	return (int)area(&width, argc > 1 ? argv[1] : "depth");
}
