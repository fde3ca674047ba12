#!/usr/bin/env bash
# The symbolic machine runs programs concretely: output, exit status, errors, threads.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >a.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct s { int a; double b; char c[8]; };
static int by_value(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int main(int argc, char **argv)
{
	int v[10];
	struct s *p = malloc(sizeof *p);
	for (int i = 0; i < 10; i++)
		v[i] = rand() % 100;
	qsort(v, 10, sizeof(int), by_value);
	for (int i = 0; i < 10; i++)
		printf("%d ", v[i]);
	p->a = -5;
	p->b = 3.25;
	strcpy(p->c, "hello");
	printf("\n%d %f %s|%5d|%-5d|%05d|%x|%c|%g\n", p->a, p->b, p->c, 42, 42, 42, 255, 'x', 0.1);
	printf("%s %d\n", argc > 1 ? argv[1] : "-", argc);
	free(p);
	return 3;
}
C
clang-19 -O1 -o a a.c && ./a word >want
run 0 unplait sym run a.c word
same out want "output as native"
has err "ended with status 3"
clang-19 -O1 -g -emit-llvm -c a.c -o a.bc
run 0 unplait sym run a.bc word
same out want "the same from bitcode"
clang-19 -O0 -g -emit-llvm -c a.c -o a0.bc
run 0 unplait sym run a0.bc word
same out want "the same without optimisation"
run 0 unplait sym run --json a.c word
has out '"code": 3'

cat >bad.c <<'C'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static int at(int *p, int i) { return p[i]; }
int main(int argc, char **argv)
{
	int *p = calloc(4, sizeof(int)), kind = argc > 1 ? atoi(argv[1]) : 0, *volatile null = NULL;
	volatile int zero = 0;
	switch (kind) {
	case 1: return at(p, 4);
	case 2: free(p); return at(p, 0);
	case 3: free(p); free(p); return 0;
	case 4: return *null;
	case 5: return 100 / zero;
	case 6: assert(kind == 0); return 0;
	case 7: abort();
	case 8: free(p + 1); return 0;
	}
	free(p);
	return 0;
}
C
run 0 unplait sym run bad.c 0
i=0
for kind in out-of-bounds use-after-free double-free null-dereference division-by-zero assert abort bad-free; do
	i=$((i + 1))
	run 1 unplait sym run bad.c $i
	has err "$kind:" "$kind is recognised"
done
run 1 unplait sym run bad.c 1
has err "bad.c:5" "with its source line"

cat >odd.c <<'C'
int main(int argc, char **argv)
{
	unsigned a = 1;
	if (argc > 1)
		__asm__ volatile("cpuid" : "+a"(a) : : "ebx", "ecx", "edx");
	return 0;
}
C
run 0 unplait sym run odd.c
run 3 unplait sym run odd.c x
has err "inline assembly"
has err "odd.c:5"
run 3 unplait sym trace some.plait
has err "some.plait"
run 2 unplait sym dance odd.c
run 3 unplait sym run no-such-file.bc
printf 'BC\300\336garbage' >broken.bc
run 3 unplait sym run broken.bc

for name in bank stringbuf pbzip2; do
	dir=$CORPUS/$name
	[ -d "$dir" ] || continue
	bcs=
	for s in $(sed -n 's/^sources = //p' "$dir/bug.toml" | tr -d '[]",'); do
		clang-19 -DFIXED -O1 -g -emit-llvm -c -o "$name-${s%.c}.bc" "$dir/$s"
		bcs="$bcs $name-${s%.c}.bc"
	done
	llvm-link-19 -o $name.bc $bcs
	clang-19 -DFIXED -O1 -pthread -o $name $(for s in $bcs; do echo $s; done) && ./$name >want
	for seed in 0 1 2 3; do
		run 0 unplait sym run --seed $seed $name.bc
	done
	run 0 unplait sym run $name.bc
	same out want "corpus $name prints what it prints natively"
done
finish
