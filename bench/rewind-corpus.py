"""What bench/13-rewind-corpus does: dumps of the corpus (part `corpus`) and of bench/rewind-shapes (part `shapes`), and
what `unplait rewind` says about each, judged by rules that were written down before:

right   the lines that the text names are those that the program marks: two of its marks where the order of two threads is
        the bug (one if both sides of a race have the same, or the program has one thread)
partly  only one of two marks is named
other   a cause that names no marked line: to be judged by hand, its text is printed
none    no cause"""
import json, os, re, subprocess, sys, time, tomllib

U, TOP, SECONDS = os.environ["U"], os.environ["TOP"], os.environ["SECONDS_EACH"]
ORDER = ("lost update", "changed in between", "overwritten in between", "half an update seen", "wrong order")


def run(argv, stdin=b"", seconds=10.0, env=None):
    """Status, or None when the time was over."""
    for f in os.listdir("."):
        if f == "core" or f.startswith("core."):
            os.unlink(f)
    try:
        return subprocess.run(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh"] + argv, input=stdin, timeout=seconds,
                              env=dict(os.environ, **(env or {})), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return None


def take_dump():
    for f in os.listdir("."):
        if f == "core" or f.startswith("core."):
            os.rename(f, "dump")
            return True
    return False


def make_dump(argv, stdin, env, threads, patience=15.0):
    """How it was made: "native", "shaken"; None when it did not fail."""
    for _ in range(5 if threads > 1 else 1):
        run(argv, stdin, 2, env)
        if take_dump():
            return "native"
    end = time.time() + patience
    for seed in range(1, 400):
        if threads < 2 or time.time() > end:
            break
        run(["./shake", str(seed)] + argv, stdin, 4, env)
        if take_dump():
            return "shaken"
    return None


def marks_of(files):
    """(file, line) -> letters."""
    ret = {}
    for f in files:
        for n, line in enumerate(open(f), 1):
            found = set(re.findall(r"BUG:(\w)", line))
            if found:
                ret[os.path.basename(f), n] = found
    return ret


def judge(d, marks, one):
    c = d["cause"]
    if not c:
        return "none"
    points = [c["at"]]
    if c["kind"] in ORDER:
        points += [p["at"] for p in d["threads"]["between"]]
    named = set().union(*[marks.get((os.path.basename(f), int(n)), set())
                          for f, n in re.findall(r"(\S+\.(?:cpp|cc|c)):(\d+)", c["text"])], *[marks.get((os.path.basename(p["file"] or ""), p["line"]), set()) for p in points])
    if len(named) >= (1 if one else 2):
        return "right"
    return "partly" if named else "other"


def look(name, build, how, files, one, core):
    before = os.times()
    try:
        subprocess.run(["nice", U, "rewind", "--time", SECONDS, "--json=j", core], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=40 * float(SECONDS))
    except subprocess.TimeoutExpired:
        return [name, build, how, "none", "", "", "no answer in time", "0", ""]
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    d = json.load(open("j"))
    s = (d["suffixes"] or [{}])[0]
    t = d["threads"] or {}
    c = d["cause"]
    verdict = judge(d, marks_of(files), one)
    return [name, build, how, verdict, (c["kind"] if c else ""), "certain" if c and c["certain"] else "",
            s.get("verdict", "no suffix"), "%.1f" % spent,
            (c["text"].replace(os.path.dirname(files[0]) + "/", "") if c else t.get("why") or s.get("why") or "")]


def show(rows):
    print("| program | build | dump | cause | kind | sure | suffix | seconds | said, or why not |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        print("| " + " | ".join(x.replace("|", "\\|") for x in r) + " |", flush=True)


def totals(rows, missing):
    n = len(rows)
    print("\n%d dumps: %s; confirmed %d; %s s of processor time. Did not fail or build: %s" % (
        n, ", ".join("%d %s" % (sum(r[3] == v for r in rows), v) for v in ("right", "partly", "other", "none")),
        sum("confirmed" in r[6] and not r[6].startswith("not") for r in rows), "%.0f" % sum(float(r[7]) for r in rows),
        ", ".join(missing) or "none"))
    names = sorted(set(r[0] for r in rows))
    print("Programs: %d; right in at least one build: %d" % (
        len(names), sum(any(r[0] == x and r[3] == "right" for r in rows) for x in names)))


def compile_all(build, sources, out):
    cc, o = build.rsplit("-O", 1)
    if any(s.endswith("cpp") or s.endswith("cc") for s in sources):
        cc = cc.replace("gcc", "g++").replace("clang", "clang++")
    return subprocess.run([cc, "-O" + o, "-g", "-w", "-pthread", "-o", out] + sources,
                          stderr=subprocess.DEVNULL).returncode == 0


def each(job):
    """job: name, sources, arguments, input, environment, threads, one mark is enough. First all dumps, then all answers;
    dumps that are there already are taken as they are."""
    rows, missing, made = [], [], []
    for name, sources, args, stdin, env, threads, one in job:
        for build in os.environ["BUILDS"].split():
            program = "./" + name + "-" + build
            how = "kept" if os.path.exists(program + ".core") else None
            if not how and compile_all(build, sources, program):
                how = make_dump([program] + args, stdin, env, threads)
                if how:
                    os.rename("dump", program + ".core")
            print(name, build, how or "no dump", file=sys.stderr, flush=True)
            if how:
                made.append((name, build, how, sources, one, program + ".core"))
            else:
                missing.append(name + " " + build)
    for m in made:
        rows.append(look(*m))
        print("\t".join(rows[-1]), file=sys.stderr, flush=True)
    show(rows)
    totals(rows, missing)


def read_toml(path):
    """The corpus's subset of TOML (corpus/README.md): a value is one line. What is no TOML (escapes) is left out."""
    ret = table = {}
    for line in open(path):
        if re.match(r"\[\w+\]", line):
            table = ret.setdefault(line.strip()[1:-1], {})
        try:
            table.update(tomllib.loads(line) if "=" in line else {})
        except tomllib.TOMLDecodeError:
            pass
    return ret


def corpus():
    only = os.environ.get("ONLY", "").split()
    for name in sorted(os.listdir(TOP + "/corpus")):
        path = TOP + "/corpus/" + name + "/bug.toml"
        if not os.path.exists(path) or (only and not any(name.startswith(o) for o in only)):
            continue
        b = read_toml(path)
        if b["symptom"] not in ("assert", "signal"):
            continue
        args = b["sizes"][b["fails_with"]].split() if "fails_with" in b else b["args"]
        env = dict(e.split("=", 1) for e in b.get("env", []))
        yield (name, [TOP + "/corpus/" + name + "/" + s for s in b["sources"]], args, b.get("input", "").encode(), env,
               b["threads"], len(set(b["marks"])) == 1 or b["threads"] == 1 or b["kind"] == "race")


def shapes():
    for f in sorted(os.listdir(TOP + "/bench/rewind-shapes")):
        if f.endswith((".c", ".cc")):
            yield f.split(".")[0], [TOP + "/bench/rewind-shapes/" + f], [], b"", {}, 1, True


if __name__ == "__main__":
    each(globals()[sys.argv[1]]())
