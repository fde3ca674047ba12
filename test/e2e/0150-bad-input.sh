#!/usr/bin/env bash
# Bad input, as a user meets it: each time one clear sentence, status 3, and nothing of the target disturbed.
. "$(dirname "$0")/lib.sh"
cat >prog.c <<'X'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int x;
static void *work(void *a) { int y = x; x = y + 1; return a; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	printf("done\n");
	assert(x == 2);
	return 0;
}
X
unplait cc -g -O1 -o prog prog.c -lpthread || not_ok build
cp prog first
unplait hunt --runs 300 -o good.plait -- ./prog >/dev/null || ok "a failing schedule"

one_line() { # WANT CMD...: status 3, one line on stderr, which has WANT
	local want=$1
	shift
	run 3 "$@"
	is "$(wc -l <err)" 1 "one line"
	has err "$want"
}
patch() { # FROM TO OFFSET BYTES: a copy with some bytes changed
	cp "$1" "$2" && printf "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc 2>/dev/null
}
size=$(stat -c %s good.plait)
head -c $((size / 2)) good.plait >half.plait
head -c 20 good.plait >stub.plait
: >empty.plait
(cat good.plait && echo more) >longer.plait
patch good.plait foreign.plait 8 '\0\0\0\1\1\2\3\4'
patch good.plait future.plait 8 '\2'
patch good.plait flipped.plait $((size / 2)) "$(printf '\\%03o' $((0x$(od -An -tx1 -j $((size / 2)) -N 1 good.plait | tr -d ' ') ^ 16)))"
cp prog.c text.plait
for c in info replay explain "export --format json" "minimize -o x.plait"; do
	one_line "damaged: it is cut short or has something appended" unplait $c half.plait
	one_line "damaged: it is cut short or has something appended" unplait $c longer.plait
	one_line "damaged" unplait $c flipped.plait
	one_line "foreign.plait was written on a machine with the other byte order" unplait $c foreign.plait
	one_line "future.plait has format version 2; this unplait reads version 1" unplait $c future.plait
	for f in stub empty text; do one_line "$f.plait is not a plait" unplait $c $f.plait; done
	one_line "No such file or directory" unplait $c nowhere.plait
done
one_line "it is a device" unplait info /dev/zero
one_line "holds no recorded run" unplait info .
one_line "holds no recorded run" unplait seal .

# another build's binary: replay says so, whatever comes of it
sed -i 's/done/finished/' prog.c
unplait cc -g -O2 -o prog prog.c -lpthread
for c in replay "minimize -o x.plait"; do
	unplait $c good.plait >out 2>err
	has err "good.plait was recorded with another build of " "$c warns"
done
rm prog
one_line "No such file or directory" unplait replay good.plait
cp first prog
run 1 unplait replay good.plait
is "$(wc -c <err)" 0 "the right build: no warning"

# a binary without bitcode, without tables, a script, not a program
objcopy --remove-section .plait.bc prog nobitcode
one_line "carries no bitcode" unplait sym run ./nobitcode
# damaged bitcode: noticed before LLVM, which would abort, reads it
bitcode=$(readelf -SW prog | awk '$2 == ".plait.bc" || $3 == ".plait.bc" { for (i = 1; i <= NF; i++) if ($i == ".plait.bc") print $(i + 3), $(i + 4) }')
at=$((0x${bitcode% *})) len=$((0x${bitcode#* }))
for where in 9 $((len / 3)) $((len / 2)) $((len - 2)); do
	patch prog damaged $((at + where)) '\252\125'
	one_line "the .plait.bc section of ./damaged is damaged" unplait sym run ./damaged
done
run 0 unplait record -o x.plait --fail-on exit -- ./nobitcode
clang-19 -o plain prog.c -lpthread
one_line "was not built with \`unplait cc\`" unplait info ./plain
one_line "carries no bitcode" unplait sym run ./plain
printf '#!/bin/sh\nexec ./prog\n' >script && chmod +x script
one_line "a script; name the program that it starts" unplait hunt --runs 3 -- ./script
one_line "not an x86-64 program" unplait hunt --runs 3 -- ./good.plait
one_line "cannot start" unplait record -o x.plait -- ./nothing-here
one_line "no such program" unplait hunt -- nothing-here-either

# links that fail: the linker's own words and nothing of ours
echo 'int missing(void); int main(void) { return missing(); }' >bad.c
run 1 unplait cc bad.c -o bad
hasnt err "unplait:"
run 1 unplait cc first -o /no/such/folder/bad
hasnt err "unplait:"
run 1 unplait cc prog.c -o /no/such/folder/bad
has err "No such file or directory"
hasnt err "unplait:"
run 1 unplait cc -c prog.c -o /no/such/folder/bad.o
hasnt err "unplait:"

# no place, no permission
one_line "cannot write /no/such/folder/x.plait" unplait record -o /no/such/folder/x.plait -- ./prog
one_line "temporary folder" env TMPDIR=/no/such/folder "$UNPLAIT" record -o x.plait -- ./prog
one_line "temporary folder" env TMPDIR=/no/such/folder "$UNPLAIT" cc prog.c -o x
if [ "$(id -u)" -eq 0 ]; then nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"; else nobody=; fi
mkdir closed && chmod 755 "$work" && chmod 555 closed && cp good.plait secret.plait && chmod 000 secret.plait
# somebody who is not root cannot get to a clone in root's own folder
if $nobody test -x "$UNPLAIT"; then
	one_line "cannot open secret.plait: Permission denied" $nobody "$UNPLAIT" info secret.plait
	one_line "cannot write closed/x.plait: Permission denied" $nobody "$UNPLAIT" record -o closed/x.plait -- /bin/true
	run 1 $nobody "$UNPLAIT" cc prog.c -o closed/prog
	has err "Permission denied"
	hasnt err "unplait:"
	if [ -n "$nobody" ]; then
		got=$(cd closed && UNPLAIT_MODE=full UNPLAIT_DIR=. $nobody ../prog)
		case $got in done) ok "a folder that cannot be written: it runs untraced" ;; *) not_ok "runs untraced" "$got" ;; esac
	fi
else
	skip "no permission" "another user cannot reach $UNPLAIT"
fi

# no space left for what the commands write themselves
mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
	head -c 65536 /dev/zero >small/ballast
	run 3 unplait record -o small/x.plait -- ./prog
	has err "No space left on device"
	run 3 unplait cc prog.c -o small/prog
	has err "No space left on device"
	umount small
else
	skip "no space left" "cannot mount a tmpfs"
fi

# targets that die or run out of things, through `record`
cat >die.c <<'X'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static int shared;
static void *volatile kept; /* or the compiler sees through it */
static void *work(void *a) { for (int i = 0; i < 1000; i++) shared++; return a; }
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	if (argc > 1 && !strcmp(argv[1], "kill")) raise(SIGKILL);
	if (argc > 1 && !strcmp(argv[1], "term")) raise(SIGTERM);
	if (argc > 1 && !strcmp(argv[1], "memory")) {
		struct rlimit r = { 300 << 20, 300 << 20 };
		setrlimit(RLIMIT_AS, &r);
		while ((kept = malloc(1 << 20)))
			shared++;
		pthread_create(&t, 0, work, 0) ? puts("no thread") : 0;
	}
	if (argc > 1 && !strcmp(argv[1], "files")) {
		struct rlimit r = { 3, 3 };
		setrlimit(RLIMIT_NOFILE, &r);
		pthread_create(&t, 0, work, 0);
		pthread_join(t, 0);
	}
	printf("%d\n", argc);
	return 0;
}
X
unplait cc -g -O1 -o die die.c -lpthread || not_ok build
run 1 unplait record -o kill.plait -- ./die kill
unplait info kill.plait >out
has out "signal 9, Killed" "killed: an outcome"
has out "events      " "and a readable plait"
run 1 unplait record -o term.plait -- ./die term
unplait info term.plait >out
has out "signal 15, Terminated"
for how in memory files; do
	run 0 unplait record -o $how.plait -- ./die $how
	has out 2 "$how: the target ends as usual"
	run 0 unplait info $how.plait
	run 0 unplait hunt --runs 2 -- ./die $how
done
# a schedule file that was written over, and one that is a folder
mkdir folder.plait
one_line "folder" unplait replay folder.plait
finish
