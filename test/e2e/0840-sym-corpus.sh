#!/usr/bin/env bash
# Cured corpus programs run in the machine as they run natively: every third one; EVERY=1 asks for all (check-long
# runs 0841).
# level: check
. "$(dirname "$0")/lib.sh"

n=0
all=("$CORPUS"/*/bug.toml)
every=${EVERY:-3}
for ((k = 0; k < ${#all[@]}; k += every)); do
	toml=${all[k]}
	dir=$(dirname "$toml")
	name=$(basename "$dir")
	rm -f part-*.bc
	cc=clang-19
	for s in $(sed -n 's/^sources = //p' "$toml" | tr -d '[]",'); do
		case $s in *.cpp | *.cc) cc=clang++-19 ;; esac
		$cc -w -DFIXED -I"$CORPUS" -O1 -g -emit-llvm -c -o "part-$(basename "$s").bc" "$dir/$s" || continue 2
	done
	llvm-link-19 -o p.bc part-*.bc && $cc -O1 -pthread -o p p.bc -lm 2>link.err || {
		not_ok "$name links" "$(head -3 link.err)"
		continue
	}
	eval "args=($(sed -n 's/^args = \[\(.*\)\]/\1/p' "$toml" | tr -d ,))"
	timeout 20 ./p "${args[@]}" >want 2>/dev/null </dev/null
	code=$?
	# some programs print what depends on the schedule: one of our schedules prints it too, or our own schedules
	# disagree with each other about it, and then only the end must be the same
	: >sums
	for seed in 0 $(seq 1 40); do
		timeout 60 "$UNPLAIT" sym run --seed "$seed" p.bc "${args[@]}" >out 2>err
		status=$?
		cmp -s out want && break
		cksum <out >>sums
	done
	got=$(sed -n 's/.*the program ended with status //p' err)
	if [ $status -eq 0 ] && [ "${got:-0}" -eq $code ] &&
		{ cmp -s out want || [ "$(sort -u sums | wc -l)" -gt 1 ]; }; then
		n=$((n + 1))
	else
		not_ok "$name runs as natively" "status $status, program ${got:-0}, native $code" "$(head -5 err)" "$(diff want out | head -5)"
	fi
done
least=$((100 / every))
[ $n -gt $least ] && ok "$n corpus programs agree" || not_ok "more than $least corpus programs agree" "$n"
finish
