/* ls4 - list directories of an imaginary tree, with the usual options and four null pointers.
 *
 * 1: -l with --author on a directory without entries     2: --sort=group with -R, a lost group
 * 3: --color with -F on a device, which has no colour    4: --ignore and --hide together, no match
 * Cure: each one is looked at before it is followed.
 * usage: main [OPTIONS] PATH   options: -l -t -R -F -1 --author --sort=name|size|group --color
 *        --ignore=PATTERN --hide=PATTERN */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ls.h"

static int option_long(struct options *o, const char *arg)
{
	if (!strcmp(arg, "--author"))
		o->author = 1;
	else if (!strcmp(arg, "--color"))
		o->color = 1;
	else if (!strcmp(arg, "--sort=name"))
		o->sort = SORT_NAME;
	else if (!strcmp(arg, "--sort=size"))
		o->sort = SORT_SIZE;
	else if (!strcmp(arg, "--sort=group"))
		o->sort = SORT_GROUP;
	else if (!strncmp(arg, "--ignore=", 9))
		o->ignore = arg + 9;
	else if (!strncmp(arg, "--hide=", 7))
		o->hide = arg + 7;
	else
		return -1;
	return 0;
}

static int option_short(struct options *o, const char *arg)
{
	for (arg++; *arg; arg++)
		switch (*arg) {
		case 'l':
			o->format_long = 1;
			break;
		case 't':
			o->sort = SORT_TIME;
			break;
		case 'R':
			o->recursive = 1;
			break;
		case 'F':
			o->classify = 1;
			break;
		case '1':
			o->one_per_line = 1;
			break;
		default:
			return -1;
		}
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	int i, listed = 0;

	for (i = 1; i < argc; i++) {
		int bad = 0;

		if (!strncmp(argv[i], "--", 2))
			bad = option_long(&o, argv[i]);
		else if (argv[i][0] == '-')
			bad = option_short(&o, argv[i]);
		if (bad < 0) {
			fprintf(stderr, "ls: unknown option %s\n", argv[i]);
			return 2;
		}
	}
	for (i = 1; i < argc; i++)
		if (argv[i][0] != '-') {
			list(argv[i], &o);
			listed = 1;
		}
	if (!listed)
		list("/", &o);
	return 0;
}
