#!/usr/bin/env bash
# Bad input: one sentence each, no crash; cut and damaged dumps, missing and other binaries, other people's dumps.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top/test/programs/rewind-broken.c" .
gcc -O2 -g -o broken rewind-broken.c
(ulimit -c unlimited && exec ./broken) >/dev/null 2>&1
mv core* dump
: >empty
mkdir folder

run 2 unplait rewind
run 2 unplait rewind dump dump
run 2 unplait rewind --thread 7 dump
has err "threads 1 to 1"
run 3 unplait rewind missing
run 3 unplait rewind empty
has err "core dump"
run 3 unplait rewind folder
run 3 unplait rewind broken
has err "core dump"

# cut and mutated: any status but a crash
size=$(stat -c %s dump)
bad=0
for n in 100 1000 4000 5000 9000 20000 $((size / 2)) $((size - 4096)); do
	head -c "$n" dump >cut
	timeout 60 "$UNPLAIT" rewind --time 2 cut >out 2>err
	s=$?
	[ $s -le 4 ] || { bad=$((bad + 1)); echo "# cut at $n: status $s"; }
done
is $bad 0 "cut dumps"
cat >mutate.py <<'END'
import random, sys
r = random.Random(int(sys.argv[1]))
d = bytearray(open("dump", "rb").read())
for _ in range(r.choice([1, 3, 30])):
    d[r.randrange(0, r.choice([6000, len(d)]))] = r.choice([0, 1, 0x7f, 0xff, r.randrange(256)])
open("mutated", "wb").write(d)
END
bad=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	python3 mutate.py $seed
	timeout 60 "$UNPLAIT" rewind --time 1 mutated >out 2>err
	s=$?
	[ $s -le 4 ] || { bad=$((bad + 1)); echo "# python3 mutate.py $seed: status $s"; }
done
is $bad 0 "mutated dumps"

# somebody else's dump is not run
if [ "$(id -u)" -eq 0 ]; then
	cp dump theirs
	chown 12345 theirs
	run 1 unplait rewind --time 2 theirs
	has out "belongs to another user"
	run 1 unplait rewind --time 2 --run theirs
	has out "confirmed: run natively"
fi

# another build, then none at all
gcc -O1 -g -o broken rewind-broken.c
run 0 unplait rewind dump
has out "its file is another build"
rm broken
run 0 unplait rewind dump
has out "its file is missing"
finish
