#!/usr/bin/env bash
# The published search: sets of flips in the published order, paths that nobody has recorded, and a
# native run of what fails.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o fig51 "$CORPUS/fig51/main.c"
run 0 unplait record --mode path -o run.plait -- ./fig51
run 1 unplait predict --published --no-explain -o fig51.plait run.plait
has out "one fails"
has out "sets of flips"
run 1 unplait replay fig51.plait
# 000 section 5.3 tells it of a passing order in which A, B and C are the nearest, in this order. Then
# the sets are A; B; C; A and B; A and C. Other orders have other sets.
run 1 unplait predict --published --no-explain --json=sets.json -o '' run.plait
cat >judge.py <<'EOF'
import json

sets = json.load(open("sets.json"))["published"]["sets"]
name = {"check": "A", "set_up": "B", "reset": "C"}
names = ["".join(name[f["at"]["function"]] for f in s["flips"]) for s in sets]
assert [s["fails"] for s in sets] == [False] * (len(sets) - 1) + [True], names
assert [len(n) for n in names] == sorted(len(n) for n in names), names
assert len(set(names)) == len(names), names
if names[:3] == ["A", "B", "C"]:
    assert names == ["A", "B", "C", "AB", "AC"], names
print("good")
EOF
is "$(python3 judge.py 2>&1)" good "the sets come in the published order"

run 4 unplait predict --published --no-run run.plait
has out "proposals, none was run"

# by schedule alone
run 0 unplait cc -g -pthread -o account "$CORPUS/account/main.c"
run 1 unplait predict --published --no-explain --record 1 -o '' -- ./account
has out "which was enough"
has out "0 sets of flips"

# the cured twin: nothing
run 0 unplait cc -g -pthread -DFIXED -o fixed "$CORPUS/fig51/main.c"
run 0 unplait predict --published --no-explain --record 1 --time 20 -o '' -- ./fixed
has out "no failure predicted"

run 1 unplait predict --flips 3 --no-explain -o found.plait run.plait
run 2 unplait predict --published --flips 13 run.plait
has err "at most 12"
finish
