#!/usr/bin/env bash
# hunt and replay: the three ways in, assert and deadlock, and the cured twins stay silent.
# level: quick
. "$(dirname "$0")/lib.sh"
lib=$(dirname "$UNPLAIT")/libplait.a
[ -e "$lib" ] || { skip "hunt" "libplait.a is not built"; finish; }

for p in bank deadlock sct-twostage sct-wronglock; do
	run 0 unplait cc -g -O1 "$CORPUS/$p/main.c" -o $p
	run 0 unplait cc -g -O1 -DFIXED "$CORPUS/$p/main.c" -o $p-fixed
	run 1 unplait hunt -n 2000 -o $p.plait ./$p
	has out "replayed 5 of 5 times" "$p: confirmed"
	run 1 unplait replay --times 20 $p.plait
	has out "replayed 20 of 20 times" "$p: replay"
	run 0 unplait hunt -n 300 ./$p-fixed
	has out "no failure in 300 runs" "$p: the cure is silent"
done
run 1 unplait hunt -n 50 ./deadlock
has out "waits to lock a mutex held by thread 0." "who waits for whom"

# same seed, same schedule
run 1 unplait hunt --seed 5 -n 2000 -o a.plait ./bank
sed 's/ in [0-9.]* s,/ in T s,/; s/[ab]\.plait/F/' out >one
run 1 unplait hunt --seed 5 -n 2000 -o b.plait ./bank
sed 's/ in [0-9.]* s,/ in T s,/; s/[ab]\.plait/F/' out >two
same two one "same seed, same hunt"

# -fsanitize=thread objects, and nothing rebuilt at all
cc=$(command -v clang-19 || command -v gcc)
run 0 "$cc" -g -O1 -fsanitize=thread -c "$CORPUS/sct-wronglock/main.c" -o t.o
run 0 "$cc" t.o -o tsan "$lib" -lpthread -ldl
run 1 unplait hunt -n 2000 ./tsan
run 0 "$cc" -g -O1 "$CORPUS/deadlock/main.c" -o plain -lpthread
run 1 unplait hunt -n 2000 ./plain
has out "deadlock"
run 1 unplait replay fail.plait

# bad input
run 3 unplait hunt ./no-such-program
printf '#!/bin/sh\n' >script; chmod +x script
run 3 unplait hunt ./script
has err "a script"
run 2 unplait hunt
run 2 unplait hunt --strategy wrong ./bank
run 2 unplait hunt --strategy follow ./bank
run 3 unplait replay ./bank
run 1 unplait hunt -n 2000 -o x.plait ./bank
run 4 unplait replay x.plait ./bank-fixed
touch in-the-way
run 3 unplait hunt --all -n 10 -o in-the-way ./bank
has err "in-the-way: Not a directory"

# C++: stacks are in the user's lines and words
cat >lost.cpp <<'EOF'
#include <condition_variable>
#include <mutex>
#include <thread>
struct Gate {
	std::mutex m;
	std::condition_variable opened;
	bool open = false;
	void pass() { std::unique_lock<std::mutex> l(m); while (!open) opened.wait(l); }
	void release() { open = true; opened.notify_all(); }
};
int main() { Gate g; std::thread t([&] { g.pass(); }); g.release(); t.join(); }
EOF
run 0 unplait c++ -O1 -g -pthread -o lost lost.cpp
run 1 unplait hunt --all -n 300 ./lost
has out "unplait replay failures/fail-1.plait"
has out "lost.cpp:8"
has out "std::thread::join()"
hasnt out "_ZN"
hasnt out "condition_variable:"
finish
