#!/usr/bin/env bash
# A fleet of 200 instances, each recording a quarter of the elements: merge, replay, minimize, explain. The long form, with
# more programs and both modes, is 0610.
. "$(dirname "$0")/lib.sh"

unplait cc -g -O1 -pthread -o manager "$CORPUS/manager/main.c" || not_ok "build"
run 1 unplait coop record --share 25% -n 200 --scheduler pos --store fleet.db -- ./manager
has out "200 logs, " "two hundred instances"
run 1 unplait coop merge fleet.db -o fleet.plait -- ./manager
has out "reproduced in attempt"
run 1 unplait replay fleet.plait
has out "replayed 1 of 1 times"
run 1 unplait minimize fleet.plait -o small.plait
run 1 unplait explain fleet.plait
has out "  cause    " "a cause is given"
has out "remaining" "it names the variable"
has out "main.c:22" "and the place"
has out "  tested   failed " "the cure was put to the test"
finish
