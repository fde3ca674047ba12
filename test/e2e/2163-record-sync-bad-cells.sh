#!/usr/bin/env bash
# record --mode sync: cells that were cut off, or hold anything, are told. Neither sealing
# nor a replay crashes; a log that lacks something is not replayed.
# level: check
. "$(dirname "$0")/lib.sh"
run 0 unplait cc -g -O2 -pthread -o late "$top/test/programs/sync-late.c"
mkdir run
UNPLAIT_MODE=sync UNPLAIT_DIR=$PWD/run ./late never >out
[ -s run/c00001 ] && ok "the reader has cells" || not_ok "the reader has cells" "$(ls run)"
cp run/c00001 good
cell() { # STAMP LAST BY SEEN: in every place
	python3 -c 'import struct, sys; sys.stdout.buffer.write(bytes(32) + struct.pack("<4Q", *[int(a, 0) for a in sys.argv[1:]]) * 4096)' "$@"
}
try() { # WHAT LOST [STATUS]: with these cells in run/c00001
	unplait seal -o bad.plait run >out 2>err || not_ok "$1: sealed" "$(cat out err)"
	has out "$2 lost" "$1: what was lost is told"
	timeout 60 "$UNPLAIT" replay bad.plait ./late never >out 2>err
	is $? "${3:-0}" "$1: the replay ends in order"
}
try "as it was" 0
head -c 131000 good >run/c00001
try "cut off" 1 3
: >run/c00001
try "empty" 0
head -c 1000 /dev/zero >run/c00001
try "never used" 0
cat good good >run/c00001
try "too long" 1 3
cell 0 1 0x7fff000000000001 0 >run/c00001
try "a writer that is none" 1 3
cell 0 1 1 0 >run/c00001
try "no writer" 1 3
cell 0 0xffffffffffffffff 0x0002ffffffffffff 0 >run/c00001
try "operations that nobody made" 0
cell 0 1 0x0003ffffffffffff 0 >run/c00001
try "before an operation that nobody made" 0
cell 0 6003 0x0003000000000001 0 >run/c00001
try "an order that cannot be" 0 4
python3 -c 'import random, sys; random.seed(1); sys.stdout.buffer.write(random.randbytes(131104))' >run/c00001
try "anything" 1 3
finish
