#!/usr/bin/env bash
# A budget holds in a program of many functions that hand pointers to each other, and a dump of our own build
# is as good as one of another: the runtime's frames are not the program's.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

soup() { # FUNCTIONS: every pointer may be any of the nodes
	echo '#include <stdlib.h>'
	echo 'struct node { struct node *a, *b, *c, *d; };'
	echo 'static struct node *all, *some;'
	for ((i = 0; i < $1; i++)); do
		echo "static struct node v$i;"
		echo "static void f$i(struct node *x) { v$i.a = x; x->b = &v$i; if (all) { all->a->b = x->c;"
		echo "x->a = all->b->d; some = x->c ? x->c : all; all->c = some; some->d->a->b = all; }"
		echo "all = x->a ? x->a->b : x; }"
	done
	echo 'static void (*const calls[])(struct node *) = {'
	for ((i = 0; i < $1; i++)); do echo "f$i,"; done
	echo '}; int main(int argc, char **argv) { int k = argc > 1 ? atoi(argv[1]) : 0;'
	echo 'calls[k % 3](&v0); if (k == 77) *(volatile int *)0 = 1; }'
}
soup 500 >soup.c
run 0 unplait cc -g -O1 -o soup soup.c
dump_of soup.core ./soup 77 </dev/null
(
	ulimit -t 8
	"$UNPLAIT" synth --facts stack --time 3 -o s.plait soup.core ./soup
) >out 2>&1
is "$(($? < 5))" 1 "three seconds are not more than eight of processor time"

cat >own.c <<'C'
#include <stdlib.h>
static void check(int k)
{
	if (k == 77)
		abort();
}
int main(int argc, char **argv)
{
	check(argc > 1 ? atoi(argv[1]) : 0);
}
C
run 0 unplait cc -g -O0 -o own own.c
dump_of own.core ./own 77 </dev/null
run 1 unplait synth --facts stack --time 60 -o o.plait own.core ./own
has out "check at own.c:5"
hasnt out "rt/core" "the runtime's frame is not shown"
hasnt out "has no direction"
finish
