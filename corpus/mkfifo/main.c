/* mkfifo - make FIFOs, with a mode of comma-separated clauses; here it only says what it would do.
 *
 * The parser cuts the mode into clauses. When a clause is bad it frees what it has and says so;
 * the caller's message quotes the clause, which is null when the bad one was not the last.
 * Cure: quote the whole mode.   usage: main [-m MODE] NAME... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLAUSES = 8 };

struct mode {
	const char *text;
	const char *clause[CLAUSES];
	int clauses;
	const char *bad;
};

static int clause_ok(const char *c, size_t n)
{
	size_t i = 0;

	while (i < n && strchr("ugoa", c[i]))
		i++;
	if (i == n || !strchr("+-=", c[i]))
		return 0;
	for (i++; i < n; i++)
		if (!strchr("rwx", c[i]))
			return 0;
	return 1;
}

static int mode_parse(const char *text, struct mode *m)
{
	m->text = text;
	while (m->clauses < CLAUSES) {
		size_t n = strcspn(text, ",");

		if (!clause_ok(text, n)) {
			m->bad = text[n] ? m->clause[m->clauses] : text; /* BUG:a */
			return -1;
		}
		m->clause[m->clauses++] = text;
		if (!text[n])
			return 0;
		text += n + 1;
	}
	return -1;
}

static void complain(const struct mode *m)
{
#ifdef FIXED
	fprintf(stderr, "mkfifo: invalid mode '%s'\n", m->text);
#else
	size_t n = strcspn(m->bad, ","); /* BUG:b */

	fprintf(stderr, "mkfifo: invalid mode '%.*s'\n", (int)n, m->bad);
#endif
}

int main(int argc, char **argv)
{
	struct mode m = { 0 };
	int i = 1;

	if (argc > 2 && !strcmp(argv[1], "-m")) {
		if (mode_parse(argv[2], &m) < 0) {
			complain(&m);
			return 0; /* the tool reports crashes, not complaints */
		}
		i = 3;
	}
	if (i == argc)
		fprintf(stderr, "mkfifo: missing operand\n");
	for (; i < argc; i++)
		printf("p %s %d\n", argv[i], m.clauses);
	return 0;
}
