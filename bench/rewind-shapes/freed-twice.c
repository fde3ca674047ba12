/* The error path frees what its callee has freed already (CVE-2017-11462, CVE-2015-0235's neighbours: double free). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct token {
	char *text;
	int length;
};

static __attribute__((noinline)) int parse(struct token *t, const char *input)
{
	t->length = (int)strlen(input);
	if (t->length > 8) {
		free(t->text); /* BUG:a */
		return -1;
	}
	memcpy(t->text, input, (size_t)t->length);
	return 0;
}

static __attribute__((noinline)) int handle(const char *input)
{
	struct token t = { .text = malloc(32) };

	if (parse(&t, input) < 0) {
		free(t.text); /* BUG:a */
		return 1;
	}
	return t.length;
}

int main(int argc, char **argv)
{
	return handle(argc > 1 ? argv[1] : "a token that is too long");
}
