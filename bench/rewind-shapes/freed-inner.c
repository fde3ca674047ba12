/* White space is skipped by moving the pointer that is freed in the end (CVE-2015-8370's kin: free of a pointer into a
 * block). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char *text;
	int words;
};

static __attribute__((noinline)) void skip_space(struct line *l)
{
	while (*l->text == ' ')
		l->text++; /* BUG:a */
}

static __attribute__((noinline)) void line_free(struct line *l)
{
	free(l->text);
	l->text = NULL;
}

int main(int argc, char **argv)
{
	struct line l = { .text = malloc(64) };

	strcpy(l.text, argc > 1 ? argv[1] : "   three blanks before it");
	skip_space(&l);
	l.words = l.text[0] != 0;
	line_free(&l);
	return l.words;
}
