#!/usr/bin/env bash
# unplait cc: the shapes a link can have. Every program runs in every variant and says the same.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "shapes" "libplait.a is not built"; finish; }

# says WANT PROGRAM...: in modes off, path and full the program prints WANT
says() {
	local want=$1 mode got
	shift
	for mode in off path full; do
		rm -rf "$work/run"
		mkdir "$work/run"
		got=$(UNPLAIT_MODE=$mode UNPLAIT_DIR=$work/run timeout 30 "$@" 2>&1)
		is "$got" "$want" "$(basename "$1") in mode $mode"
	done
}

cat >lib.c <<'X'
#include <stdlib.h>
static int calls;
static int helper(int x) { return x + calls; }
int lib_add(int a, int b) { calls++; return a + helper(b) - calls; }
int lib_apply(int (*f)(int), int x) { return f(x); }
__attribute__((constructor)) static void start(void) { calls = 10; }
X
cat >main.c <<'X'
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
int lib_add(int, int);
int lib_apply(int (*)(int), int);
struct big { int x[20]; double d; };
static int sum(int n, ...)
{
	va_list ap;
	int s = 0;
	va_start(ap, n);
	while (n-- > 0) s += va_arg(ap, int);
	va_end(ap);
	return s;
}
static int (*const vsum)(int, ...) = sum;
static struct big make(int k) { struct big b; memset(&b, k, sizeof(b)); b.d = k; return b; }
static struct big (*volatile maker)(int) = make;
static double total(struct big b) { return b.d + b.x[3]; }
static double (*volatile totaler)(struct big) = total;
static int twice(int x) { return 2 * x; }
static __thread int mine = 5;
static void *work(void *p) { mine += lib_add(*(int *)p, 1); return (void *)(long)mine; }
extern __attribute__((weak)) int missing(void);
__attribute__((weak)) int replaceable(void) { return 1; }
static const char *sw(int k)
{
	switch (k) { case 1: return "one"; case 5: return "five"; case 9: return "nine"; default: return "?"; }
}
static int jump(int k)
{
	static void *const table[] = { &&a, &&b, &&c };
	goto *table[k % 3];
a: return 10;
b: return 20;
c: return 30;
}
static int (*volatile jumper)(int) = jump;
int main(int argc, char **argv)
{
	pthread_t t;
	int v = 3;
	void *r;
	(void)argv;
	pthread_create(&t, NULL, work, &v);
	pthread_join(t, &r);
	printf("%d %d %d %g %ld %d %s %s %d %d %d\n", lib_add(1, 2), lib_apply(twice, 21), vsum(3, 1, 2, 3),
	       totaler(maker(0)), (long)r, mine, sw(argc), sw(9), missing ? 1 : 0, replaceable(), jumper(argc));
	return 0;
}
X
want="3 42 6 0 9 5 one nine 0 1 20"
for o in -O0 -O2; do
	run 0 unplait cc $o main.c lib.c -o prog
	says "$want" ./prog
	run 0 unplait cc $o -fPIC -shared lib.c -o libx.so
	run 0 unplait cc $o main.c -L. -lx -Wl,-rpath,"$work" -o prog-so
	says "$want" ./prog-so
	run 0 unplait cc $o -fno-pie -no-pie main.c lib.c -o prog-nopie
	says "$want" ./prog-nopie
	run 0 unplait cc $o -c main.c lib.c
	run 0 unplait cc -r main.o lib.o -o both.o
	run 0 unplait cc both.o -o prog-r
	says "$want" ./prog-r
	run 0 unplait cc $o -static main.c lib.c -o prog-static
	is "$(./prog-static)" "$want" "-static runs"
	run 0 unplait cc $o -fno-lto -c lib.c -o native.o
	run 0 unplait cc main.o native.o -o prog-native
	says "$want" ./prog-native
done
if command -v ld.lld >/dev/null; then
	run 0 unplait cc -O2 -fuse-ld=lld main.c lib.c -o prog-lld
	says "$want" ./prog-lld
fi
run 0 unplait cc -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections main.c lib.c -o prog-gc
says "$want" ./prog-gc
run 0 unplait cc -O2 -flto main.c lib.c -o prog-lto
says "$want" ./prog-lto
run 0 unplait cc -O1 -fsanitize=undefined main.c lib.c -o prog-ubsan
says "$want" ./prog-ubsan
rm -f liball.a libthin.a
ar rcs liball.a main.o lib.o
run 0 unplait cc -Wl,--whole-archive liball.a -Wl,--no-whole-archive -o prog-whole
says "$want" ./prog-whole
# two members of one name, as a build of the same source for two widths leaves them
mkdir -p a b
cp lib.c a/t.c
echo 'int other(void) { return 1; } int twice_other(void) { return 2 * other(); }' >b/t.c
echo 'int twice_other(void); int also(void) { return twice_other(); }' >also.c
for d in a b; do unplait cc -O1 -c $d/t.c -o $d/t.o; done
rm -f libtwo.a
ar qcs libtwo.a a/t.o b/t.o
run 0 unplait cc main.o libtwo.a -o prog-two-one # only the first is used
says "$want" ./prog-two-one
run 0 unplait cc -O1 also.c main.o libtwo.a -o prog-two-both
says "$want" ./prog-two-both
nm prog-two-both >symbols
has symbols twice_other
rm -f libtwo.a
ar qcs libtwo.a b/t.o a/t.o
run 0 unplait cc main.o libtwo.a -o prog-two-second # only the second is used
says "$want" ./prog-two-second
ar rcsT libthin.a lib.o
run 0 unplait cc main.o libthin.a -o prog-thin
says "$want" ./prog-thin

printf '%s\n' '-O2 "main.c"' 'lib.c -o' prog-rsp >words
run 0 unplait cc @words
says "$want" ./prog-rsp
run 0 unplait cc -O2 -MMD main.c lib.c -o prog-deps
has prog-deps.d prog-deps
run 0 bash -c "unset -f unplait; '$UNPLAIT' cc -x c - -o piped <<<'int main(void){return 7;}'"
run 7 ./piped
run 0 unplait cc -E main.c
has out "int lib_add(int, int);"
run 0 unplait cc -S -O1 lib.c -o lib.s
has lib.s lib_add
hasnt lib.s .llvm.lto
run 0 unplait cc main.o lib.s -o prog-asm
says "$want" ./prog-asm
run 0 unplait cc -M lib.c
has out "lib.o: lib.c"
run 0 unplait cc --version
has out clang
run 0 unplait cc -fsyntax-only main.c
run 1 unplait cc -O2 main.c -DBROKEN='@' -include /nonexistent/x.h -o nothing
hasnt err "unplait:"
echo 'int main(void){return 0}' >conftest.c
run 1 unplait cc conftest.c -o conftest
echo 'char strcasestr(); int main(void){ return strcasestr(); }' >conftest.c
run 0 unplait cc -w conftest.c -o conftest
# pointers first met when the analysis asks where input flows (it crashed on them)
run 0 unplait cc -O2 -g -o uncalled "$top/test/programs/uncalled.c"
run 0 ./uncalled
# an allocator of the program's own
for f in "" -fsanitize=undefined; do
	run 0 unplait cc -O1 -g $f -fno-builtin -o own-malloc "$top/test/programs/own-malloc.c" -lpthread
	says 2 ./own-malloc
done
finish
