#!/usr/bin/env bash
# A program with long options, whose failing call lies in a statement of several lines: gcc and clang name
# different lines for it. Found from the stack alone; the cured one is not.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >tool.c <<'C'
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static const struct option longs[] = { { "context", required_argument, NULL, 'Z' },
				       { "verbose", no_argument, NULL, 'v' },
				       { NULL, 0, NULL, 0 } };
__attribute__((noinline)) static const char *quote(const char *text)
{
	static char room[64];
	size_t n = 0;

	for (room[n++] = '`'; text[n - 1] && n < sizeof(room) - 2; n++)
		room[n] = text[n - 1];
	room[n] = '\'';
	return room;
}
__attribute__((noinline)) static int complain(int status, const char *text, const char *what, int verbose)
{
	fprintf(stderr, "%s %s %d\n", text, what, verbose);
	return status;
}
int main(int argc, char **argv)
{
	const char *context = NULL;
	int c, verbose = 0;

	while ((c = getopt_long(argc, argv, "vZ:", longs, NULL)) != -1) {
		if (c == 'v')
			verbose++;
		else if (c == 'Z')
			context = optarg;
		else
			return 1;
	}
	if (context && !verbose)
		return complain(2,
				"cannot set the context to",
#ifdef FIXED
				quote(context),
#else
				quote(optarg),
#endif
				verbose);
	return argc - optind > 3;
}
C
gcc -O2 -g -o tool-gcc tool.c
dump_of tool.core ./tool-gcc name --context=here </dev/null
run 0 unplait cc -g -O0 -o tool tool.c
for facts in stack all; do
	run 1 unplait synth --facts $facts -o s.plait tool.core ./tool
	has out "confirmed in the unplait build and in the shipped binary"
	run 1 unplait replay s.plait
done
run 0 unplait cc -g -O0 -DFIXED -o cured tool.c
"$UNPLAIT" synth --facts stack --time 5 -o c.plait tool.core ./cured >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
[ ! -e c.plait ] && ok "and leaves no plait" || not_ok "and leaves no plait"
finish
