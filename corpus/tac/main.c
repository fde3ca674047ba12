/* tac - print the records of standard input, the last one first.
 *
 * Records end in a separator (-s, a newline by default; with -r, any of its characters). With -r
 * the search for the last record's start returns null when no separator is found at all, and
 * that case is only handled for plain separators.
 * Cure: handle it for both.   usage: main [-r] [-s SEPARATOR] < text */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

struct options {
	const char *separator;
	int any;
};

static char text[ROOM + 1];

/* The last separator before `end`; NULL when there is none. */
static char *find_last(const struct options *o, char *start, char *end)
{
	size_t n = o->any ? 1 : strlen(o->separator);
	char *p;

	if (n == 0)
		return NULL;
	for (p = end - n; p >= start; p--) {
		if (o->any ? strchr(o->separator, *p) != NULL && *p : !strncmp(p, o->separator, n))
			return p;
	}
	return NULL; /* BUG:a */
}

static void print(const char *from, const char *to)
{
	fwrite(from, 1, (size_t)(to - from), stdout);
}

static __attribute__((noinline)) char first_char(const char *p)
{
	return *p; /* BUG:b */
}

static void tac(const struct options *o, char *start, char *end)
{
	size_t n = o->any ? 1 : strlen(o->separator), records = 0;

	while (end > start) {
		char *last = find_last(o, start, end - (end - start >= (long)n ? n : 0));

#ifdef FIXED
		if (!last) {
#else
		if (!last && (!o->any || records > 0)) {
#endif
			print(start, end);
			break;
		}
		if (first_char(last) == '\0')
			break;
		print(last + n, end);
		end = last + n;
		records++;
	}
	if (records > 0)
		putchar('\n');
}

int main(int argc, char **argv)
{
	struct options o = { "\n", 0 };
	size_t n;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-r")) {
			o.any = 1;
		} else if (!strcmp(argv[i], "-s") && i + 1 < argc) {
			o.separator = argv[++i];
		} else {
			fprintf(stderr, "usage: tac [-r] [-s SEPARATOR]\n");
			return 2;
		}
	}
	n = fread(text, 1, ROOM, stdin);
	tac(&o, text, text + n);
	return 0;
}
