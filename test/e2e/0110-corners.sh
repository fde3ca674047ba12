#!/usr/bin/env bash
# The odd corners of a process: the target behaves as without us, and the plait says what happened.
. "$(dirname "$0")/lib.sh"
unplait cc -g -O1 -o corners "$top/test/programs/corners.c" -lpthread || { not_ok "build"; finish; }
clang-19 -g -O1 -o plain "$top/test/programs/corners.c" -lpthread
unplait c++ -g -O1 -o cxx "$top/test/programs/corners.cc" -lpthread || not_ok "build c++"

alike() { # case: full, path and off behave like the plain build; leaves CASE.MODE.plait
	local name=$1 want got mode
	want=$(timeout 60 ./plain "$name" 2>&1; echo "status $?")
	got=$(timeout 60 ./corners "$name" 2>&1; echo "status $?")
	is "$got" "$want" "$name: off"
	for mode in full path; do
		mkdir -p d.$name.$mode
		got=$(UNPLAIT_MODE=$mode UNPLAIT_DIR=d.$name.$mode timeout 60 ./corners "$name" 2>&1; echo "status $?")
		is "$got" "$want" "$name: $mode"
		run 0 unplait seal -o "$name.$mode.plait" "d.$name.$mode"
	done
}
counts() { unplait info "$1" | sed -n 's/^kinds *//p'; }

for c in fork vfork spawn exec exec-self cancel detach tls atexit quick-exit longjmp signals signal-storm \
	close-all chdir c11 _exit; do
	alike $c
done
alike no-memory
unplait info fork.full.plait >out
has out "it forked; children are not in this plait"
has out "outcome     pass"
hasnt out "lost"
unplait info exec.full.plait >out
has out "it ended by starting another program"
unplait info --events --kind process-exec exec.full.plait >out
has out '"echo"'
unplait info exec-self.full.plait >out
has out "events      " "the second program leaves the first one's trace alone"
unplait info --events vfork.full.plait | tail -n 1 >out
has out "process-exit" "the vfork child's exit is not ours"
is "$(unplait info --events --kind exit tls.full.plait | wc -l)" 4 "threads end after their TLS destructors"
unplait info --events --thread 0.2 tls.full.plait >out
is "$(awk '$4 == "unlock" { u = NR } $4 == "exit" { e = NR } END { print (u < e) }' out)" 1 "destructors come before the thread's exit"
unplait info cancel.full.plait >out
hasnt out "0.2       0 events"
is "$(unplait info --events --kind exit cancel.full.plait | wc -l)" 3 "cancelled threads end"
is "$(unplait info --events --kind signal-enter signals.full.plait | wc -l)" 101 "signal handlers are marked"
is "$(unplait info --events --kind signal-leave signals.full.plait | wc -l)" 100 "one left by a jump"
unplait info --events --kind process-exit _exit.full.plait >out
has out "result 14"
unplait info --events --kind process-exit atexit.full.plait >out
has out "result 9"
unplait info --events --kind process-exit quick-exit.full.plait >out
has out "result 10"
unplait info no-memory.full.plait >out
hasnt out "lost" "a trace needs no memory of its own to grow"
unplait info close-all.full.plait >out
hasnt out "lost" "no descriptor is needed"
has out "lock 10005" "all of them"
run 0 unplait record --follow -o f.plait -- ./corners fork
has out "f.1.plait: pass" "followed children have plaits of their own"
unplait info f.1.plait >out
has out "  0.1 "

# 2 000 threads at once
alike many-threads
unplait info many-threads.full.plait >out
has out "in 2002 threads"
hasnt out "lost"

# stack overflow is noted on another stack
run 1 unplait record -o o.plait -- ./corners overflow
unplait info o.plait >out
has out "signal (signal 11, Segmentation fault)"
has out "main at "

# C++
run 0 ./cxx
mv out want
run 0 unplait record -o cxx.plait -- ./cxx
grep -v plait out >got
same got want "C++ exceptions, thread_local, std::thread"
run 0 unplait record --mode path -o cxx.plait -- ./cxx

# no space left: a small file system if we may mount one, and a limit on file sizes
mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
	mkdir small/d
	got=$(UNPLAIT_MODE=full UNPLAIT_DIR=small/d ./corners chdir 2>&1; echo "status $?")
	is "$got" "shared 50040
status 0" "no space left: the target does not notice"
	run 0 unplait seal -o small.plait small/d
	unplait info small.plait >out
	has out "there was no room for all events"
	has out "events lost"
	umount small
else
	skip "no space left" "cannot mount a tmpfs"
fi
mkdir d.limit
got=$(ulimit -f 600; UNPLAIT_MODE=full UNPLAIT_DIR=d.limit ./corners chdir 2>&1; echo "status $?")
is "$got" "shared 50040
status 0" "a limit on file sizes: no SIGXFSZ"
run 0 unplait seal d.limit
has out "lost"
# no permission
mkdir d.denied && chmod 555 d.denied
if [ "$(id -u)" -ne 0 ]; then
	got=$(UNPLAIT_MODE=full UNPLAIT_DIR=d.denied ./corners c11; echo "status $?")
	is "$got" "c11 13
status 0" "no permission: it runs untraced"
else
	skip "no permission" "root may write anywhere"
fi
got=$(UNPLAIT_MODE=full UNPLAIT_DIR=/no/such/folder ./corners c11; echo "status $?")
is "$got" "c11 13
status 0" "no folder: it runs untraced"
finish
