#!/usr/bin/env bash
# Looking at a failure: stacks at a deadlock, the interleaving step by step, gdb, CI formats.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "replay" "libplait.a is not built"; finish; }

run 0 unplait cc -g -O1 "$CORPUS/deadlock/main.c" -o deadlock
run 1 unplait hunt -n 500 --junit j.xml --sarif s.json -o d.plait ./deadlock
has out "left_first at" "the stack of a thread that waits"
has j.xml '<failure type="deadlock"'
has s.json '"ruleId": "deadlock"'
has s.json 'main.c'
run 1 unplait replay --step d.plait
has out "left_first  lock left" "the interleaving, with source names"
has out "switch to 0.2"

run 0 unplait cc -g -O1 "$CORPUS/bank/main.c" -o bank
run 1 unplait hunt -n 500 -o b.plait ./bank
if command -v gdb >/dev/null; then
	unplait replay --gdb --gdb-command run b.plait >out 2>&1
	has out "received signal SIGABRT" "gdb sees the failure"
	unplait replay --gdb --gdb-command bt b.plait >out 2>&1
	has out " in main (" "a command that looks at the failure sees its stack"
	unplait replay --gdb --gdb-command \
		"python [gdb.execute(c) for c in ('break main', 'run', 'plait next-switch', 'plait next-switch', 'plait threads', 'plait where')]" \
		b.plait >out 2>&1
	has out "switches so far" "plait where"
	has out "events done" "plait threads"
else
	skip "replay --gdb" "no gdb"
fi
finish
