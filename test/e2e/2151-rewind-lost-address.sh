#!/usr/bin/env bash
# A write to an address that its own code overwrote, and a call through a pointer: the walk goes on behind both.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }

# append() writes through last->prev and overwrites it: the node that points to the new one tells where
cat >list.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next, *prev; int *value; };
struct list { struct node *first; };
static int numbers[8];
static struct node nodes[8];
static __attribute__((noinline)) void append(struct list *l, struct node *n)
{
	if (!l->first) {
		l->first = n;
		n->prev = n;
	} else {
		l->first->prev->next = n;
		n->prev = l->first->prev;
		l->first->prev = n;
	}
}
static __attribute__((noinline)) void forget(struct node *n) { n->value = NULL; } /* the bug */
int main(void)
{
	struct list l = { 0 };
	for (int i = 0; i < 5; i++)
		nodes[i].value = &numbers[i];
	append(&l, &nodes[0]);
	append(&l, &nodes[1]);
	forget(&nodes[0]);
	append(&l, &nodes[2]);
	append(&l, &nodes[3]);
	return *l.first->value;
}
C
for cc in gcc clang-19; do
	"$cc" -O0 -g -w -o list list.c
	dump ./list
	run 1 unplait rewind dump
	has out "nodes[0].value was set to 0x0 at list.c:18 in forget" "$cc: behind two nodes that were appended"
	has out "instructions; confirmed"
done

cat >table.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct ops { int (*scale)(int); void (*drop)(int); };
static int *values[4], numbers[4];
static int twice(int x) { return 2 * x; }
static void drop(int i) { values[i] = NULL; } /* the bug */
static struct ops ops = { twice, drop };
static __attribute__((noinline)) int use(struct ops *o, int i)
{
	o->drop(i);
	return o->scale(i) + *values[i];
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 4; i++)
		values[i] = &numbers[i];
	return use(&ops, argc);
}
C
gcc -O0 -g -w -o table table.c
dump ./table
run 1 unplait rewind dump
has out "values[1] was set to 0x0 at table.c:6 in drop" "through two function pointers"
finish
