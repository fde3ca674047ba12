#!/usr/bin/env bash
# Numbers that differ natively in every process (random numbers, time, processor time, process and thread ids, names of
# temporary files, addresses) are the same in every run under control: in one server, with a process per run and a larger
# environment, and in the replays of a failure. Natively the same program notices a difference.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait c++ -w -g -O1 "$top/test/programs/draws.cpp" -o draws -pthread
large=$(seq 1 2000 | tr '\n' ' ')
sources="early random_device random_device-urandom getrandom getrandom-syscall getentropy arc4random arc4random_buf
	urandom-open urandom-fopen urandom-stream auxv rdtsc rdtsc-assembly rdrand clock times getrusage time clock-syscall
	getpid gettid child proc-stat mkstemp mkdtemp tempnam heap stack environment"
grep -qw rdrand /proc/cpuinfo || sources=${sources/ rdrand / }
for s in $sources; do
	same=yes
	unplait hunt -n 2 ./draws "$s" >"$work/out" 2>&1 || same="no, among runs of one server"
	LARGE=$large unplait hunt -n 1 --exec ./draws "$s" >>"$work/out" 2>&1 || same="no, in a process of its own"
	is "$same" yes "$s is the same in every run"
done
# a failure is replayed by another server, in the same world
for s in early random_device gettid mkstemp stack; do
	run 1 unplait hunt -n 200 -o "$s.plait" ./draws "$s" race
	has out "shared == 2" "$s: the race is what fails"
	has out "replayed 5 of 5" "$s: and repeats"
	LARGE=$large run 1 unplait replay --times 3 "$s.plait"
	has out "replayed 3 of 3" "$s: also in another process with another environment"
done
# the numbers do differ without control
for s in random_device getrandom urandom-stream getpid mkstemp; do
	rm -f "kept-$s"
	./draws "$s"
	if (ulimit -c 0; ./draws "$s") 2>"$work/err"; then
		not_ok "natively $s differs" "two runs agreed"
	else
		ok "natively $s differs"
	fi
done
finish
