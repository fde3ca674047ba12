#!/usr/bin/env bash
# Programs are killed with -9 at random moments while mode sync records them: every log can be read, and is replayed
# to its end. KILLS says how often (12), SUBJECT which program of test/programs (sync-storm), ARGS with what, WITHIN the
# hundredths of a second (6).
# level: check
. "$(dirname "$0")/lib.sh"
read -ra args <<<"${ARGS:-}"
run 0 unplait cc -g -O2 -pthread -o storm "$top/test/programs/${SUBJECT:-sync-storm}.c"
unreadable=0 unreplayed=0 killed=0 early=0 first=0
for ((i = 0; i < ${KILLS:-12}; i++)); do
	mkdir run
	(
		UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/run ./storm "${args[@]}" &
		sleep "0.0$((RANDOM % ${WITHIN:-6}))$((RANDOM % 10))"
		kill -9 $!
		wait $!
	) >out 2>err
	if [ "$(head -c 8 run/run 2>err | tr -d '\0')" != PLAITRUN ]; then # killed before it began: there is no log
		early=$((early + 1))
		unplait seal -o k.plait run >out 2>err
		[ $? -eq 3 ] || not_ok "a run that never began is refused" "$(cat err)"
	else
		killed=$((killed + 1))
		unplait seal -o k.plait run >out 2>err && unplait info k.plait >out 2>>err || { unreadable=$((unreadable + 1)) && cat err; }
		unplait replay k.plait ./storm "${args[@]}" >out 2>err || grep -q "ended before it began" err || { unreplayed=$((unreplayed + 1)) && cat out err; }
		grep -q "in attempt 1;" err && first=$((first + 1))
	fi
	rm -rf run
	[ $((i % 50)) -ne 49 ] || echo "# $killed killed, $unreadable unreadable, $unreplayed not replayed, $early before it began"
done
echo "# $killed killed, $unreadable unreadable, $unreplayed not replayed, $first in the first attempt, $early before it began"
[ "$killed" -gt 0 ] || not_ok "a run was killed while it recorded"
is $unreadable 0 "every log can be read"
is $unreplayed 0 "every log is replayed to its end"
finish
