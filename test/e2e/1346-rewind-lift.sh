#!/usr/bin/env bash
# unplait-lift takes whatever bytes it gets: it answers for all of them, or gives up with status 3; it never crashes.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ]; then
	skip "unplait-lift" "it is not built: valgrind is not installed"
	finish
fi
cat >feed.py <<'END'
import random, struct, subprocess, sys
lift, bad, gave_up = sys.argv[1], 0, 0
for seed in range(60):
    r = random.Random(seed)
    code = bytes(r.randrange(256) for _ in range(r.choice([1, 15, 300, 3000])))
    if seed % 3 == 0:  # near to real instructions
        code = b"".join(r.choice([b"\x48\x8b", b"\x0f\xba", b"\xf3\x0f", b"\xc5\xfd", b"\x66\x0f", b"\x62\xf1"]) +
                        bytes([r.randrange(256), r.randrange(256)]) for _ in range(300))
    p = subprocess.run([lift], input=struct.pack("<QII", 0x400000 + seed, len(code), 0) + code, capture_output=True, timeout=60)
    if p.returncode == 3:
        gave_up += 1
        continue
    at, covered, out = 0, 0, p.stdout
    while at + 16 <= len(out):
        address, length, nops, ntemps = struct.unpack_from("<QHHH", out, at)
        at += 16 + 24 * nops
        covered += length
    if p.returncode or at != len(out) or covered != len(code):
        bad += 1
        print("seed", seed, "status", p.returncode, "covered", covered, "of", len(code))
print("bad", bad, "gave up", gave_up)
sys.exit(bad != 0)
END
run 0 python3 feed.py "$top/build/unplait-lift"
has out "bad 0"
printf 'short' | "$top/build/unplait-lift" >out
is $? 0 "half a request is the end"
run 2 "$top/build/unplait-lift" --help
finish
