/* base/opt.h - command-line options from a table; the same table prints --help.
 *
 *	struct hunt_opts o = { .runs = 1000 };
 *	const struct opt table[] = {
 *		OPT_U64('n', "runs", "N", &o.runs, "stop after N runs"),
 *		OPT_FLAG(0, "all", &o.all, "go on after the first failure"),
 *		OPT_END,
 *	};
 *	err = opt_parse(table, &argc, &argv);
 *
 * Parsing stops at `--` (dropped) or at the first word that is not an option; opt_parse_mixed
 * lets options and words come in any order up to `--`. After the call argv[0..argc) are the
 * words that remain. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strbuf;
struct strings;

enum opt_type {
	OPT_IS_END,
	OPT_IS_FLAG,
	OPT_IS_U64,
	OPT_IS_COUNT, /* as U64, but not 0 */
	OPT_IS_REAL,
	OPT_IS_STR,
	OPT_IS_LIST,
	OPT_IS_OPTSTR
};

struct opt {
	enum opt_type type;
	char letter;	  /* 0 = none */
	const char *name; /* without the dashes */
	const char *arg;  /* what --help calls the argument */
	void *value;	  /* bool *, uint64_t *, double *, const char **, struct strings * */
	const char *help;
};

/* A list option collects its arguments here; borrowed from argv. */
struct strings {
	const char **data;
	size_t len, cap;
};

/* numbers are not negative */
#define OPT_FLAG(l, n, v, h)	 { OPT_IS_FLAG, l, n, NULL, v, h }
#define OPT_U64(l, n, a, v, h)	 { OPT_IS_U64, l, n, a, v, h }
#define OPT_COUNT(l, n, a, v, h) { OPT_IS_COUNT, l, n, a, v, h }
#define OPT_REAL(l, n, a, v, h)	 { OPT_IS_REAL, l, n, a, v, h }
#define OPT_STR(l, n, a, v, h)	 { OPT_IS_STR, l, n, a, v, h }
#define OPT_LIST(l, n, a, v, h)	 { OPT_IS_LIST, l, n, a, v, h }
/* --name or --name=ARG; without an argument the value becomes "" */
#define OPT_OPTSTR(l, n, a, v, h) { OPT_IS_OPTSTR, l, n, a, v, h }
#define OPT_END			  { OPT_IS_END, 0, NULL, NULL, NULL, NULL }

struct err *opt_parse(const struct opt *table, int *argc, char ***argv);
struct err *opt_parse_mixed(const struct opt *table, int *argc, char ***argv);
/* One line per option, aligned, for --help. */
void opt_help(const struct opt *table, struct strbuf *out);

#endif
