#!/usr/bin/env bash
# A flight recorder that is full: of threads, of bytes, and killed at any moment.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 clang-19 -g -O2 -pthread -o storm "$top/test/programs/last-storm.c"

# threads that ended long ago make room for new ones
run 1 unplait record --last 0.005 -o threads.plait -- ./storm threads 300
run 0 unplait info --count 3 threads.plait
threads=$(sed -n 's/^events .* in \([0-9]*\) threads$/\1/p' out)
is "$((threads > 1 && threads < 200))" 1 "$threads of 300 threads are still known"
has out "join thread 0.300 at"
has out "0         failed"
has out "; $((301 - threads)) threads that ended before are gone"
hasnt out "the whole run"
run 0 unplait info --json threads.plait
has out "\"threads_gone\": $((301 - threads))"

# a place in the table is used again: births and joins are not those of the thread that has it now
run 0 unplait info --events --thread 0 threads.plait
for kind in fork join; do
	sed -n "s/.* $kind  *thread \([^ ]*\) .*/\1/p" out | awk '$1 != "?" && $1 != "0." NR' >wrong
	is "$(wc -l <wrong)" 0 "every $kind is that of the thread which it was, or of one that is gone"
done

# a file may not grow any more: the oldest goes, not the newest
(ulimit -f 1000 && "$UNPLAIT" record --last 3600 -o locks.plait -- ./storm locks 300000) >out 2>err
is $? 1 "ulimit -f: recorded"
hasnt out "lost"
run 0 unplait info --events --thread 0.1 locks.plait
tail -n 1 out >end
has end " exit" "ulimit -f: the last event of a thread is there"
is "$(($(wc -l <out) < 600000))" 1 "ulimit -f: the oldest are gone"
is "$(($(wc -l <out) > 10000))" 1 "ulimit -f: not all are gone"

# kill -9 at any moment
bad=0
for i in $(seq 12); do
	"$UNPLAIT" record --last 0.002 -o kill.plait -- ./storm forever >recorded 2>said </dev/null &
	recorder=$!
	until target=$(pgrep -P $recorder); do :; done
	sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
	kill -9 $target
	wait $recorder
	grep -q "is no run folder" said && continue # before it began
	"$UNPLAIT" info kill.plait >out 2>err && ! grep -q lost out || bad=$((bad + 1))
done
is $bad 0 "12 kills: every recording can be read, nothing is lost"
finish
