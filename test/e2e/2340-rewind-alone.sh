#!/usr/bin/env bash
# A revived process is alone: a network and a user namespace of its own, no system call but those that make its memory;
# somebody else's dump is never executed.
# level: long
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >bug.c <<'END'
static int *wrong;
static __attribute__((noinline)) void forget(int *p) { wrong = p; }
int main(void)
{
	int sum = 0;
	forget((int *)8);
	for (int i = 0; i < 40000; i++)
		sum += i ^ sum;
	return *wrong + sum;
}
END
gcc -O1 -g -o bug bug.c
(ulimit -c unlimited && exec ./bug) >/dev/null 2>&1
mv core* dump

# Watch `unplait rewind` while it runs: its children that it traces are revived processes. unplait-lift is a child, too,
# and is traced by nobody.
cat >watch.py <<'END'
import os, subprocess, sys, time

def traced(pid, by):
    try:
        return any(l.split() == ["TracerPid:", str(by)] for l in open("/proc/%d/status" % pid))
    except OSError:
        return False

def look(pid):
    found = {}
    for space in ("user", "net", "ipc"):
        there, here = ["/proc/%s/ns/%s" % (p, space) for p in (pid, "self")]
        found[space] = "own" if os.readlink(there) != os.readlink(here) else "ours"
    for l in open("/proc/%d/status" % pid):
        if l.startswith("Seccomp:"):
            found["filter"] = "yes" if l.split()[1] == "2" else "no"
    links = [l.split(":")[0].strip() for l in open("/proc/%d/net/dev" % pid) if ":" in l]
    found["links"] = ",".join(links)
    found["connections"] = str(len(open("/proc/%d/net/tcp" % pid).readlines()) - 1)
    return found

p = subprocess.Popen(sys.argv[1:], stdout=open("answer", "w"), stderr=subprocess.STDOUT)
seen, kinds = set(), []
while p.poll() is None:
    try:
        children = [int(x) for x in open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()]
    except OSError:
        break
    for c in children:
        if c not in seen and traced(c, p.pid):
            try:
                found = look(c)
            except OSError:
                continue
            seen.add(c)
            if found not in kinds:
                kinds.append(found)
    time.sleep(0.0005)
p.wait()
print("revived", "yes" if seen else "none")
for k in kinds:
    print(" ".join("%s=%s" % x for x in sorted(k.items())))
print("status", p.returncode)
END
run 0 python3 watch.py "$UNPLAIT" rewind --time 200 --blocks 1000 dump
has out "revived yes"
has answer "confirmed: run natively"
hasnt out "filter=no"
if unshare -U -n true 2>/dev/null; then
	has out "filter=yes ipc=own links=lo net=own user=own"
	has out "connections=0"
	hasnt out "net=ours"
else
	skip "namespaces" "this kernel or container does not allow them"
fi

# A dump that belongs to somebody else: no process is made of it.
if [ "$(id -u)" -eq 0 ]; then
	cp dump theirs
	chown 12345 theirs
	run 0 python3 watch.py "$UNPLAIT" rewind --time 200 --blocks 1000 theirs
	has out "revived none"
	has answer "belongs to another user"
	run 0 python3 watch.py "$UNPLAIT" rewind check theirs
	has out "revived none"
	run 0 python3 watch.py "$UNPLAIT" rewind --time 200 --run --blocks 1000 theirs
	has out "revived yes"
	hasnt out "filter=no"
else
	skip "somebody else's dump" "only root can give a file away"
fi
finish
