/* Failures in which input has a part, or none; the first argument chooses. test/e2e/2142-rewind-input.sh has the answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <signal.h>
struct rec { char name[16]; void (*done)(void); };
static struct rec rec;
static char *table[4];
static long numbers[4];
static void fine(void) { puts("fine"); }
static __attribute__((noinline)) void deep(volatile char *p) { volatile char b[4096]; b[0] = *p; deep(b); p[0] = b[1]; }
int main(int argc, char **argv)
{
	char line[64] = "";
	char *end;
	switch (argc > 1 ? argv[1][0] : 0) {
	case 'p': /* pc from an argument */
		rec.done = fine;
		strcpy(rec.name, argv[2]);
		rec.done();
		break;
	case 'w': /* address of a write from standard input */
		if (read(0, line, sizeof(line)) > 0)
			*(long *)(*(long *)line) = 5;
		break;
	case 'i': /* index from an argument */
		numbers[atoi(argv[2])] = 7;
		break;
	case 'v': /* nothing of the input: a constant address */
		if (fgets(line, sizeof(line), stdin))
			*(char *)16 = line[0];
		break;
	case 'n': /* read of null */
		return *table[2];
	case 'l': /* length from an argument */
		memset(rec.name, 0, strtoul(argv[2], &end, 10));
		break;
	case 'a':
		abort();
	case 'd':
		return argc / (argc - 3);
	case 's':
		deep(line);
		break;
	case 'f':
		free(line + 8);
		break;
	case 'g': /* getenv */
		strcpy(rec.name, getenv("NAME"));
		rec.done();
		break;
	}
	return 0;
}
