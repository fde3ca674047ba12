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
[ -n "$alone" ] || skip "without a network" "unshare -n is not allowed here"
finish
