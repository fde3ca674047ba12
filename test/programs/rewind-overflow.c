/* A name is too long for its record and overwrites the pointer behind it; calls of libc lie between that and the crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct rec { char name[16]; int *count; };
static struct rec recs[3];
static int zero;
static __attribute__((noinline)) void set_name(struct rec *r, const char *s)
{
	memcpy(r->name, s, strlen(s) + 1); /* too long for recs[1] */
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++)
		recs[i].count = &zero;
	set_name(&recs[0], "first");
	set_name(&recs[1], "a name that is far too long");
	printf("names are set: %s\n", recs[0].name);
	char *copy = malloc(20);
	strcpy(copy, "hello");
	puts(copy);
	free(copy);
	for (int i = 0; i < 3; i++)
		*recs[i].count += i;
	return zero;
}
