#!/usr/bin/env bash
# The command line itself: help, version, mistakes.
# level: quick
. "$(dirname "$0")/lib.sh"

run 0 unplait help
has out "usage: unplait COMMAND"
run 0 unplait version
has out "unplait 0."
run 0 unplait version --json
has out '"unplait": 1'
run 2 unplait no-such-command
has err "no command 'no-such-command'"
run 2 unplait hnt
has err "do you mean \`unplait hunt\`?"
run 2 unplait version --no-such-option
has err "unknown option --no-such-option"
run 2 unplait help no-such-command
# numbers that mean nothing are refused before anything runs
run 2 unplait replay --times 0 x.plait
has err "--times needs a number from 1 on, not '0'"
run 2 unplait hunt --time -1 /bin/true
has err "--time needs a number, not '-1'"
run 2 unplait hunt --jobs 0 /bin/true
for c in $(unplait help | sed -n 's/^  \([a-z+]*\) .*/\1/p'); do
	case $c in cc | c++ | help) continue ;; esac
	run 0 unplait "$c" --help
	has out "usage: unplait $c" "$c --help names itself"
	run 2 unplait "$c" --no-such-option
done
finish
