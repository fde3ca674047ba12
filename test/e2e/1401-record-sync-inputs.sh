#!/usr/bin/env bash
# What a run in mode sync read is in its plait: time, chance, pipes, files, devices, sockets. It is replayed in
# another folder, without the file and without a network, and prints the same.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o world "$top/test/programs/sync-world.c"
mkdir other
alone=
unshare -n true 2>"$work/err" && alone="unshare -n"
for i in 1 2 3; do
	echo "words $i" >data.txt
	run 0 unplait record --mode sync -o "other/$i.plait" -- ./world
	grep -v plait: out >"said.$i"
	rm data.txt
	cd other || exit 3
	run 0 $alone "$UNPLAIT" replay --show-output "$i.plait" ../world
	grep -v plait: "$work/err" >"../again.$i"
	run 0 $alone "$UNPLAIT" replay --times 3 "$i.plait" ../world
	has "$work/out" "replayed 3 of 3"
	cd ..
	same "again.$i" "said.$i" "run $i says the same again"
	has "again.$i" "words $i"
	has "again.$i" "its pointer is right"
done
# standard input, read by stdio
cat >adds.c <<'C'
#include <stdio.h>
int main(void) { int n, sum = 0; while (scanf("%d", &n) == 1) sum += n; printf("sum %d\n", sum); return 0; }
C
run 0 unplait cc -g -O2 -o adds adds.c
echo 1 2 3 >numbers
run 0 unplait record --mode sync --input numbers -o file.plait -- ./adds
printf '4 5 6' | "$UNPLAIT" record --mode sync -o piped.plait -- ./adds >out 2>err
has out "sum 15"
rm numbers
run 0 unplait replay --show-output file.plait
has err "sum 6"
run 0 unplait replay --show-output piped.plait
has err "sum 15"
[ -n "$alone" ] || skip "without a network" "unshare -n is not allowed here"
finish
