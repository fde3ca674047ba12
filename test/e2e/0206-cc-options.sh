#!/usr/bin/env bash
# unplait cc: options, tools and build systems that people have around their compiler. Every program runs in every
# mode and says the same; what cannot be instrumented is said in one sentence by the command that needs it.
. "$(dirname "$0")/lib.sh"
mkdir "$work/tmp" && export TMPDIR=$work/tmp
cat >main.c <<'X'
#ifndef USES_PCH
#include <pthread.h>
#include <stdio.h>
#endif
int twice(int);
static int counter;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *arg)
{
	pthread_mutex_lock(&m);
	counter += *(int *)arg;
	pthread_mutex_unlock(&m);
	return 0;
}
int main(void)
{
	pthread_t t[2];
	int i, one = 1;
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, &one);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	printf("%d\n", twice(counter));
	return 0;
}
X
echo 'int twice(int x) { return 2 * x; }' >twice.c
printf '#ifdef __cplusplus\n#error not C\n#endif\n#include <pthread.h>\n#include <stdio.h>\n' >all.h

says() { # PROGRAM...: prints 4 in each mode, and carries our tables
	local mode got
	for mode in off path full; do
		rm -rf "$work/run" && mkdir "$work/run"
		got=$(UNPLAIT_MODE=$mode UNPLAIT_DIR=$work/run timeout 30 "$@" 2>&1)
		[ "$got" = 4 ] || not_ok "$name in mode $mode" "$got"
	done
	readelf -SW "$1" | grep -q plait.sites && ok "$name" || not_ok "$name: instrumented"
}
build() { # NAME WORDS...: compile both files with these words, run the result
	name=$1
	shift
	rm -f prog
	unplait cc "$@" main.c twice.c -o prog -lpthread >out 2>err || { not_ok "$name" "$(tail -n 5 err)"; return; }
	says ./prog
}
build "no -o for the objects" -O2 -g
build "link-time optimisation, thin" -O2 -flto=thin
build "link-time optimisation, as gcc writes it" -O2 -flto=auto -fno-fat-lto-objects
for ld in bfd gold lld; do
	if command -v ld.$ld >/dev/null; then build "-fuse-ld=$ld" -O2 -fuse-ld=$ld; fi
done
build "coverage" -O1 --coverage
is "$(echo prog-*.gcno prog-*.gcda)" "prog-main.gcno prog-twice.gcno prog-main.gcda prog-twice.gcda" "coverage is written where clang's would be"
is "$(find "$work/tmp" -name '*.gc??' | wc -l)" 0 "and nowhere else"
build "gprof" -O1 -pg
build "split debug information" -g -O1 -gsplit-dwarf
build "this machine's instructions" -O3 -march=native
build "Debian's hardening" -O2 -fstack-protector-strong -fcf-protection -fstack-clash-protection -D_FORTIFY_SOURCE=2 -fPIE -pie \
	-Wl,-z,relro -Wl,-z,now -Wl,-z,defs -Wl,--as-needed
build "stripped" -O2 -s
build "a linker map of the user's own" -O2 -Wl,-Map=own.map
has own.map twice
build "no build-id" -O2 -Wl,--build-id=none
build "save-temps" -O1 -save-temps
build "sections" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
build "-finstrument-functions" -O1 -finstrument-functions -finstrument-functions-after-inlining
for o in -Os -Oz -Ofast -Og; do build "$o" $o; done

# objects: several at once, response files, a language given by hand, -r
run 0 unplait cc -O1 -c main.c twice.c
name="several sources in one -c"
unplait cc main.o twice.o -o prog -lpthread && says ./prog
echo 'main.o -o prog "twice.o"' >words
run 0 unplait cc @words -lpthread
name="response file" && says ./prog
cp twice.c twice.inc
echo 'extern "C" int twice(int x) { auto y = 2 * x; return y; }' >twice.txt
run 0 unplait cc -O1 main.o -x c++ twice.txt -x none -o prog -lpthread
name="-x c++" && says ./prog
run 0 unplait cc -r main.o twice.o -o both.o
run 0 unplait cc both.o -o prog -lpthread
name="-r" && says ./prog
# preprocessed, bitcode and assembly inputs
run 0 unplait cc -E main.c -o main.i
run 0 unplait cc -O1 -c -emit-llvm twice.c -o twice.bc
run 0 unplait cc -O1 main.i twice.bc -o prog -lpthread
name="main.i and twice.bc" && says ./prog
printf '#define RESULT %%eax\n.globl twice\ntwice: lea (%%rdi,%%rdi), RESULT\n ret\n.section .note.GNU-stack,"",@progbits\n' >twice.S
run 0 unplait cc -O1 main.c twice.S -o prog -lpthread
name="assembly that wants the preprocessor" && says ./prog
run 0 unplait info ./prog
has out "twice.S" "info lists what is not instrumented"
run 0 unplait cc -MM main.c
has out "main.o: main.c"
run 0 unplait cc -MMD -MF dep -MT target -c main.c -o m.o
has dep "target: main.c"
# precompiled headers
run 0 unplait cc -O1 -x c-header all.h -o all.h.pch
run 0 unplait cc -O1 -DUSES_PCH -include-pch all.h.pch main.c twice.c -o prog -lpthread
name="-include-pch" && says ./prog
run 0 unplait cc -O1 -DUSES_PCH -include all.h main.c twice.c -o prog -lpthread
name="-include finds the precompiled header" && says ./prog
# a folder with blanks
mkdir "a folder"
run 0 unplait cc -O1 main.c twice.c -o "a folder/a program" -lpthread
name="blanks in names" && says "./a folder/a program"

# -static: runs; the commands that need the runtime say why not
run 0 unplait cc -O1 -static main.c twice.c -o static -lpthread
run 0 ./static
has out 4
for c in "record -o s.plait" "hunt --runs 3"; do
	run 3 unplait $c -- ./static
	has err "statically linked"
	is "$(wc -l <err)" 1 "one line"
done

# ccache in front, both ways people write it
if command -v ccache >/dev/null; then
	export CCACHE_DIR=$work/ccache
	for _ in 1 2; do
		rm -f main.o
		run 0 ccache "$UNPLAIT" cc -O1 -g -c main.c -o main.o
	done
	ccache -s >out
	is "$(sed -n 's/^ *Hits: *\([0-9]*\).*/\1/p' out | head -n 1)" 1 "ccache: the second time from the cache"
	run 0 unplait cc main.o twice.o -o prog -lpthread
	name="an object from the cache" && says ./prog
else
	skip "ccache" "not installed"
fi
finish
