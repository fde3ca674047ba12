#!/usr/bin/env bash
# The unplait build is optimised, and clang made one call of two equal ones: that frame of its run has no line. It is the
# dump's caller all the same, if the shipped binary says so; the program that was mended is not.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >options.cc <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum wanted { ALWAYS, NEVER, OPTIONAL };
struct option {
	char name;
	wanted operand;
	void (*take)(char name, const char *operand);
};
static size_t length;
static void usage()
{
	puts("an operand is missing");
	exit(2);
}
static void quiet(char name, const char *operand)
{
	printf("%c %d\n", name, operand != NULL);
}
static void count(char name, const char *operand)
{
	length += strtol(operand, NULL, 0);
	printf("%c %zu\n", name, length);
}
static void parse(int argc, char **argv, int n, const option *all)
{
	for (int i = 1; i < argc; i++)
		for (int k = 0; k < n; k++) {
			const char *operand = NULL;

			if (argv[i][0] != all[k].name)
				continue;
			if (all[k].operand != NEVER && argv[i][1])
				operand = argv[i] + 1;
			switch (all[k].operand) {
			case ALWAYS:
				if (operand == NULL)
					usage();
				else
					(*all[k].take)(all[k].name, operand);
				break;
			/*
			 * The same call for those that never have an operand, and for those that may have one.
			 *
			 *
			 *
			 */
			case NEVER:
			case OPTIONAL:
				(*all[k].take)(all[k].name, operand);
				break;
			}
			break;
		}
}
static const option options[] = { { 'q', NEVER, quiet }, { 'n', OPTIONAL, count }, { 'o', ALWAYS, count } };
int main(int argc, char **argv)
{
	parse(argc, argv, 3, options);
	puts("done");
	return 0;
}
C
sed 's/length += strtol/length += operand == NULL ? 0 : strtol/' options.cc >mended.cc
g++ -O2 -g -o shipped options.cc
dump_of a.core ./shipped n </dev/null
run 0 unplait c++ -O2 -g -o prog options.cc
for facts in stack all; do
	run 1 unplait synth --facts $facts --time 20 -o $facts.plait a.core ./prog
	has out "parse at options.cc:50"
	has out "confirmed in the unplait build and in the shipped binary"
done
run 0 unplait c++ -O2 -g -o mended mended.cc
for facts in stack all; do
	"$UNPLAIT" synth --facts $facts --time 2 -o mended.plait a.core ./mended >out
	is "$(($? == 4 || $? == 0))" 1 "of the mended program nothing is found, --facts $facts"
done
finish
