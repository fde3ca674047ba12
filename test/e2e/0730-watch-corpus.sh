#!/usr/bin/env bash
# watch: fingerprints for the deadlocks of the corpus, on plain binaries. Schedules are shaken by a
# second preloaded library (plain runs hang once in thousands); the cured programs stay silent.
. "$(dirname "$0")/lib.sh"
LIB=$(dirname "$UNPLAIT")/libplait-watch.so
cc -O1 -shared -fPIC -o nudge.so "$top/test/programs/watch/nudge.c" -ldl || exit 3

list() { sed -n "s/^$2 *= *\[\(.*\)\].*/\1/p" "$1" | tr -d '",'; } # FILE KEY: a list of words
text() { sed -n "s/^$2 *= *\"\(.*\)\".*/\1/p" "$1"; }
build() { # NAME OUTPUT [flag]
	local src=()
	for s in $(list "$CORPUS/$1/bug.toml" sources); do src+=("$CORPUS/$1/$s"); done
	case "${src[*]}" in *.cpp*) c++ -O1 -g -pthread -w ${3:-} -o "$2" "${src[@]}" ;;
	*) cc -O1 -g -pthread -w ${3:-} -o "$2" "${src[@]}" -lm ;; esac
}
try() { # PROGRAM NAME SEED: one watched run
	local toml=$CORPUS/$2/bug.toml
	printf '%s' "$(text "$toml" input)" | timeout 30 "$UNPLAIT" watch --quiet --stuck-after 0.7 --timeout 10 -o "found-$2" -- \
		env LD_PRELOAD="$LIB:$work/nudge.so" NUDGE_SEED="$3" $(list "$toml" env) "./$1" $(list "$toml" args) >out 2>err
}
# every lock deadlock; "stuck" for the ones on conditions and joins
names=${NAMES:-$(cd "$CORPUS" && grep -lE '^symptom *= *"deadlock"' */bug.toml | cut -d/ -f1)}
for name in $names; do
	build "$name" "$name.bug" && build "$name" "$name.fixed" -DFIXED || { not_ok "$name builds"; continue; }
	status=0
	for seed in $(seq "${TRIES:-2000}"); do
		try "$name.bug" "$name" "$seed"
		status=$?
		[ $status -eq 0 ] || break
	done
	if [ $status -eq 1 ]; then
		ok "$name: $(sed -n 's/^\(deadlock\|stuck\):.*/\1/p' out | head -n 1) after $seed runs"
		has out "main.c" "$name: with source lines"
		cat "found-$name"/*.json >fp.json
		has fp.json '"bucket": "' "$name: a fingerprint is stored"
	else
		not_ok "$name hangs under some schedule and is reported" "status $status after $seed tries" "$(tail -n 5 err)"
	fi
	bad=0
	for seed in 1 2 3; do try "$name.fixed" "$name" "$seed" || bad=$?; done
	is "$bad" 0 "$name: nothing about the cured program"
done
finish
