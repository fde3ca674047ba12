# Sourced by 0852 and 0853: follow recordings of corpus programs.

# corpus_build NAME: build the program, with its bug, into ./NAME; its arguments into args
corpus_build() {
	local dir=$CORPUS/$1 cc=cc sources=() s
	for s in $(sed -n 's/^sources = //p' "$dir/bug.toml" | tr -d '[]",'); do
		case $s in *.cpp | *.cc) cc=c++ ;; esac
		sources+=("$dir/$s")
	done
	eval "args=($(sed -n 's/^args = \[\(.*\)\]/\1/p' "$dir/bug.toml" | tr -d ,))"
	timeout 200 "$UNPLAIT" $cc -w -I"$CORPUS" -g -O1 -pthread -o "$1" "${sources[@]}" -lm >build.log 2>&1
}

# follows PLAIT: every thread is followed to its recorded end, and every recorded event comes again; counts steps and events
follows() {
	timeout 100 "$UNPLAIT" sym trace --summary "$1" >out 2>err && ! grep -q '^differs' out || return 1
	steps=$((${steps:-0} + $(sed -n 's/^\([0-9]*\) steps: .*/\1/p' out)))
	events=$((${events:-0} + $(sed -n 's/^\([0-9]*\) of [0-9]* recorded events reproduced$/\1/p' out | grep . || echo 0)))
}

# record_run MODE NAME: into r.plait. A run that hangs is killed and loses the branch bits that were not written yet: again.
record_run() {
	local try
	for try in 1 2 3 4 5 6; do
		rm -f r.plait
		timeout 60 "$UNPLAIT" record -q --timeout 5 --mode "$1" -o r.plait -- ./"$2" "${args[@]}" >record.log 2>&1 </dev/null
		"$UNPLAIT" info r.plait | grep -q '^outcome *hang' || return
	done
}

# corpus_follow NAME: record it in modes path and full, follow both
corpus_follow() {
	local mode
	corpus_build "$1" || { not_ok "$1 builds" "$(head -3 build.log)"; return; }
	for mode in path full; do
		record_run $mode "$1"
		if follows r.plait; then
			followed=$((followed + 1))
		else
			not_ok "$1: its recording of mode $mode is followed" "$(head -12 out)" "$(head -2 err)"
			return
		fi
	done
}

# corpus_failure NAME SEED: find a failing schedule, follow that run up to its failure
corpus_failure() {
	rm -f f.plait
	timeout 60 "$UNPLAIT" hunt -q -n "${RUNS:-500}" --seed "$2" -o f.plait -- ./"$1" "${args[@]}" >hunt.log 2>&1 </dev/null
	[ -f f.plait ] || return 1
	if follows f.plait; then
		failed=$((failed + 1))
	else
		not_ok "$1: its failing run is followed" "$(head -12 out)" "$(head -2 err)"
	fi
}
