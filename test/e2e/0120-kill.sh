#!/usr/bin/env bash
# kill -9 at random moments: every plait is readable and lacks at most the unfinished record of
# each thread. KILLS=1000 for the long version (0121).
. "$(dirname "$0")/lib.sh"
kills=${KILLS:-40}
clang-19 -g -O1 -I"$top/include" -o prog "$top/test/programs/progress.c" "$(dirname "$UNPLAIT")/libplait.a" -lpthread -ldl ||
	{ not_ok "build"; finish; }
cat >kills.py <<'END'
import json, os, random, shutil, signal, struct, subprocess, sys, time
unplait, kills = sys.argv[1], int(sys.argv[2])
seed = int(os.environ.get("SEED", "1"))
random.seed(seed)
unreadable = wrong = early = 0
for n in range(kills):
    shutil.rmtree("d", ignore_errors=True)
    os.mkdir("d")
    if os.path.exists("progress"):
        os.remove("progress")
    env = dict(os.environ, UNPLAIT_MODE="full", UNPLAIT_DIR="d")
    p = subprocess.Popen(["./prog", "progress"], env=env)
    time.sleep(random.choice([0.002, 0.005, 0.02, 0.05]) * (0.5 + random.random()))
    p.send_signal(signal.SIGKILL)
    p.wait()
    made = struct.unpack("512Q", open("progress", "rb").read()) if os.path.exists("progress") and os.path.getsize("progress") else (0,) * 512
    r = subprocess.run([unplait, "seal", "-o", "k.plait", "d"], capture_output=True, text=True)
    if r.returncode == 3 and ("no run folder" in r.stderr or "no recorded run" in r.stderr) and not any(made):
        early += 1
        continue
    r = subprocess.run([unplait, "info", "--json", "k.plait"], capture_output=True, text=True) if r.returncode == 0 else r
    if r.returncode != 0:
        unreadable += 1
        print("# kill", n, r.stderr)
        continue
    threads = {t["name"]: t["events"] for t in json.loads(r.stdout)["threads"]}
    for i in range(1, 4):
        got, want = threads.get("0.%d" % i, 0), made[i * 8]
        # two more: the thread's stack and its start
        if want and not want + 2 <= got <= want + 3:
            wrong += 1
            print("# kill %d, thread %d: made %d, trace has %d" % (n, i, want, got - 2))
print("# seed %d: %d kills, %d before it began" % (seed, kills, early))
print("unreadable %d wrong %d" % (unreadable, wrong))
END
timeout 850 python3 kills.py "$UNPLAIT" "$kills" >out 2>&1
grep '^#' out
has out "unreadable 0 wrong 0" "$kills kills: nothing unreadable, at most the unfinished record lost"
finish
