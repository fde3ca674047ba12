#!/usr/bin/env bash
# doc/format/json.md and --json agree: every key at the top of what a command prints stands in its section of the
# page, and the object begins with the version of these names.
# level: check
. "$(dirname "$0")/lib.sh"
page=$top/doc/format/json.md

# keys FILE SECTION: the page's section (or the shared parts before it) names every key of the object
keys() {
	sed -n "/^## Shared parts/,/^## /p; /^## .*\b$2\b/,/^## /p" "$page" >section
	if python3 - "$1" section >missing 2>&1 <<'PY'; then ok "$2: every key is in doc/format/json.md"; else not_ok "$2: every key is in doc/format/json.md" "$(cat missing)"; fi
import json, sys
found = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
keys = list(found)
missing = [k for k in keys[1:] if '`%s`' % k not in text]
if keys[0] != 'unplait' or found['unplait'] != 1:
    missing.insert(0, 'the first key is ' + keys[0])
print('\n'.join(missing))
sys.exit(bool(missing))
PY
}

cp "$CORPUS"/pbzip2/*.[ch] .
run 0 unplait cc -g -O2 -pthread -o pbzip2 main.c queue.c output.c rle.c
run 1 unplait hunt --json=hunt.json -o fail.plait -- ./pbzip2
keys hunt.json hunt
run 1 unplait replay --json=replay.json fail.plait
keys replay.json replay
run 1 unplait minimize --json=minimize.json -o small.plait fail.plait
keys minimize.json minimize
run 1 unplait explain --runs 100 --json=explain.json small.plait
keys explain.json explain
"$UNPLAIT" solve --json=solve.json fail.plait >out 2>err
keys solve.json solve
run 0 unplait info --json=info.json fail.plait
keys info.json info
"$UNPLAIT" record --json=record.json -o run.plait -- ./pbzip2 >out 2>err
keys record.json record
"$UNPLAIT" doctor --json=doctor.json >out 2>err
keys doctor.json doctor
"$UNPLAIT" test --runs 20 --no-explain --json=test.json -- ./pbzip2 >out 2>err
keys test.json test
finish
