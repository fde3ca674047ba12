#!/usr/bin/env bash
# gcc -O2 moves what rarely runs out of the function. A loop over a list in such a function is taken as a whole all the same: the
# node that was read last is lost, but from the list's beginning on the loop tells it. The table of a switch may lead there, too.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >list.c <<'C'
#include <stdio.h>
struct node { struct node *next; const char *text; };
static struct node nodes[6];
static long sum;
static __attribute__((cold, noinline)) void complain(const char *text)
{
	fprintf(stderr, "bad text %s\n", text);
}
static __attribute__((noinline)) int weigh(struct node **n)
{
	int k = 0;

	for (const char *p = (*n)->text; *p; p++)
		k = k * 3 + *p;
	*n = (*n)->next;
	return k;
}
static __attribute__((noinline)) void cut(struct node *n)
{
	n->next = (struct node *)24; /* the bug */
}
static __attribute__((noinline)) long walk(struct node *from)
{
	struct node *n = from;
	long all = 0;

	while (n) {
		int k = weigh(&n);

		if (k == 12345)
			complain(n->text);
		all += k;
	}
	return all;
}
int main(int argc, char **argv)
{
	static const char *const texts[] = { "tea", "coffee", "cocoa", "milk", "water", "mate" };

	for (int i = 0; i < 6; i++) {
		nodes[i].text = texts[i];
		nodes[i].next = i < 5 ? &nodes[i + 1] : NULL;
	}
	cut(&nodes[2 + argc]);
	sum = walk(nodes);
	return sum > 0;
}
C
gcc -O2 -g -w -o list list.c
nm list | grep -q '[.]cold' && ok "a part of the function lies elsewhere" || not_ok "a part of the function lies elsewhere"
(ulimit -c unlimited && exec ./list) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind dump
has out "nodes[3].next was set to 0x18 at list.c:20 in cut"
has out "; confirmed"

cat >machine.c <<'C'
#include <stdio.h>
struct op { int kind; int *value; };
static int some[3] = { 3, 4, 5 };
static struct op ops[8] = { { 4, some }, { 3, some + 1 }, { 1, some + 2 }, { 6, some }, { 2, some }, { 7 } };
static __attribute__((cold, noinline)) int complain(const char *text)
{
	return fprintf(stderr, "bad text %s\n", text);
}
static __attribute__((noinline)) void clear(struct op *o)
{
	o->value = NULL; /* the bug */
}
static __attribute__((noinline)) long run(const struct op *o)
{
	long a = 1;

	for (;; o++)
		switch (o->kind) {
		case 0: a += complain("zero"); break;
		case 1: a *= *o->value + 7; break;
		case 2: a ^= *o->value << 2; break;
		case 3: a -= 3 * *o->value; break;
		case 4: a += *o->value; break;
		case 5: a *= complain("five"); break;
		case 6: a = a * a + *o->value; break;
		default: return a;
		}
}
int main(int argc, char **argv)
{
	clear(&ops[1 + argc]);
	return run(ops) > 0;
}
C
gcc -O2 -g -w -o machine machine.c
(ulimit -c unlimited && exec ./machine) >/dev/null 2>&1
mv core* dump
run 1 unplait rewind dump
has out "ops[2].value was set to 0x0 at machine.c:11 in clear" "through a switch whose table leads to both parts"
finish
