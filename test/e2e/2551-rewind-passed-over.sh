#!/usr/bin/env bash
# A loop whose number of turns nobody can tell lies between the write and the crash, and its first block is right behind a call:
# it is passed over, and the write before that call is named. The same with free() instead of a write.
# level: long
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >mix.c <<'C'
#include <stdio.h>
static int numbers[4];
static int *values[4] = { numbers, numbers + 1, numbers + 2, numbers + 3 };
static unsigned state[128];
static int turns;
static __attribute__((noinline)) void drop(int i)
{
	values[i] = NULL; /* the bug */
}
static __attribute__((noinline)) unsigned stir(unsigned with)
{
	unsigned sum = 0;

	for (int i = 0; i < 128; i++) {
		state[i] = state[(i * 7 + with) % 128] * 31 + with;
		sum ^= state[i] >> 3;
	}
	return sum;
}
static __attribute__((noinline)) int use(int i)
{
	drop(i);
	puts("go");
	for (;;) {
		if (state[3] % 4096 == 9 || turns > 400)
			break;
		turns++;
		state[0] ^= stir(turns);
	}
	return *values[i];
}
int main(int argc, char **argv)
{
	state[1] = 7;
	return use(argc);
}
C
gcc -O0 -g -o mix mix.c
(ulimit -c unlimited && exec ./mix) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind --time 12 dump
has out "likely cause (bad value written): values[1] was set to 0x0 at mix.c:8 in drop"
has out "parts of the program were not walked through"

sed -e 's/^static int \*values.*/#include <stdlib.h>\nstatic struct node { int *value; long more[3]; } *nodes[4];/' \
	-e 's/values\[i\] = NULL;.*/free(nodes[i]); \/* too early *\//' -e 's/\*values\[i\]/*nodes[i]->value/' \
	-e 's/^\tstate\[1\] = 7;/&\n\tfor (int i = 0; i < 4; i++)\n\t\tnodes[i] = calloc(1, sizeof(struct node));/' \
	mix.c >freed.c
gcc -O0 -g -w -o freed freed.c
(ulimit -c unlimited && exec ./freed) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind --time 12 dump
has out "likely cause (freed memory): "
has out "it was freed at freed.c:9 in drop"
finish
