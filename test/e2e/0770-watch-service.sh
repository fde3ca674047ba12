#!/usr/bin/env bash
# watch: the systemd drop-in of doc/watch.md. systemd reads it; what it would run after a service was killed is run here.
. "$(dirname "$0")/lib.sh"
sed -n '/^    \[Service\]/,/^$/s/^    //p' "$top/doc/watch.md" >watch.conf
has watch.conf "LD_PRELOAD=" "the drop-in is in the doc"

if command -v systemd-analyze >/dev/null; then
	mkdir -p units/myserver.service.d
	cp watch.conf units/myserver.service.d/
	printf '[Service]\nExecStart=/bin/true\n' >units/myserver.service
	SYSTEMD_UNIT_PATH=$work/units: timeout 30 systemd-analyze verify "$work/units/myserver.service" >verify 2>&1
	is "$(grep watch.conf verify)" "" "systemd understands every line of it"
	echo 'NoSuchKey=1' >>units/myserver.service.d/watch.conf
	SYSTEMD_UNIT_PATH=$work/units: timeout 30 systemd-analyze verify "$work/units/myserver.service" >verify 2>&1
	has verify "NoSuchKey" "and would have said so"
else
	skip "systemd reads the drop-in" "no systemd-analyze"
fi

# a service that hangs and is killed, with the environment of the drop-in ...
mkdir run found
cc -O1 -g -pthread -o modes "$top/test/programs/watch/modes.c" || exit 3
LD_PRELOAD=$(dirname "$UNPLAIT")/libplait-watch.so
UNPLAIT_WATCH=$(sed -n 's/^Environment=UNPLAIT_WATCH=//p' watch.conf | sed "s|/run/myserver-watch|$work/run|")
env LD_PRELOAD="$LD_PRELOAD" UNPLAIT_WATCH="$UNPLAIT_WATCH" ./modes try &
pid=$!
unset LD_PRELOAD
for i in $(seq 100); do
	sleep 0.1
	[ "$(cat /proc/$pid/task/*/syscall 2>/dev/null | grep -c '^202 ')" = 3 ] && break
done
{ kill -9 $pid; wait $pid; } 2>/dev/null
is "$(ls run | wc -l)" 1 "a killed service leaves its area"
# ... and what is run then: $$ is $ to systemd, a backslash at the end of a line joins lines
sed -n '/^ExecStopPost=/,$p' watch.conf | sed 's/^ExecStopPost=-//' | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
	sed -e "s|/run/myserver-watch|$work/run|; s|/var/lib/deadlocks|$work/found|; s/[$][$]/\$/g" >post.sh
PATH=$(dirname "$UNPLAIT"):$PATH run 0 sh post.sh
has out "deadlock: 2 threads wait for each other" "the stop command reports it"
is "$(ls found | wc -l)" 1 "and keeps a fingerprint"
is "$(ls run | wc -l)" 0 "and removes the area, so that it is told once"
finish
