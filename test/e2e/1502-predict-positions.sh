#!/usr/bin/env bash
# A value that another thread may have written at several moments: each of them is run, not only the first.
# (cve-2016-9806: the second receiver must see the buffer while the first is between its two holds of the lock.)
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o cve "$CORPUS/sct-cve-2016-9806/main.c"
run 1 unplait predict --record 1 --no-explain -o found.plait -- ./cve
has out "freed' failed"
run 1 unplait replay found.plait
run 0 unplait cc -g -pthread -DFIXED -o cured "$CORPUS/sct-cve-2016-9806/main.c"
run 0 unplait predict --record 1 --no-explain --time 20 -o '' -- ./cured
has out "no failure predicted"
hasnt out "with this input every run passes"
finish
