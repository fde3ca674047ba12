/* mkdir - make directories in an imaginary tree, parents too (-p).
 *
 * A path is split into components. An empty component (two slashes in a row) is skipped and leaves
 * its place in the table unset; with -v, the error path for a missing parent prints the
 * component before the failing one without a look whether it is there.
 * Cure: look.   usage: main [-v] [-p | -p=no] PATH... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 16, TREE = 64, PATH = 256 };

struct options {
	int verbose, parents;
};

struct path {
	char text[PATH];
	const char *part[PARTS];
	int parts;
};

static char tree[TREE][PATH]; /* the directories that exist */
static int made;

static int split(const char *text, struct path *p)
{
	char *s;

	if (strlen(text) >= PATH)
		return -1;
	memset(p, 0, sizeof(*p));
	memcpy(p->text, text, strlen(text));
	s = p->text;
	while (*s && p->parts < PARTS) {
		if (*s == '/') {
			p->parts++; /* BUG:a */
			s++;
			continue;
		}
		p->part[p->parts++] = s;
		s += strcspn(s, "/");
		if (*s)
			*s++ = '\0';
	}
	return 0;
}

static int exists(const char *dir)
{
	int i;

	for (i = 0; i < made; i++)
		if (!strcmp(tree[i], dir))
			return 1;
	return 0;
}

static void make(const char *dir, const struct options *o)
{
	if (exists(dir) || made == TREE)
		return;
	memcpy(tree[made++], dir, strlen(dir) + 1);
	if (o->verbose)
		printf("mkdir: created '%s'\n", dir);
}

static void complain(const struct path *p, int at, const struct options *o)
{
	fprintf(stderr, "mkdir: cannot create a directory: no parent\n");
#ifdef FIXED
	if (!p->part[at - 1])
		return;
#endif
	if (o->verbose)
		fprintf(stderr, "mkdir: after '%c'\n", p->part[at - 1][0]); /* BUG:b */
}

static void make_path(const char *text, const struct options *o)
{
	char dir[PATH + PARTS] = "";
	struct path p;
	size_t n = 0;
	int i;

	if (split(text, &p) < 0) {
		fprintf(stderr, "mkdir: name too long\n");
		return;
	}
	for (i = 0; i < p.parts; i++) {
		if (!p.part[i])
			continue;
		if (i > 0 && !o->parents && !exists(dir)) {
			complain(&p, i, o);
			return;
		}
		n += (size_t)snprintf(dir + n, sizeof(dir) - n, "%s%s", n ? "/" : "", p.part[i]);
		if (o->parents || i == p.parts - 1)
			make(dir, o);
	}
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-v"))
			o.verbose = 1;
		else if (!strcmp(argv[i], "-p"))
			o.parents = 1;
		else if (!strcmp(argv[i], "-p=no"))
			o.parents = 0;
		else
			fprintf(stderr, "mkdir: ignoring %s\n", argv[i]);
	}
	for (; i < argc; i++)
		make_path(argv[i], &o);
	return 0;
}
