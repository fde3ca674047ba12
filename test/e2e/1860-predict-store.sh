#!/usr/bin/env bash
# The path store: recordings are kept by what they decide, equal ones once, between commands; a torn index is made again,
# a killed writer leaves no damage.
# level: check
. "$(dirname "$0")/lib.sh"

field() { grep -o "\"$1\": [0-9a-z]*" "$2" | head -n 1 | sed 's/.*: //'; }

run 0 unplait cc -g -pthread -o fig51 "$CORPUS/fig51/main.c"
run 0 unplait record --mode path --runs 12 -o runs -- ./fig51
# passing or failing without luck: only the question is asked
run 4 unplait predict --store store --no-run --no-explain --json=first.json runs
is "$(field recordings first.json)" 12 "twelve recordings were added"
n=$(find store/runs -name '*.plait' | wc -l)
[ "$n" -lt 12 ] && ok "equal ones are kept once" || not_ok "equal ones are kept once" "$n plaits of 12"
run 4 unplait predict --store store --no-run --no-explain --json=again.json runs
is "$(field recordings again.json)" 12 "the same files are not counted twice"
run 1 unplait predict --store store --no-explain -o found.plait
run 1 unplait replay found.plait
run 4 unplait predict --store store --no-run --no-explain --json=later.json
is "$(field recordings later.json)" 12 "our own runs are no recordings"
more=$(find store/runs -name '*.plait' | wc -l)
[ "$more" -gt "$n" ] && ok "but their paths are kept" || not_ok "but their paths are kept" "$more plaits, $n before"
run 1 unplait predict --published --store store --no-explain -o '' runs

# torn, missing, of another version, not allowed
head -c 3000 store/paths.db >torn && cp torn store/paths.db
run 4 unplait predict --store store --no-run --no-explain
has err "was damaged and has been made again"
rm store/paths.db
run 4 unplait predict --store store --no-run --no-explain
python3 - <<'P'
import sqlite3
db = sqlite3.connect('store/paths.db')
db.execute('PRAGMA user_version = 9')
db.commit()
P
run 3 unplait predict --store store --no-run
has err "another version of unplait"
rm -r store/paths.db
: >file
run 3 unplait predict --store file runs
run 3 unplait predict --store empty
has err "holds nothing"

# another program, and another input, in one store
run 1 unplait predict --store store --time 20 --no-explain -o "" --record 1 -- ./fig51 with arguments
run 3 unplait predict --store store
has err "give a recording to say which"
run 1 unplait predict --store store --no-explain -o '' runs/0001-pass.plait

# a folder or a store of somebody else (who has another key)
other() { env XDG_STATE_HOME="$work/other" "$@"; }
run 3 other "$UNPLAIT" predict runs </dev/null
has err "was not made here by you"
run 3 other "$UNPLAIT" predict --store store runs </dev/null
has err "was not made here by you"
run 1 other "$UNPLAIT" predict --trust --no-explain -o '' runs </dev/null

# a disk that is full: said, and the store is as it was
(ulimit -f 1; trap '' XFSZ; unplait predict --store full --no-run runs) >out 2>err
is $? 3 "a full disk"
run 4 unplait predict --store full --no-run --no-explain --json=full.json runs
is "$(field recordings full.json)" 12 "later all of them are there"

# killed while it writes
for i in 1 2 3 4 5 6 7 8; do
	"$UNPLAIT" predict --store killed --no-run --no-explain runs >/dev/null 2>&1 &
	sleep "0.0$i"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
run 4 unplait predict --store killed --no-run --no-explain --json=killed.json runs
is "$(field recordings killed.json)" 12 "all of them are there, once"
finish
