#!/usr/bin/env bash
# The machine's getopt, getopt_long and getopt_long_only, and its wide characters, print what glibc's print: 600 random command lines.
# level: check
. "$(dirname "$0")/lib.sh"

cat >options.c <<'C'
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>
static unsigned long seed = 7;
static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(seed >> 33) % n;
}
static int flag;
static const struct option longs[] = { { "verbose", no_argument, NULL, 'v' },
				       { "version", no_argument, NULL, 'V' },
				       { "mode", required_argument, NULL, 'm' },
				       { "modern", no_argument, &flag, 3 },
				       { "out", optional_argument, NULL, 'o' },
				       { NULL, 0, NULL, 0 } };
static const char *const words[] = { "a", "b", "-", "--", "-v", "-vm", "-m", "-mx", "-o", "-oy", "-q", "-vq", "-:",
				     "--verbose", "--ver", "--verb", "--mode", "--mode=1", "--mod", "--moder", "--out",
				     "--out=2", "--verbose=3", "--none", "-out", "-mode", "-verb", "--m", "" };
static const char *const forms[] = { "vm:o::", "+vm:o::", "-vm:o::", ":vm:o::", "v", "+:vm:" };
static void once(int which, const char *form)
{
	char *argv[9] = { "prog" }, copy[9][16];
	int argc = 1 + (int)draw(8), c, index;

	for (int i = 1; i < argc; i++) {
		snprintf(copy[i], sizeof(copy[i]), "%s", words[draw(sizeof(words) / sizeof(*words))]);
		argv[i] = copy[i];
	}
	optind = flag = opterr = 0;
	do {
		index = -1;
		c = which == 0	 ? getopt(argc, argv, form)
		    : which == 1 ? getopt_long(argc, argv, form, longs, &index)
				 : getopt_long_only(argc, argv, form, longs, &index);
		printf("%d %s %d %d;", c, optarg ? optarg : "-", index, flag);
		if (c == '?' || c == ':')
			printf("opt %d;", optopt);
	} while (c != -1);
	printf(" %d:", optind);
	for (int i = 0; i < argc; i++)
		printf(" %s", argv[i]);
	puts("");
}
int main(void)
{
	wchar_t w = 0;
	char b[4];

	for (int i = 0; i < 600; i++)
		once(i % 3, forms[draw(6)]);
	for (int i = 0; i < 256; i++) {
		b[0] = (char)i;
		int n = (int)mbrtowc(&w, b, 1, NULL);
		printf("%d %d %d %d %d %d;", i, n, n >= 0 ? (int)w : 0, (int)btowc(i) , !!iswprint((wint_t)i), (int)towupper((wint_t)i));
	}
	return 0;
}
C
clang-19 -g -w -O1 -emit-llvm -c -o options.bc options.c && clang-19 -o options options.bc
LC_ALL=C ./options >want
run 0 unplait sym run options.bc
is "$(wc -l <want)" 600 "600 command lines"
cmp -s want out && ok "the model answers as glibc does" || not_ok "the model answers as glibc does" "$(diff want out | head -6)"
finish
