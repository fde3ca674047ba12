/* Options of the command line: getopt, getopt_long, getopt_long_only, as glibc has them. Words that are
 * no options are moved behind the options, unless the program or POSIXLY_CORRECT asks to stop there.
 * glibc moves them at the next call, we at once: the order is the same when the last option was read. */
#include "model.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum order { PERMUTE, STOP, IN_ORDER };

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

static const char *at; /* the rest of a word of short options; NULL = none */
static enum order order;

static enum order order_of(const char *opts)
{
	if (opts[0] == '-')
		return IN_ORDER;
	return opts[0] == '+' || getenv("POSIXLY_CORRECT") ? STOP : PERMUTE;
}

/* Where the letters begin. */
static const char *letters(const char *opts)
{
	return opts[0] == '-' || opts[0] == '+' ? opts + 1 : opts;
}

static int is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

/* Word `from` becomes the one at optind; those between move up by one. */
static void bring(char **argv, int from)
{
	char *word = argv[from];

	for (int i = from; i > optind; i--)
		argv[i] = argv[i - 1];
	argv[optind] = word;
}

/* The word behind an option that needs one, `skipped` words further on; NULL at the end. */
static char *next_word(int argc, char **argv, int skipped)
{
	if (optind + skipped >= argc)
		return NULL;
	bring(argv, optind + skipped);
	return argv[optind++];
}

static int missing(const char *opts)
{
	return letters(opts)[0] == ':' ? ':' : '?';
}

/* ---- long options ---- */

/* Without a branch per letter: a question about the whole word is one question. */
static int begins(const char *name, const char *word, size_t n)
{
	size_t have = strlen(name);
	int same = n <= have;

	for (size_t i = 0; i < n && i < have; i++)
		same &= name[i] == word[i];
	return same;
}

static size_t name_length(const char *word)
{
	size_t n = 0;

	while (word[n] && word[n] != '=')
		n++;
	return n;
}

/* An exact name, or the only one that begins so; -1 none, -2 several. */
static int find_long(const struct option *all, const char *word, size_t n)
{
	int found = -1;

	for (int i = 0; all[i].name; i++) {
		if (!begins(all[i].name, word, n))
			continue;
		if (strlen(all[i].name) == n)
			return i;
		if (found >= 0 && (all[found].has_arg != all[i].has_arg ||
				   all[found].flag != all[i].flag || all[found].val != all[i].val))
			found = -2;
		else if (found == -1)
			found = i;
	}
	return found;
}

static void complain(char **argv, const char *opts, const char *text, const char *word)
{
	if (opterr && letters(opts)[0] != ':')
		fprintf(stderr, "%s: %s '%s'\n", argv[0], text, word);
}

/* The word at optind, behind its dashes. */
static int long_option(int argc, char **argv, const char *opts, const struct option *all,
		       int *index, const char *word, int skipped)
{
	size_t n = name_length(word);
	int i = find_long(all, word, n);

	optind++;
	if (i < 0) {
		complain(argv, opts, i == -2 ? "ambiguous option" : "unrecognized option", word);
		optopt = 0;
		return '?';
	}
	if (word[n] == '=' && all[i].has_arg == no_argument) {
		complain(argv, opts, "option takes no argument", word);
		optopt = all[i].val;
		return '?';
	}
	if (word[n] == '=')
		optarg = (char *)word + n + 1;
	else if (all[i].has_arg == required_argument)
		optarg = next_word(argc, argv, skipped);
	if (all[i].has_arg == required_argument && !optarg) {
		complain(argv, opts, "option requires an argument", word);
		optopt = all[i].val;
		return missing(opts);
	}
	if (index)
		*index = i;
	if (!all[i].flag)
		return all[i].val;
	*all[i].flag = all[i].val;
	return 0;
}

/* ---- short options ---- */

/* The next letter of the word at optind. */
static int short_option(int argc, char **argv, const char *opts, int skipped)
{
	char letter[2] = { *at++, 0 };
	const char *o =
		letter[0] == ':' || letter[0] == ';' ? NULL : strchr(letters(opts), letter[0]);
	int wants = o && o[1] == ':' ? (o[2] == ':' ? optional_argument : required_argument)
				     : no_argument;

	if (!*at) {
		optind++;
		at = NULL;
	}
	if (!o) {
		complain(argv, opts, "invalid option --", letter);
		optopt = letter[0];
		return '?';
	}
	if (wants == no_argument)
		return letter[0];
	if (at) {
		optarg = (char *)at;
		optind++;
		at = NULL;
	} else if (wants == required_argument) {
		optarg = next_word(argc, argv, skipped);
		if (!optarg) {
			complain(argv, opts, "option requires an argument --", letter);
			optopt = letter[0];
			return missing(opts);
		}
	}
	return letter[0];
}

/* ---- both ---- */

/* How many words lie before the next option; -1 when there is none. */
static int words_before(int argc, char *const *argv)
{
	for (int i = optind; i < argc; i++)
		if (is_option(argv[i]))
			return i - optind;
		else if (order != PERMUTE)
			return -1;
	return -1;
}

/* With `only`, one dash is enough for a long option, if there is one, or if no letter is meant. */
static int is_long(const char *word, const char *opts, const struct option *all, int only)
{
	if (!all)
		return 0;
	if (word[1] == '-')
		return 2;
	if (only && (word[2] || !strchr(letters(opts), word[1])))
		return find_long(all, word + 1, name_length(word + 1)) != -1 ||
		       !strchr(letters(opts), word[1]);
	return 0;
}

static int next_option(int argc, char **argv, const char *opts, const struct option *all,
		       int *index, int only)
{
	static int skipped; /* of the word that `at` points into */
	int dashes;

	optarg = NULL;
	if (argc < 1)
		return -1;
	if (optind == 0)
		at = NULL;
	if (optind == 0 || (optind == 1 && !at))
		order = order_of(opts);
	optind += optind == 0;
	if (at)
		return short_option(argc, argv, opts, skipped);
	skipped = words_before(argc, argv);
	if (skipped < 0 && order == IN_ORDER && optind < argc) {
		optarg = argv[optind++];
		return 1;
	}
	if (skipped < 0)
		return -1;
	bring(argv, optind + skipped);
	if (!strcmp(argv[optind], "--")) {
		optind++;
		return -1;
	}
	dashes = is_long(argv[optind], opts, all, only);
	if (dashes)
		return long_option(argc, argv, opts, all, index, argv[optind] + dashes, skipped);
	at = argv[optind] + 1;
	return short_option(argc, argv, opts, skipped);
}

int getopt(int argc, char *const argv[], const char *opts)
{
	return next_option(argc, (char **)argv, opts, NULL, NULL, 0);
}
int getopt_long(int argc, char *const argv[], const char *opts, const struct option *all,
		int *index)
{
	return next_option(argc, (char **)argv, opts, all, index, 0);
}
int getopt_long_only(int argc, char *const argv[], const char *opts, const struct option *all,
		     int *index)
{
	return next_option(argc, (char **)argv, opts, all, index, 1);
}
