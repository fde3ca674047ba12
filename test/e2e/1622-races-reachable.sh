#!/usr/bin/env bash
# Generated programs: races shows a race of exactly those variables for which a search over all states reaches a state in which
# two threads are about to make conflicting accesses.
# level: check
. "$(dirname "$0")/lib.sh"
cc -o racegen "$top/test/gen/racegen.c" || { not_ok "the generator builds"; finish; }
n=0 racing=0 wrong=0 open=0
for seed in $(seq "${FIRST_SEED:-1}" $((${FIRST_SEED:-1} + ${SEEDS:-10} - 1))); do
	./racegen "$seed" >p.c
	unplait cc -g -pthread -o p p.c 2>/dev/null && unplait cc -g -pthread -DMARK -o marked p.c 2>/dev/null ||
		{ not_ok "seed $seed builds"; continue; }
	timeout 100 "$UNPLAIT" sym schedules --no-confirm --all-errors ./marked >states 2>err
	case $? in 0 | 1) ;; *) open=$((open + 1)); continue ;; esac # no answer
	want=$(grep -o 'raced_[abc]' states | sed 's/raced_//' | sort -u | tr -d '\n')
	"$UNPLAIT" races --one-path --json -o "" ./p >races.json 2>err
	got=$(grep -A2 '"id":' races.json | sed -n 's/.*"object": "\([abc]\)".*/\1/p' | sort -u | tr -d '\n')
	n=$((n + 1))
	[ -z "$want" ] || racing=$((racing + 1))
	[ "$got" = "$want" ] || { wrong=$((wrong + 1)); not_ok "seed $seed: reachable '$want', shown '$got'"; }
	grep -q '"verdict": "not-reproduced"' races.json && not_ok "seed $seed: a race was not met"
done
is $wrong 0 "$n programs, $racing with a race: shown and reachable are the same"
[ $racing -gt 0 ] && [ "$n" -gt "$open" ] && ok "there were races, and answers" || not_ok "there were races, and answers"
finish
