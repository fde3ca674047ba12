#!/usr/bin/env bash
# Causes: an overflow behind calls of libc, a failed assertion, an unchecked result, a stack that is exhausted.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }

cp "$top"/test/programs/rewind-*.c .
gcc -O2 -g -w -o overflow rewind-overflow.c
dump ./overflow
run 1 unplait rewind dump
has out "(past the end): recs[1].count was overwritten past the end of recs[1].name[0] by memcpy"
has out "rewind-overflow.c:10 in set_name"
has out "confirmed but for the skipped calls"

for cc in gcc clang-19; do
	"$cc" -O2 -g -o assertion rewind-assert.c
	dump ./assertion
	run 1 unplait rewind --time 5 dump
	has out "balance[1] was set to 0xffffffec at rewind-assert.c:8" "$cc: the account that went negative"
	has out "confirmed up to the call of libc: run natively"
done

cat >unchecked.c <<'END'
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	char *home = getenv(argc > 5 ? argv[1] : "A_VARIABLE_THAT_IS_NOT_SET");
	return home[0] + argc;
}
END
gcc -O2 -g -o unchecked unchecked.c
dump ./unchecked
run 1 unplait rewind dump
has out "cause (result not checked): the result of getenv, 0x0, was used without a check"

cat >given.c <<'END'
#include <string.h>
static const char *names[3] = { "one", "two", "three" };
static __attribute__((noinline)) void rename_it(int i, long v) { names[i] = (const char *)v; }
int main(int argc, char **argv)
{
	size_t n = 0;
	rename_it(1, argc * 77);
	for (int i = 0; i < 3; i++)
		n += strlen(names[i]);
	return (int)n;
}
END
gcc -O1 -g -fno-builtin -o given given.c
dump ./given
run 1 unplait rewind dump
has out "names[1] was set to 0x4d at given.c:3 in rename_it" "libc was given a bad pointer: who made it"

cat >last.c <<'END'
static int numbers[4], *slots[4];
static void clear(int **p) { *p = 0; }
static void reset(int i)
{
	switch (i) {
	case 2: clear(&slots[i]); break; /* gcc -O0: a block of one "nop" lies behind the call */
	}
}
int main(void)
{
	for (int i = 0; i < 4; i++)
		slots[i] = &numbers[i];
	reset(2);
	return *slots[2];
}
END
gcc -O0 -g -o last last.c
dump ./last
run 1 unplait rewind dump
has out "slots[2] was set to 0x0 at last.c:2 in clear" "a block that does nothing, behind a call"

cat >deep.c <<'END'
static volatile int n;
int down(int k) { volatile char room[2000]; room[k % 2000] = 1; n++; return down(k + 1) + room[5]; }
int main(void) { return down(1); }
END
gcc -O0 -g -o deep deep.c
dump ./deep
run 1 unplait rewind --blocks 20 dump
has out "cause (stack exhausted)"

# C++ that ends by an exception, with long ways back through libstdc++
cat >options.cc <<'C'
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
struct Option { std::string name; int value; };
static std::vector<Option> options;
static void add(const char *arg)
{
	const char *eq = strchr(arg, '=');
	options.push_back({std::string(arg, eq), atoi(eq + 1)});
}
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) add(argv[i]);
	for (auto &o : options) printf("%s %d\n", o.name.c_str(), o.value);
}
C
g++ -O2 -g -o options options.cc
dump ./options verbose
unplait rewind --time 8 dump >out 2>err
status=$?
[ $status -eq 0 ] || [ $status -eq 1 ] || [ $status -eq 4 ] && ok "C++ ends with an answer" || not_ok "C++ ends with an answer" "status $status" "$(tail -n 2 err)"
hasnt err "Assertion"
finish
