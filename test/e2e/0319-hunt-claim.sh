#!/usr/bin/env bash
# "Every schedule was explored" is true: generated programs over the whole vocabulary of synchronisation
# have exactly the outcomes that a plain interpreter of every interleaving finds (test/gen/outcomes.c).
# dfs must find all of them, states must not claim completeness while it lacks one, and sampling must
# find nothing else. 12 programs; SEEDS=N and FIRST_SEED=N ask for others, MINUTES=N for as many as fit (0328).
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

# Is completeness claimed? The clock, which every program reads for its deadlines, may be left out.
claims_all() { # FILE
	grep -qE "every schedule (of what is covered )?was explored" "$1" && ! grep "not covered" "$1" | grep -qv "the clock: "
}

# the outcomes among the failures that hunt printed
outcomes() {
	sed -n "s/^assert: claim:1: main: Assertion \`\(.*\)' failed.*/\1/p; s/^deadlock.*/deadlock/p;
		s/^assert: \(read\|write\) .* memory that was freed.*/used/p
		s/^assert: free of memory that was freed.*/freed twice/p
		s/^\(hang\|signal\).*/&/p" "$1" | sort -u
}

# dfs: every outcome, nothing else. A search that its limit ended may know less, never more.
check_dfs() { # what
	"$UNPLAIT" hunt -q -s dfs -n 20000 --replays 0 --all -o "" ./p >dfs.txt 2>err
	outcomes dfs.txt >dfs
	if grep -q '^20000 runs' dfs.txt; then
		is "$(comm -13 wanted dfs)" "" "$1: dfs, cut short, finds only outcomes of the program"
	else
		same dfs wanted "$1: dfs finds its $(wc -l <wanted) outcomes"
	fi
}

# states: asked for one outcome, it finds it or does not claim to have looked everywhere. Asked for
# none, it mostly makes the claim: else the check would say nothing.
check_states() { # what
	local o false=""
	while read -r o; do
		case "$o" in deadlock | used | "freed twice") continue ;; esac
		"$UNPLAIT" hunt -q -s states --time 20 --replays 1 -o "" ./p "$o" >states.txt 2>err
		claims_all states.txt && false="$false [$o]"
		found=$((found + $(grep -c 'replayed 1 of 1' states.txt))) sought=$((sought + 1))
	done < <(shuf -n 4 --random-source=p.c wanted)
	if grep -qxE 'deadlock|used|freed twice' wanted; then
		"$UNPLAIT" hunt -q -s states --time 20 --replays 1 -o "" ./p none >states.txt 2>err
		claims_all states.txt && false="$false [without a text]"
	fi
	is "$false" "" "$1: states claims nothing false"
	grep -qxE 'deadlock|used|freed twice' wanted && return
	"$UNPLAIT" hunt -q -s states --time 20 --replays 1 -o "" ./p none >states.txt 2>err
	asked=$((asked + 1))
	claims_all states.txt && claims=$((claims + 1))
}

check_sampling() { # what
	"$UNPLAIT" hunt -q -n 300 --replays 0 --all -o "" ./p >auto.txt 2>err
	outcomes auto.txt >auto
	is "$(comm -13 wanted auto)" "" "$1: sampling finds only outcomes of the program"
}

clang-19 -O1 -o claimgen "$top/test/gen/claimgen.c" "$top/test/gen/outcomes.c" || { not_ok "the generator builds"; finish; }
first=${FIRST_SEED:-1} asked=0 claims=0 found=0 sought=0
for seed in $(seq "$first" $((first + ${SEEDS:-12} - 1))); do
	[ $SECONDS -lt $((60 * ${MINUTES:-1000})) ] || break
	./claimgen "$seed" c >p.c
	./claimgen "$seed" outcomes >unsorted || continue # too many states to be checked
	sort unsorted >wanted
	flags="-O0"
	[ $((seed % 2)) -eq 0 ] && flags="-O2 -DSHARED=volatile"
	"$UNPLAIT" cc -w $flags -g -pthread p.c -o p || { not_ok "program $seed builds"; continue; }
	check_dfs "program $seed ($flags)"
	check_states "program $seed ($flags)"
	check_sampling "program $seed ($flags)"
done
is "$((2 * claims >= asked))" 1 "states claims completeness for $claims of $asked programs that cannot fail"
is "$((10 * found >= 8 * sought))" 1 "states found $found of $sought outcomes that it was asked for"
finish
