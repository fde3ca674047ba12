#!/usr/bin/env bash
# Bad input: one sentence and status 3, or a weaker answer with a note. Packed dumps are read as they are.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

gcc -O1 -g -o shipped "$CORPUS/mkdir/main.c"
dump_of core.good ./shipped -v a//b </dev/null
run 0 unplait cc -g -o prog "$CORPUS/mkdir/main.c"
for pack in zstd lz4 xz gzip; do
	command -v $pack >/dev/null || { skip "$pack" "not installed"; continue; }
	$pack -c core.good >core.packed
	run 1 unplait synth -o p.plait core.packed ./prog
	head -c 2000 core.packed >core.torn
	run 3 unplait synth core.torn ./prog
	has err "cannot be unpacked by $pack"
done
run 2 unplait synth core.good
run 2 unplait synth --kind bug core.good ./prog
run 2 unplait synth --facts much core.good ./prog
run 3 unplait synth missing ./prog
has err "missing"
run 3 unplait synth "$CORPUS/mkdir/main.c" ./prog
has err "not a core dump"
run 3 unplait synth ./shipped ./prog
has err "an ELF file, but not a core dump"
: >empty
run 3 unplait synth empty ./prog
has err "not a core dump"
printf 'MDMP%060d' 0 >mini
run 3 unplait synth mini ./prog
has err "minidump"
cp core.good core32 && printf '\1' | dd of=core32 bs=1 seek=4 conv=notrunc 2>/dev/null
run 3 unplait synth core32 ./prog
has err "32-bit"
cp core.good core.arm && printf '\267' | dd of=core.arm bs=1 seek=18 conv=notrunc 2>/dev/null
run 3 unplait synth core.arm ./prog
has err "another machine"
head -c 3000 core.good >core.cut
run 3 unplait synth core.cut ./prog
head -c $(($(stat -c %s core.good) * 3 / 4)) core.good >core.cut
"$UNPLAIT" synth --time 5 -o c.plait core.cut ./prog >out 2>err
is "$(($? == 1 || $? == 3 || $? == 4))" 1 "a dump that is cut off gives an answer or a sentence"
grep -q "cut off" out err && ok "and says that it is cut off" || not_ok "and says that it is cut off" "$(cat out err)"
# another build of the shipped binary; a program without bitcode
gcc -O0 -g -DOTHER -o shipped "$CORPUS/mkdir/main.c"
run 3 unplait synth core.good ./prog
has err "not the build that ran"
gcc -O1 -g -o shipped "$CORPUS/mkdir/main.c"
run 3 unplait synth --facts stack core.good ./shipped
finish
