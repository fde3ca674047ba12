#!/usr/bin/env bash
# Two ways lead to one dump: gdb goes from one to the other, questions are answered "in some".
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind: other suffixes" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top/test/programs/rewind-two.c" two.c
gcc -O0 -g -w -o two two.c
(ulimit -c unlimited && exec ./two) >/dev/null 2>&1
mv core* dump
run 0 unplait rewind --blocks 2 --ask 'state at two.c:7' --ask 'state at two.c:9' --ask 'state at two.c:10' \
	--ask 'who wrote result' dump
is "$(grep -c 'in some: control passed there in 1 of 2 suffixes' out)" 2 "either line was passed in one of them"
has out "yes: control passed there in all 2 suffixes"
is "$(grep -c '  set to 5, .*at two.c:[79] in main (in 1 of 2 suffixes)' out)" 2 "two possible writers"
if ! command -v gdb >/dev/null; then
	skip "plait other" "there is no gdb"
	finish
fi
run 0 timeout 100 "$UNPLAIT" rewind --blocks 2 --time 5 --gdb-command 'plait suffixes' --gdb-command 'reverse-step' \
	--gdb-command 'reverse-step' --gdb-command 'reverse-step' --gdb-command 'reverse-step' \
	--gdb-command 'plait other' --gdb-command 'plait other' --gdb-command 'plait other 2' --gdb-command 'plait other 7' \
	--gdb-command 'print $rax' --gdb-command 'reverse-continue' --gdb-command 'continue' dump
cat err >>out # where gdb writes what the target says
is "$(grep -c 'suffix [12] of 2: 2 blocks' out)" 5 "both are listed, and named when they are chosen"
is "$(grep -c 'result = 5; /\* one way' out)" 2 "gdb is in the one"
is "$(grep -c 'result = 5; /\* the other' out)" 4 "gdb is in the other"
has out "the commands are: other, other N (1 to 2), suffixes"
has out "<unavailable>" "a register that nobody knows"
has out "more reverse-execution history" "it has a beginning and an end"
if command -v lldb-19 >/dev/null && command -v python3 >/dev/null; then
	cat >bridge.py <<'END'
import socket, subprocess, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(1)
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
subprocess.run(sys.argv[1:], stdin=c.fileno(), stdout=c.fileno())
END
	mkfifo port
	timeout 100 python3 bridge.py "$UNPLAIT" rewind --gdb --blocks 2 --time 5 dump >port 2>/dev/null &
	read -r n <port
	timeout 100 lldb-19 -b -o 'target create two' -o "gdb-remote 127.0.0.1:$n" -o 'bt' \
		-o 'process plugin packet monitor suffixes' >out 2>&1
	has out "main(argc=0" "lldb shows the frames"
	has out "response: 2a207375666669782031" "and the suffixes, in hex: * suffix 1"
	wait
fi
finish
