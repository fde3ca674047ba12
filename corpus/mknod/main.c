/* mknod - make a special file; here it only says what it would do.
 *
 * Options are checked first; then the operands. A FIFO takes no device numbers: the message that
 * says so names the first superfluous operand and, if there is one, the security context, which
 * has been cleared by then.
 * Cure: keep the context until the messages are out.
 * usage: main [-m MODE] [--context=CTX] NAME TYPE [MAJOR MINOR] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mode.h"

struct options {
	const char *mode, *context;
};

static int fail(const char *what, const char *which)
{
	fprintf(stderr, "mknod: %s %s (%zu characters)\n", what, which, strlen(which));
	return 0; /* the tool reports crashes, not complaints */
}

/* Where the context is handed to the system. Without a system there is nothing to do. */
static void context_apply(struct options *o)
{
#ifndef FIXED
	o->context = NULL; /* BUG:a */
#else
	(void)o;
#endif
}

static int extra_operands(const struct options *o, int has_context, char **operand, int n)
{
	if (has_context)
		fail("with context", o->context); /* BUG:b */
	return fail("a FIFO takes no device numbers:", operand[n - 1]);
}

static int make(struct options *o, char **operand, int n)
{
	int has_context = o->context != NULL, mode = 0666;

	if (o->mode && mode_parse(o->mode, &mode) < 0)
		return fail("invalid mode", o->mode);
	if (has_context)
		context_apply(o);
	if (n < 2)
		return fail("missing operand after", n ? operand[0] : "mknod");
	switch (operand[1][0]) {
	case 'b':
	case 'c':
	case 'u':
		if (n != 4)
			return fail("device numbers are missing for", operand[0]);
		printf("%c %s %o %d:%d\n", operand[1][0], operand[0], mode, atoi(operand[2]),
		       atoi(operand[3]));
		return 0;
	case 'p':
		if (n > 2)
			return extra_operands(o, has_context, operand, n);
		printf("p %s %o\n", operand[0], mode);
		return 0;
	default:
		return fail("invalid type", operand[1]);
	}
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-m") && i + 1 < argc)
			o.mode = argv[++i];
		else if (!strncmp(argv[i], "--context=", 10))
			o.context = argv[i] + 10;
		else
			return fail("unknown option", argv[i]);
	}
	return make(&o, argv + i, argc - i);
}
