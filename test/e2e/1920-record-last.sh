#!/usr/bin/env bash
# The flight recorder: a server runs for long and crashes. Its last seconds are there: what every thread did,
# which locks it had, what it waited for; what was long before is gone.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o server "$top/test/programs/last-server.c"
run 0 clang-19 -g -O2 -pthread -o foreign "$top/test/programs/last-server.c"
start() { # PROGRAM: recorded in the background, into the folder `crashes`
	mkdir -p crashes
	rm -f socket
	"$UNPLAIT" record --last 0.05 -o crashes -- "./$1" serve >"$work/recorded" 2>"$work/said" </dev/null &
	recorder=$!
}
crash() { # PROGRAM PLAIT
	start "$1"
	run 0 "./$1" ask work 100
	run 1 "./$1" ask crash 1
	wait $recorder
	is $? 1 "$1: the recorder says that the run has failed"
	has "$work/recorded" "$2: signal"
	run 0 unplait info "$2"
	has out "Segmentation fault"
	has out "a flight recorder: it has the end of the run"
	has out "crash at"
	has out "failed; has stats at"
	has out "waits for the condition variable has_jobs"
	has out "waits for descriptor" "$1: main waited for a client"
	run 0 unplait info --events --kind lock "$2"
	is "$(($(grep -c early out) < 2))" 1 "$1: what a worker did long ago is gone"
	is "$(($(wc -l <out) < 100 * 20000))" 1 "$1: not all locks of the run are there"
	has out "work"
}
crash server crashes/0001-signal.plait
crash foreign crashes/0002-signal.plait

# for programs
run 0 unplait info --json=json crashes/0001-signal.plait
run 0 python3 - json <<'PY'
import json, sys
last = json.load(open(sys.argv[1]))["last"]
assert last["complete_seconds"] > 0.0
failed = [t for t in last["threads"] if any(e["kind"] == "failure" for e in t["events"])]
assert len(failed) == 1 and failed[0]["holds"][0]["object"] == "stats", failed
# main may be on its way back to accept() when the worker crashes
assert [e for t in last["threads"] for e in t["events"] if e.get("until") == "input"]
PY

# a deadlock: killed when it has not moved for long
start server
run 0 ./server ask stuck 1
sleep 1
kill -9 "$(pgrep -P $recorder)"
wait $recorder
run 0 unplait info crashes/0003-signal.plait
has out "deadlock    2 threads wait for each other: 0.2 0.3"
has out "waits to lock right, which 0.2 has"
has out "waits to lock left, which 0.3 has"

# systemd's way to end it: the signal is for the server, which ends in order
start server
run 0 ./server ask work 1
kill -TERM $recorder
wait $recorder
is $? 0 "the recorder passes SIGTERM on"
has "$work/recorded" "stopped in order by signal 15"
has "$work/recorded" "crashes/0004-pass.plait: pass"

# the drop-in for systemd, as it stands there; its watchdog sends SIGABRT
command=$(sed -n 's|^ExecStart=/usr/bin/unplait \(.*\) /usr/sbin/server$|\1|p' "$top/contrib/systemd/flight-recorder.conf")
command=${command//'${STATE_DIRECTORY}'/crashes}
rm -f socket
"$UNPLAIT" $command ./server serve >"$work/recorded" 2>"$work/said" </dev/null &
recorder=$!
run 0 ./server ask stuck 1
sleep 1
kill -ABRT $recorder
wait $recorder
is $? 1 "the watchdog's signal is passed on: $command"
run 0 unplait info crashes/0005-assert.plait
has out "deadlock    2 threads wait for each other: 0.2 0.3"

# it has no beginning: nothing can be run again from it
for command in replay explain minimize predict solve; do
	run 3 unplait $command crashes/0001-signal.plait
	has err "has the end of a run alone"
done
run 2 unplait record --last 1 --mode sync -- ./server serve
has err "--last does without --mode"
run 2 unplait record --last -1 -- ./server serve
has err "--last needs a number, not '-1'"
finish
