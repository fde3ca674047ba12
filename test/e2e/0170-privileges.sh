#!/usr/bin/env bash
# level: quick
# Files that we create are never somebody else's, and a program with more rights than its user takes
# no orders from the environment.
. "$(dirname "$0")/lib.sh"
cat >prog.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return a; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	printf("%lu %d\n", getauxval(AT_SECURE), x);
}
C
unplait cc -g -O1 -o prog prog.c -lpthread || not_ok build

# links where the runtime wants its files: nothing is written through them
mkdir plain
UNPLAIT_MODE=full UNPLAIT_DIR=plain ./prog >out
is "$(cat out)" "0 1" "the program runs"
files=$(cd plain && echo *)
mkdir linked
for f in $files; do
	[ "$f" = run ] && continue
	echo precious >"victim-$f"
	ln -s "../victim-$f" "linked/$f"
done
UNPLAIT_MODE=full UNPLAIT_DIR=linked ./prog >out
is "$(cat out)" "0 1" "the program runs when its files are links"
is "$(cat victim-* | sort -u)" precious "... and writes through none of $files"
mkdir runlink
echo precious >victim-run
ln -s ../victim-run runlink/run
UNPLAIT_MODE=full UNPLAIT_DIR=runlink ./prog >out
is "$(cat victim-run)" precious "... nor through run"

# links where a command wants its temporary file
unplait record -o good.plait -- ./prog >/dev/null
mkdir out.d
for i in $(seq 0 20); do ln -s ../victim-run "out.d/x.plait.$i.tmp"; done
ln -s ../victim-run out.d/x.plait.tmp
ln -s ../victim-run out.d/x.plait
run 0 unplait record -o out.d/x.plait -- ./prog
run 0 unplait export -f csv -o out.d/x.csv good.plait
is "$(cat victim-run)" precious "a link is replaced, not followed"
is "$(find out.d -name '*.tmp' -type f | wc -l)" 0 "no temporary file stays"

# a file that cannot be written to its end is not there
(ulimit -f 1; trap '' XFSZ; unplait export -f json -o small.json good.plait) 2>err
has err "cannot write small.json: File too large"
[ ! -e small.json ] && ok "no half of a result" || not_ok "no half of a result"
echo old >kept.json
(ulimit -f 1; trap '' XFSZ; unplait export -f json -o kept.json good.plait) 2>err
is "$(cat kept.json)" old "the old file stays"

# setuid
user=nobody
cp prog setuid
if [ "$(id -u)" != 0 ] || ! chown $user setuid 2>/dev/null || ! chmod 4755 setuid ||
	[ "$(./setuid | cut -d' ' -f1)" != 1 ]; then
	skip "setuid programs" "needs root, and a file system that allows setuid"
	finish
fi
chmod 755 .
mkdir -m 777 orders
UNPLAIT_MODE=full UNPLAIT_DIR=orders ./setuid >out
is "$(cat out)" "1 1" "a setuid program runs"
is "$(ls orders)" "" "... and records nothing"
env -i UNPLAIT_MODE=control UNPLAIT_CONTROL=/etc/passwd UNPLAIT_DIR=orders ./setuid >out
is "$(cat out)" "1 1" "... and is not controlled"
# file capabilities count like setuid; somebody who is root already gains nothing by them
cp prog capable
if PATH=$PATH:/usr/sbin setcap cap_net_raw+ep capable 2>/dev/null &&
	[ "$(setpriv --reuid=65534 --regid=65534 --clear-groups ./capable | cut -d' ' -f1)" = 1 ]; then
	UNPLAIT_MODE=full UNPLAIT_DIR=orders \
		setpriv --reuid=65534 --regid=65534 --clear-groups ./capable >out
	is "$(cat out)" "1 1" "a program with file capabilities runs"
	is "$(ls orders)" "" "... and records nothing"
	UNPLAIT_MODE=full UNPLAIT_DIR=orders setpriv --reuid=65534 --regid=65534 --clear-groups ./prog >out
	[ -n "$(ls orders)" ] && ok "... the same without them does" || not_ok "... the same without them does"
	rm -rf orders/*
else
	skip "file capabilities" "needs setcap, setpriv and a file system that has them"
fi
cp "$top/build/libplait-watch.so" .
cat >watched.c <<'C'
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return a; }
int main(void)
{
	pthread_t t;
	int n = 0;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	for (DIR *d = opendir("areas"); readdir(d); n++)
		;
	printf("%d\n", n - 2);
}
C
mkdir -m 777 areas
cc -o watched watched.c ./libplait-watch.so -Wl,-rpath,"$work" -lpthread || not_ok "build watched"
is "$(UNPLAIT_WATCH="dir=$work/areas" ./watched)" 1 "a watched program has its area in the folder"
chown $user watched && chmod 4755 watched
is "$(UNPLAIT_WATCH="dir=$work/areas" ./watched)" 0 "a setuid program has not"
finish
