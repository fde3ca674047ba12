#!/usr/bin/env bash
# The write that broke it lies before the crash: a text that is too long on the heap, a function pointer, a list whose node was
# freed, an index; the walk ends where the value was made. A record that is cleared is not "past the end".
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }

# The loop reads two nodes before it fails: one turn less contradicts what the list's head points to.
cat >names.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct user { char name[16]; struct user *next; int age; };
static struct user *head;
static struct user *add(const char *name, int age)
{
	struct user *u = calloc(1, sizeof(*u));
	strcpy(u->name, name);
	u->age = age;
	u->next = head;
	head = u;
	return u;
}
static void rename_user(struct user *u, const char *name)
{
	strcpy(u->name, name); /* too long for bob */
}
static int oldest(void)
{
	int age = 0;
	for (struct user *u = head; u; u = u->next)
		if (u->age > age)
			age = u->age;
	return age;
}
int main(int argc, char **argv)
{
	struct user *a = add("ann", 31), *b = add("bob", 42);
	add("cyd", 17);
	printf("%d\n", oldest());
	rename_user(b, argc > 9 ? argv[9] : "bartholomew the third");
	rename_user(a, "anna");
	printf("%d\n", oldest());
	return 0;
}
C
for cc in gcc clang-19; do
	"$cc" -O2 -g -w -o names names.c
	dump ./names
	run 1 unplait rewind dump
	has out "was written by strcpy at names.c:17 in rename_user" "$cc: the text that is too long, not the older write of the same place"
	has out "confirmed but for the skipped calls"
done

# how far back: where the value was made, or as far as was asked for
near=$(sed -n 's/ steps tried.*//p' out)
run 1 unplait rewind --blocks 200 dump
far=$(sed -n 's/ steps tried.*//p' out)
[ "$near" -lt "$far" ] && ok "the walk ends where the value was made" || not_ok "the walk ends where the value was made" "$near, $far steps"

cat >calls.c <<'C'
#include <stdio.h>
static int (*handlers[4])(int);
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
static __attribute__((noinline)) void reset(int i) { handlers[i] = 0; } /* the bug */
static __attribute__((noinline)) int run_it(int i, int x) { return handlers[i](x); }
int main(int argc, char **argv)
{
	int x = argc;
	handlers[0] = one;
	handlers[1] = handlers[2] = two;
	reset(2);
	x += run_it(2, x);
	printf("%d\n", x);
	return 0;
}
C
for o in -O0 -O2; do # at -O2 the call is a jump
	gcc $o -g -w -o calls calls.c
	dump ./calls
	run 1 unplait rewind dump
	has out "handlers[2] was set to 0x0 at calls.c:5 in reset" "$o: a call of nothing, and who made it nothing"
	has out "confirmed: run natively" "$o: the call runs into the same fault"
done

cat >record.c <<'C'
#include <string.h>
struct record { char name[16]; long *amount; };
static struct record records[3];
static long amounts[3];
static __attribute__((noinline)) void wipe(struct record *r) { memset(r, 0x5a, sizeof(*r)); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++)
		records[i].amount = &amounts[i];
	wipe(&records[1]);
	return (int)*records[argc].amount;
}
C
gcc -O1 -g -w -fno-builtin -o record record.c
dump ./record
run 1 unplait rewind dump
has out "(bad value written): records[1].amount was written by memset at record.c:5 in wipe"
hasnt out "past the end"


# two functions can have done it, and nothing in the dump says which: both are named
cat >either.c <<'C'
#include <stdio.h>
#include <stdlib.h>
static int *table[4], numbers[4];
static volatile int seed = 7;
static __attribute__((noinline)) void retire(int i) { table[i] = NULL; }
static __attribute__((noinline, noclone)) void forget(int i) { seed = 0; table[i] = NULL; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 4; i++)
		table[i] = &numbers[i];
	if (seed == 7) /* afterwards nobody knows what it was */
		forget(2);
	else {
		seed = 0;
		retire(2);
	}
	seed = 0;
	puts("done");
	return *table[2];
}
C
gcc -O1 -g -o either either.c
dump ./either
run 1 unplait rewind --json=j dump
grep -q "^cause in this suffix" out && ok "one of two is not certain" || not_ok "one of two is not certain" "$(head -n 2 out)"
has out "or, in another suffix (bad value written): table[2] was set to 0x0 at either.c"
has out "in forget"
has out "in retire"
has j '"other_causes": ['
finish
