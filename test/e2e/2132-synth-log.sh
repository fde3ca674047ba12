#!/usr/bin/env bash
# A log as crumb: the statements that printed its lines lead the search; bad logs are refused or given up.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

gcc -O2 -g -o shipped "$top/test/e2e/fixtures/crumbs/cmds.c"
printf owkrdwckowf | dump_of core.cmds ./shipped app.log
is "$(wc -l <app.log)" 10 "a log"
run 0 unplait cc -g -O0 -o prog "$top/test/e2e/fixtures/crumbs/cmds.c"
run 1 unplait synth --facts stack --time 60 --crumbs app.log -o s.plait core.cmds ./prog
has out "10 of 10 lines of the log name a statement of the program"
has out "found by search, along the log"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay s.plait
# lines that no statement prints are left out
(cat app.log && echo "a line of somebody else") >mixed.log
run 1 unplait synth --facts stack --time 60 --crumbs mixed.log --json=j -o s.plait core.cmds ./prog
has j "10 of 11 lines of the log"
run 1 unplait synth --facts stack --time 60 --crumbs app.log --crumbs s.plait -o n.plait core.cmds ./prog
has out "plaits were not used"
echo "nobody prints this" >other.log
run 3 unplait synth --facts stack --time 5 --crumbs other.log -o n.plait core.cmds ./prog
has err "other.log: no line of it fits a text that ./prog prints"
# a log of another run: no finding along it, and that is said
(cat app.log && echo "12:30:01 cmds: dropped a copy") >wrong.log
"$UNPLAIT" synth --facts stack --time 4 --crumbs wrong.log -o w.plait core.cmds ./prog >out 2>err
has out "the log was given up" "a log that contradicts the dump leads nowhere"
hasnt out "along the log"
run 0 unplait cc -g -O0 -DFIXED -o cured "$top/test/e2e/fixtures/crumbs/cmds.c"
"$UNPLAIT" synth --facts stack --time 4 --crumbs app.log -o c.plait core.cmds ./cured >out 2>err
is "$(($? == 1))" 0 "the cured program does not fail so"
finish
