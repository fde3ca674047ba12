#!/usr/bin/env bash
# The small utilities of the corpus: symbolic arguments find their crashes, native runs confirm them.
# level: check
. "$(dirname "$0")/lib.sh"

explore() { # name errors options...
	local name=$1 errors=$2 srcs=
	shift 2
	for s in $(sed -n 's/^sources = //p' "$CORPUS/$name/bug.toml" | tr -d '[]",'); do srcs="$srcs $CORPUS/$name/$s"; done
	if ! "$UNPLAIT" cc -O1 -g -o "$name" $srcs 2>cc.err; then
		not_ok "$name builds" "$(cat cc.err)"
		return
	fi
	run 1 unplait sym explore "$@" --seconds 120 --max-errors "$errors" "./$name"
	is "$(grep -c 'native run: confirmed' out)" "$errors" "$name: $errors confirmed natively"
	"$UNPLAIT" cc -DFIXED -O1 -g -o "$name.fixed" $srcs 2>cc.err
	"$UNPLAIT" sym explore "$@" --seconds 5 --max-paths 20000 "./$name.fixed" >out 2>err
	has out " 0 errors" "$name: the cured program has none"
}
explore mkdir 1 --sym-args 3 --sym-arg-len 3
explore tac 1 --sym-args 3 --sym-arg-len 2 --sym-stdin 2
explore paste 1 --sym-args 3 --sym-arg-len 2
explore mkfifo 1 --sym-args 3 --sym-arg-len 4
explore mknod 1 --sym-args 4 --sym-arg-len 10
explore ls4 4 --sym-args 3 --sym-arg-len 12
finish
