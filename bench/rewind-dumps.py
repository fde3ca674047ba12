"""What bench/13-rewind-dumps counts: threads, triage, flip, flips."""
import collections, json, math, os, random, struct, subprocess, sys


def threads(bug, build, source):
    d = json.load(open("j"))
    marks = {m: i for i, l in enumerate(open(source), 1) for m in "abc" if "BUG:%s " % m in l}
    lines = [p["at"]["line"] for p in d["threads"]["between"]]
    kinds = {"res1": "lost update", "res2": "changed in between", "res3": "half an update seen"}
    ok = d["cause"] and d["cause"]["kind"] == kinds[bug] and lines and marks["b"] in lines
    t = d["threads"]
    print("| %s | %s | %s | %s | %s | %d of %d | %s |" % (
        bug, build, "right" if ok else "no" if not d["cause"] else "WRONG: " + d["cause"]["text"],
        "yes" if d["cause"] and d["cause"]["certain"] else "no", "yes" if t["confirmed"] else "no",
        t["contradicted"], t["combinations"], open("t").read().split()[-1]))


def wrong_and_split(pairs):
    """Dumps that share a bucket with a more frequent bug; pairs of bug and further buckets."""
    buckets, bugs = collections.defaultdict(collections.Counter), collections.defaultdict(set)
    for bug, bucket in pairs:
        buckets[bucket][bug] += 1
        bugs[bug].add(bucket)
    return (len(buckets), sum(sum(c.values()) - max(c.values()) for c in buckets.values()),
            sum(len(v) - 1 for v in bugs.values()), len(bugs))


def similarity(a, b):
    """Two stacks: frames that both have, weighted by position (near the failure) and by the shift between both."""
    n, m = len(a), len(b)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for k in range(1, m + 1):
            same = math.exp(-0.04 * min(i - 1, k - 1)) * math.exp(-0.13 * abs(i - k)) if a[i - 1] == b[k - 1] else 0
            best[i][k] = max(best[i - 1][k - 1] + same, best[i - 1][k], best[i][k - 1])
    return best[n][m] / sum(math.exp(-0.04 * i) for i in range(max(1, min(n, m))))


def clusters(stacks):
    """Complete linkage until the distance exceeds 0.3, as casr-cluster does; equal stacks first."""
    kinds = sorted(set(stacks))
    groups = [[s] for s in kinds]
    while True:
        best = None
        for i in range(len(groups)):
            for k in range(i):
                d = max(1 - similarity(x.split(" < "), y.split(" < ")) for x in groups[i] for y in groups[k])
                if best is None or d < best[0]:
                    best = (d, i, k)
        if best is None or best[0] > 0.3:
            break
        groups[best[2]] += groups.pop(best[1])
    return {s: n for n, g in enumerate(groups) for s in g}


def triage():
    def bug_of(x):
        return os.path.basename(x["path"]).split(".")[0]

    ours, stacks = json.load(open("j"))["dumps"], json.load(open("stacks"))["dumps"]
    of = clusters([x.get("function", "") for x in stacks])
    rows = [("stack hash (own functions)", [(bug_of(x), x.get("function")) for x in stacks]),
            ("stacks clustered (CASR's idea)", [(bug_of(x), of[x.get("function", "")]) for x in stacks]),
            ("rewind triage", [(bug_of(x), x.get("bucket", x.get("problem"))) for x in ours])]
    print("| sorted by | dumps | bugs | buckets | dumps in a wrong bucket | further buckets of a bug |")
    print("|---|---|---|---|---|---|")
    for name, pairs in rows:
        b, wrong, split, bugs = wrong_and_split(pairs)
        print("| %s | %d | %d | %d | %d (%.1f %%) | %d |" % (name, len(pairs), bugs, b, wrong,
                                                            100 * wrong / max(1, len(pairs)), split))
    print("\nno cause found: %d of %d" % (sum("no cause" in x.get("text", "") for x in ours), len(ours)))


def flip(seed, program):
    """One bit of `whole`: a register, a word of the stack, data, or code. The result is `flipped`."""
    r = random.Random(int(seed))
    core = bytearray(open("whole", "rb").read())
    what = ["register", "pointer", "counter", "code"][int(seed) % 4]
    phoff, phnum = struct.unpack_from("<Q", core, 32)[0], struct.unpack_from("<H", core, 56)[0]
    segments = [struct.unpack_from("<IIQQQQQQ", core, phoff + 56 * i) for i in range(phnum)]
    symbols = {l.split()[2]: int(l.split()[0], 16) for l in
               subprocess.run(["nm", program], capture_output=True, text=True).stdout.splitlines() if len(l.split()) == 3}

    def place(name):  # of a symbol in the core: the program's first segment is at its bias
        for kind, flags, off, va, _, size, _, _ in segments:
            if kind == 1 and size and core[off:off + 4] == b"\x7fELF":
                bias = va
                break
        at = bias + symbols[name]
        for kind, flags, off, va, _, size, _, _ in segments:
            if kind == 1 and va <= at < va + size:
                return off + at - va
        return None

    note = next(s for s in segments if s[0] == 4)
    if what == "register":  # NT_PRSTATUS: 112 bytes before the registers, in the order of user_regs_struct
        base = note[2] + 12 + 8 + 112
        at = base + 8 * r.choice([5, 10, 11, 12, 13, 14])  # rbx, rax, rcx, rdx, rsi, rdi
        at += r.randrange(6)
    elif what == "pointer":
        at = place("records") + 40 * r.randrange(6) + 16 + r.randrange(6)
    elif what == "counter":
        at = place(r.choice(["items", "victim"]))
    else:
        names = [s for s in symbols if s.split(".")[0] in ("main", "fill", "sum_up", "charge", "compare", "list")]
        at = place(r.choice(sorted(names))) + r.randrange(8)
    core[at] ^= 1 << r.randrange(8)
    open("flipped", "wb").write(core)
    print(what)


def flips():
    rows = collections.defaultdict(collections.Counter)
    for l in open("verdicts"):
        w = l.split()
        if w[0] == "clean":
            rows["clean"][{"0": "none", "4": "weak", "1": "certain or strong"}.get(w[1], "error")] += 1
        else:
            rows["one bit of a " + w[0] if w[0] != "code" else "one bit of the code"][w[2]] += 1
    print("| dumps | number | certain | strong | weak | none |")
    print("|---|---|---|---|---|---|")
    for name, c in sorted(rows.items()):
        print("| %s | %d | %d | %d | %d | %d |" % (name, sum(c.values()), c["certain"] + c["certain or strong"],
                                                  c["strong"], c["weak"], c["none"]))
    # the clean dumps; a line without numbers says that the status was not 0
    spent = sorted(1000 * sum(map(float, l.split())) for l in open("times") if l[0].isdigit())
    print("\n`check` of a clean dump: %.0f ms of processor time in the median, %.0f ms in the mean, %.0f ms at most" % (
        spent[len(spent) // 2], sum(spent) / len(spent), spent[-1]))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
