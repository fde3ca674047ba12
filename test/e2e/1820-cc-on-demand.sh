#!/usr/bin/env bash
# The code of a mode is made at its first use, beside the program, and serves until the program changes.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS/account/main.c" .
run 0 unplait cc -g -O1 -pthread -c main.c -o main.o
run 0 unplait cc -pthread main.o -o prog
mkdir elsewhere
graph() { "$UNPLAIT" record --mode graph "$@" >out 2>err; }

cd elsewhere || exit 3
graph -- ../prog
has err "making ../prog.graph" "the first use makes it"
has out "prog.plait: " "the plait is called after the program"
has out " communications"
readelf -p .plait.build ../prog.graph >out
has out "variants plain path full graph"
cd .. || exit 3
graph -o second.plait -- ./prog
hasnt err "making" "the second does not"
run 1 unplait rank --unlabeled second.plait elsewhere/prog.plait
cp prog before
graph -o third.plait -- ./before
has err "making ./before.graph" "a copy has its own"

# linked again: made again
touch prog
graph -o fourth.plait -- ./prog
has err "making ./prog.graph"

# the objects are another program's by now, or gone: full's code, with the reason
echo 'int another = 1;' | cat - main.c >other.c
run 0 unplait cc -g -O1 -pthread -c other.c -o main.o
rm prog.graph
graph -o fifth.plait -- ./prog
has err "have changed since it was linked"
has out " communications" "and it records"
[ ! -e prog.graph ] && ok "nothing is left of it" || fail "prog.graph is there"
rm main.o
graph -o sixth.plait -- ./prog
has err "cannot be made"
has err "main.o"
has out " communications"

# a program for hunting alone gets the code of mode path that way; nothing stands in for that
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" cc -g -O1 -pthread -o only main.c
"$UNPLAIT" record --mode path -o path.plait -- ./only >out 2>err
has err "making ./only.path"
has out " events"
run 0 unplait info path.plait
has out "mode        path"
"$UNPLAIT" predict --record 3 --time 20 -- ./only >out 2>err
is $? 1 "predict records with it, too"
hasnt err "making"
rm main.c only.path
run 3 unplait record --mode path -o none.plait -- ./only
has err "no code for mode path, and it cannot be made"
has err "link it again: (cd "
finish
