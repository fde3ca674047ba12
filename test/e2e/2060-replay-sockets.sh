#!/usr/bin/env bash
# A plait of hunt carries what its run heard by sockets from other processes: replay, minimize, explain and gdb need neither the
# server nor a network, in another folder. A run that talks to itself alone stays real; stdio on a socket is said.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O1 -pthread -o talk "$top/test/programs/talk.c"
clang-19 -O1 -pthread -o talk-server "$top/test/programs/talk-server.c"
alone=
unshare -n true 2>err && alone="unshare -n"
./talk-server &
server=$!
for ((i = 0; i < 300; i++)); do [ -e port ] && break; sleep 0.1; done
port=$(cat port)
run 1 unplait hunt -n 300 -o t.plait ./talk "$port"
has out "total == 6"
run 1 unplait hunt -n 300 -o stdio.plait ./talk "$port" stdio
has err "stdio on a socket"
run 1 unplait hunt -n 300 -o same.plait ./talk "$port" same
kill $server
wait $server 2>err
run 0 unplait info t.plait
has out "answers of others"
run 0 unplait info --json t.plait
has out '"heard": '

mkdir other
cd other || exit 3
run 1 $alone "$UNPLAIT" replay --times 3 ../t.plait ../talk "$port"
has "$work/out" "replayed 3 of 3" "without the server, in another folder"
has "$work/out" "total == 6"
run 1 $alone "$UNPLAIT" minimize -o small.plait ../t.plait ../talk "$port"
run 1 $alone "$UNPLAIT" replay small.plait ../talk "$port"
has "$work/out" "total == 6" "the minimized plait has the answers, too"
run 1 $alone "$UNPLAIT" explain --runs 50 ../t.plait ../talk "$port"
has "$work/out" "atomicity"
# in the recorded run both threads had one number, one after the other; in other schedules both descriptors live at once
run 1 $alone "$UNPLAIT" explain --runs 50 ../same.plait ../talk "$port" same
has "$work/out" "the passing schedule was run too" "two descriptors that had one number live side by side"
if command -v gdb >gdb; then
	run 0 $alone "$UNPLAIT" replay --gdb --gdb-command 'print total < 6' ../t.plait ../talk "$port"
	has "$work/out" '= 1' "gdb stops at the failure"
else
	skip "under gdb" "there is no gdb"
fi
cd ..

run 1 unplait hunt -n 300 -o own.plait ./talk own
run 0 unplait info own.plait
hasnt out "answers of others" "who talks to himself is not outside"
run 1 unplait explain --runs 50 own.plait
has out "total"
finish
