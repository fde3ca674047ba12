#!/usr/bin/env bash
# record records in mode sync if the program was built with unplait cc, else in mode full; commands that look at
# events have such a recording replayed first, and never run the program of a plait that was made elsewhere.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o account "$top/test/programs/sync-account.c"
run 0 unplait record -o a.plait -- ./account
run 0 unplait info a.plait
has out "mode        sync (its events come with a replay)"
run 0 unplait export --format csv a.plait
has out ",lock," "export shows events"
run 0 unplait info a.plait
has out "recorded in mode sync, pinned"
run 0 unplait record -o b.plait -- ./account
run 0 unplait info --events --kind lock b.plait
has out " lock "
run 0 unplait record -o c.plait -- ./account
run 0 unplait races --from c.plait -n 2 -o r.d ./account
hasnt err "neither a log"

# built for hunting alone, or by another compiler: full
UNPLAIT_VARIANTS=control run 0 unplait cc -g -O2 -pthread -o hunted "$top/test/programs/sync-account.c"
run 0 unplait record -o h.plait -- ./hunted
run 0 unplait info h.plait
has out "mode        full"
clang-19 -g -pthread -o other "$top/test/programs/sync-account.c" || exit 3
run 0 unplait record -o o.plait -- ./other
run 0 unplait info o.plait
has out "mode        full"

# a stranger's plait is looked at, and its program is not run
run 0 unplait record -o d.plait -- ./account
HOME=$work/nobody XDG_DATA_HOME=$work/nobody run 0 unplait export --format csv d.plait
if grep -q "replay --trust" err; then
	ok "the note says how its events come"
	run 0 unplait info d.plait
	has out "its events come with a replay" "a stranger's plait stays as it is"
else
	skip "a stranger's plait" "this machine's key does not depend on the home folder"
fi

# a run that passed has no cause
run 3 unplait explain d.plait
has err "hunt"
finish
