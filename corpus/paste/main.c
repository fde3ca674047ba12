/* paste - merge lines, with a list of delimiters (-d) in which backslash escapes.
 *
 * The list is collapsed in place: \n, \t, \\ and \0 become one character. A list that ends in a lone
 * backslash makes the parser step over the terminating zero, and the pointer it then keeps for
 * free() is not the one malloc() returned.
 * Cure: a backslash at the end stands for itself.
 * usage: main [-d LIST] [-s] WORD...   (each word stands for a file: its letters are the lines) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	char *delims;     /* collapsed */
	char *delims_end; /* one past the last */
	char *to_free;
	int serial;
};

static char *copy_string(const char *s)
{
	size_t n = strlen(s) + 2; /* room for a second terminator */
	char *copy = calloc(1, n);

	if (!copy)
		exit(3);
	memcpy(copy, s, n - 2);
	return copy;
}

static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '0':
		return '\0';
	default:
		return c;
	}
}

/* Undo the backslashes of `list` in place. */
static void collapse_escapes(struct options *o, const char *list)
{
	char *start = copy_string(list), *in = start, *out = start;

	o->to_free = start;
	while (*in) {
		if (*in != '\\') {
			*out++ = *in++;
			continue;
		}
#ifdef FIXED
		if (in[1] == '\0') {
			*out++ = *in++;
			break;
		}
#endif
		*out++ = unescape(in[1]);
		in += 2;
		if (in[-1] == '\0')
			o->to_free = in; /* BUG:a */
	}
	o->delims = start;
	o->delims_end = out;
}

static char delim_at(const struct options *o, size_t i)
{
	size_t n = (size_t)(o->delims_end - o->delims);

	return n ? o->delims[i % n] : '\t';
}

static void put(char c)
{
	if (c)
		putchar(c);
}

/* One line per file. */
static void paste_serial(const struct options *o, char **files, int n)
{
	int f;

	for (f = 0; f < n; f++) {
		const char *s = files[f];
		size_t i;

		for (i = 0; s[i]; i++) {
			if (i > 0)
				put(delim_at(o, i - 1));
			putchar(s[i]);
		}
		putchar('\n');
	}
}

/* Line by line through all files. */
static void paste_parallel(const struct options *o, char **files, int n)
{
	size_t i, longest = 0;
	int f;

	for (f = 0; f < n; f++)
		if (strlen(files[f]) > longest)
			longest = strlen(files[f]);
	for (i = 0; i < longest; i++) {
		for (f = 0; f < n; f++) {
			if (i < strlen(files[f]))
				putchar(files[f][i]);
			put(f + 1 < n ? delim_at(o, (size_t)f) : '\n');
		}
	}
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	const char *list = "\t";
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (!strcmp(argv[i], "-s")) {
			o.serial = 1;
		} else if (!strcmp(argv[i], "-d") && i + 1 < argc) {
			list = argv[++i];
		} else {
			fprintf(stderr, "usage: paste [-s] [-d LIST] WORD...\n");
			return 2;
		}
	}
	collapse_escapes(&o, list);
	if (o.serial)
		paste_serial(&o, argv + i, argc - i);
	else
		paste_parallel(&o, argv + i, argc - i);
	free(o.to_free); /* BUG:b */
	return 0;
}
