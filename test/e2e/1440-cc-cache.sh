#!/usr/bin/env bash
# The second link of the same objects takes what the first one made, and gives the same program; whatever changes, or
# is wrong with the cache, is noticed.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "unplait cc" "libplait.a is not built"; finish; }
export UNPLAIT_CACHE=$work/cache UNPLAIT_TIMES=1

cat >main.c <<'X'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
int twice(int);
static int counter;
static char text[32];
static void *work(void *arg)
{
	counter += *(int *)arg;
	strcpy(text, "written");
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	int one = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &one);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", twice(counter));
	return 0;
}
X
echo 'int twice(int x) { return 2 * x; }' >twice.c
entries() { find cache -type f | wc -l; }
made() { # WHAT: the link made its code itself
	has err "generate code" "$1: made"
}
taken() { # WHAT: the link took it from the cache
	hasnt err "generate code" "$1: taken from the cache"
}

run 0 unplait cc -O2 -c main.c twice.c
link="unplait cc -O2 main.o twice.o -o prog"
run 0 env UNPLAIT_CACHE=off $UNPLAIT cc -O2 main.o twice.o -o prog
made "without a cache"
is "$(ls -d cache 2>/dev/null)" "" "without a cache nothing is written"
cp prog want
run 0 $link
made "the first link"
is "$(entries)" 1 "one entry"
cmp -s prog want && ok "the same program as without a cache" || not_ok "the same program as without a cache"
run 0 $link
taken "the second link"
cmp -s prog want && ok "the same program as without a cache" || not_ok "the same program as without a cache"
run 0 ./prog
has out 4 "it runs"
run 0 unplait info ./prog
has out "variants" "unplait info reads its tables"
run 0 unplait cc -O2 --unplait-no-cache main.o twice.o -o prog
made "--unplait-no-cache"

# ---- what changes the result changes the key ----

run 0 unplait cc -O1 main.o twice.o -o prog
made "another -O"
run 0 env UNPLAIT_VARIANTS=graph $UNPLAIT cc -O2 main.o twice.o -o prog
made "other variants"
run 0 unplait cc -O2 twice.o main.o -o prog
made "another order"
echo 'int twice(int x) { return 3 * x; }' >twice.c
run 0 unplait cc -O2 -c twice.c
run 0 $link
made "another source"
run 0 ./prog
has out 6 "the new program"
run 0 $link
taken "the new program"

# ---- damage ----

cp prog want
rm -rf cache
run 0 $link
entry=$(find cache -type f)
good=$(cat "$entry" | wc -c)
for how in "conv=notrunc bs=1 seek=$((good / 2)) count=40 if=/dev/zero" "bs=1 count=0 seek=$((good / 3))" "bs=1 count=0 seek=0"; do
	dd $how of="$entry" 2>/dev/null </dev/null
	run 0 $link
	made "a damaged entry ($how)"
	cmp -s prog want && ok "the right program" || not_ok "the right program"
	run 0 $link
	taken "mended"
done

# ---- several at a time ----

rm -rf cache
for i in 1 2 3 4; do
	"$UNPLAIT" cc -O2 main.o twice.o -o "prog$i" 2>/dev/null &
	pids="${pids:-} $!"
done
bad=0
for p in $pids; do wait "$p" || bad=1; done
is "$bad" 0 "four links at once"
for i in 1 2 3 4; do "./prog$i" | grep -q 6 || bad=1; done
is "$bad" 0 "all four run"
is "$(entries)" 1 "one entry"

# ---- no place for a cache ----

for dir in /dev/null/x /proc/nowhere; do
	run 0 env UNPLAIT_CACHE=$dir $UNPLAIT cc -O2 main.o twice.o -o prog
	made "a cache in $dir"
done
mkdir -m 777 open && chmod 777 open
run 0 env UNPLAIT_CACHE=$work/open $UNPLAIT cc -O2 main.o twice.o -o prog
is "$(ls open)" "" "a folder that others may write to is not used"
finish
