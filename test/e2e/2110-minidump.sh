#!/usr/bin/env bash
# Minidumps instead of cores: synth, rewind and watch take them; what they lack is said, and never taken for zero.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
mini() { python3 "$top/test/e2e/core2minidump.py" "$@"; }

gcc -O1 -g -o shipped "$CORPUS/mkdir/main.c"
dump_of core.good ./shipped -v a//b </dev/null
run 0 unplait cc -g -o prog "$CORPUS/mkdir/main.c"
mini core.good stack.dmp --cmdline ./shipped -v a//b
mini core.good bare.dmp --bare
mini core.good full.dmp --full
for d in stack full; do
	run 1 unplait synth -o p.plait $d.dmp ./prog
	has out "complain at"
	has out "make_path at"
	has out "confirmed in the unplait build and in the shipped binary"
	has out "the dump has 2 arguments"
done
# as Crashpad has it: no arguments, so they are searched for
run 1 unplait synth -o p.plait --time 60 bare.dmp ./prog
has out "found by search"
has out "confirmed in the unplait build and in the shipped binary"
# backwards: the stack is enough for the last steps; what is not in it is not known, and it is not run
for d in stack bare; do
	"$UNPLAIT" rewind --time 3 $d.dmp >out 2>err
	status=$? # 0 where the walk ends by itself, 4 where its time is over first
	is "$((status == 0 || status == 4))" 1 "rewind of $d.dmp has steps and no cause (status $status)"
	has out "no cause found"
	has out "not run: a minidump has too little memory for that"
	has out "read from stack"
	grep -q "every way to this dump contradicts it" out && not_ok "nothing contradicts what is missing"
done
run 2 unplait synth stack.dmp
# bad ones
head -c 20 stack.dmp >cut1 && run 3 unplait synth cut1 ./prog
has err "a minidump whose list of streams is cut off"
head -c 260 stack.dmp >cut2 && run 3 unplait synth cut2 ./prog
has err "minidump"
head -c $(($(stat -c %s stack.dmp) * 3 / 4)) stack.dmp >cut3
"$UNPLAIT" synth --time 5 -o c.plait cut3 ./prog >out 2>err
is "$(($? == 1 || $? == 3 || $? == 4))" 1 "a minidump that is cut off gives an answer or a sentence"
grep -q "cut off" out err && ok "and says that it is cut off" || not_ok "and says that it is cut off" "$(cat out err)"
cp stack.dmp windows.dmp && printf '\2\0\0\0' | dd of=windows.dmp bs=1 seek=$((0xe8 + 20)) conv=notrunc 2>/dev/null
run 3 unplait synth windows.dmp ./prog
has err "of another machine"
gcc -O0 -g -DOTHER -o shipped "$CORPUS/mkdir/main.c"
run 3 unplait synth stack.dmp ./prog
has err "not the build that ran"

# a deadlock: who waits for whom needs the mutexes, which only a full minidump has
gcc -O1 -g -pthread -o hawk "$CORPUS/hawknl/main.c"
slow_locks
stuck_dump_of core.stuck ./hawk </dev/null
mini core.stuck stuck.dmp --full
mini core.stuck stacks.dmp
run 0 unplait cc -g -pthread -o hawk.plait "$CORPUS/hawknl/main.c"
"$UNPLAIT" watch --core core.stuck >want 2>/dev/null
wanted=$?
run $wanted unplait watch --core stuck.dmp
sed -i 's/core.stuck/X/' want && sed -i 's/stuck.dmp/X/' out
diff want out >diff.txt && ok "watch says the same of both" || not_ok "watch says the same of both" "$(cat diff.txt)"
run 1 unplait synth -o d.plait --time 60 stuck.dmp ./hawk.plait
has out "deadlock"
run 3 unplait synth stacks.dmp ./hawk.plait
has err "nothing failed in it"
finish
