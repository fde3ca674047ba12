#!/usr/bin/env bash
# Partial logs of a fleet, merged and replayed.
# level: quick
. "$(dirname "$0")/lib.sh"

unplait cc -g -O1 -pthread -o manager "$CORPUS/manager/main.c" || not_ok "build"

run 0 unplait coop plan --share 50% -n 4 -o profiles -- ./manager
has out "remaining" "the plan names a variable"
has out "lock" "... and a mutex"
is "$(ls profiles | wc -l)" 4 "one profile per instance"
run 0 unplait coop plan --share 50% -n 4 -o unseen ./manager
has out "4 profiles in unseen"
run 0 unplait coop plan --share 25% -n 50 --informed -o informed -- ./manager
is "$(grep -L '^[^#]*[0-9]$' informed/*.profile | wc -l)" 0 "every informed profile records something"
run 0 unplait coop plan --share 50% -n 4 -o again -- ./manager
same again/0003.profile profiles/0003.profile "same seed, same profiles"

run 1 unplait coop record --share 50% -n 60 --scheduler pct --store logs.db -- ./manager
has out "new in logs.db"
run 0 unplait coop stats logs.db
has out "overdrawn == 0" "the signature of the failure"
run 1 unplait coop merge logs.db -o fail.plait -- ./manager
has out "reproduced in attempt"
run 1 unplait replay fail.plait
has out "replayed 1 of 1 times"
for h in sgm dgm; do
	for m in psim dsim dhs; do
		run 1 unplait coop merge logs.db --again --heuristic $h --metric $m -- ./manager
	done
done

# single-element logs
run 1 unplait coop record --share 1 -n 60 --scheduler pct --store one.db -- ./manager
run 1 unplait coop merge one.db -- ./manager
has out "reproduced"

# free runs, as instances in the field; of the cured program, so that none fails
unplait cc -g -O1 -DFIXED -pthread -o fixed "$CORPUS/manager/main.c"
run 0 unplait coop record --share 50% -n 4 -o free --timeout 5 -- ./fixed
run 0 unplait coop stats free/0001.plait free/0002.plait
has out "remaining" "names from the program"
run 0 unplait coop add free.db free/*.plait
has out "4 logs added, 0 known already"
run 0 unplait coop add free.db free/*.plait
has out "0 logs added, 4 known already" "adding twice adds once"

# the same by record, with a profile and without
run 0 unplait record --mode order -o whole.plait -- ./fixed
run 0 unplait coop plan --share 50% -n 1 -o one -- ./fixed
run 0 unplait record --mode order --profile one/0001.profile -o part.plait -- ./fixed
run 0 unplait coop stats whole.plait part.plait
has out "2 logs: 2 passed"
run 0 unplait record --mode block -o block.plait -- ./fixed
run 0 unplait coop stats block.plait
has out "main.c:" "blocks are named by their place"
run 3 unplait record --mode order --profile profiles/0001.profile -o x.plait -- ./fixed
has err "another build"
run 2 unplait record --mode full --profile one/0001.profile -o x.plait -- ./fixed

# bad input
run 4 unplait coop merge free.db -- ./fixed
has err "there is no failure to replay"
echo nonsense >bad.plait
run 3 unplait coop add bad.db bad.plait
has err "bad.plait: not used"
run 3 unplait coop merge logs.db -- ./fixed
has err "another build"
unplait coop record --plan profiles -n 1 -o other --timeout 5 -- ./manager >out 2>&1
run 0 unplait coop add mixed.db free/0001.plait other/0001.plait
has err "another build" "logs of two builds are not mixed"
run 2 unplait coop merge
run 2 unplait coop plan --share 300% -- ./manager
finish
