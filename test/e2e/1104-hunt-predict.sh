#!/usr/bin/env bash
# The strategy predict of hunt: from runs that pass to one that fails; with the cured twin nothing.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o fig51 "$CORPUS/fig51/main.c"
run 1 unplait hunt -s predict -o found.plait ./fig51
has out "Assertion"
has out "(predict)"
has out "replayed 5 of 5 times"
run 1 unplait replay found.plait
run 0 unplait cc -g -pthread -DFIXED -o fixed "$CORPUS/fig51/main.c"
run 0 unplait hunt -s predict --time 20 -o none.plait ./fixed
has out "no failure"
finish
