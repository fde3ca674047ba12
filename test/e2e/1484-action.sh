#!/usr/bin/env bash
# The GitHub Action's own steps, carried out by a stand-in for the runner: conditions, expressions, outputs.
# level: check
. "$(dirname "$0")/lib.sh"
python3 -c 'import yaml' 2>/dev/null || { skip "the action" "no python3-yaml"; finish; }

mkdir path job && ln -s "$UNPLAIT" path/unplait
printf '#!/bin/sh\necho "$@" >>%s/gh-calls\ncat unplait-ci/unplait.md >%s/comment\n' "$work" "$work" >path/gh
printf '#!/bin/sh\necho "sudo $*" >>%s/sudo-calls\n' "$work" >path/sudo
chmod +x path/gh path/sudo
cat >runner.py <<'END'
# A runner for composite actions: what GitHub documents, as far as action.yml uses it.
import json, os, re, subprocess, sys, types, yaml

path, settings = sys.argv[1], json.loads(sys.argv[2])
action = yaml.safe_load(open(path + "/action.yml"))
assert action["runs"]["using"] == "composite"
inputs = {k: settings.get("inputs", {}).get(k, v.get("default", "")) for k, v in action["inputs"].items()}
github = dict(settings["github"], action_path=path)
steps, failed = {}, False

def look_up(words):
    at = {"inputs": inputs, "github": github, "steps": steps}
    for w in words.split("."):
        at = at.get(w, "") if isinstance(at, dict) else ""
    return at if at is not None else ""

def value(text):
    """An expression: a name, a string, a call, == and != and &&."""
    text = text.strip()
    if "&&" in text:
        return all(value(part) for part in text.split("&&"))
    for sign, same in (("!=", False), ("==", True)):
        if sign in text:
            a, b = text.split(sign)
            return (str(value(a)) == str(value(b))) == same
    if re.fullmatch(r"'[^']*'", text):
        return text[1:-1]
    if text == "always()":
        return True
    m = re.fullmatch(r"hashFiles\('([^']*)'\)", text)
    if m:
        return "hash" if os.path.exists(m.group(1)) else ""
    assert re.fullmatch(r"[a-z_.]+", text), "this runner does not know: " + text
    return look_up(text)

def fill(text):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(value(m.group(1))), str(text))

for number, step in enumerate(action["runs"]["steps"]):
    condition = step.get("if", "success()")
    if failed and "always()" not in condition:
        print("skipped:", step["name"])
        continue
    if condition != "success()" and not value(condition):
        print("left out:", step["name"])
        continue
    output = os.path.abspath("output-%d" % number)
    env = dict(os.environ, GITHUB_OUTPUT=output, GITHUB_STEP_SUMMARY=os.path.abspath("summary"))
    env.update({k: fill(v) for k, v in step.get("env", {}).items()})
    if "uses" in step:
        with_ = {k: fill(v) for k, v in step["with"].items()}
        print("uses:", step["uses"], json.dumps(with_))
        if "upload-sarif" in step["uses"]:
            assert json.load(open(with_["sarif_file"]))["version"] == "2.1.0"
        status = 0
    else:
        assert step["shell"] == "bash", "a composite step names its shell"
        # as GitHub starts it
        status = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", fill(step["run"])], env=env,
                                stdout=subprocess.DEVNULL).returncode
        print("ran:", step["name"], "status", status)
    outputs = dict(l.rstrip("\n").split("=", 1) for l in open(output)) if os.path.exists(output) else {}
    if "id" in step:
        steps[step["id"]] = {"outputs": outputs}
    failed |= status != 0 and not step.get("continue-on-error")
print("outputs:", {k: fill(v["value"]) for k, v in action["outputs"].items()})
print("job", "failed" if failed else "passed")
END
cat >job/bad.c <<'END'
#include <assert.h>
#include <pthread.h>
static int n;
static void *add(void *p) { int k = n; n = k + 1; return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, add, 0); add(0); pthread_join(t, 0); assert(n == 2); return 0; }
END
sed 's/assert(n == 2);//' job/bad.c >job/good.c
cd job || exit 3
for p in bad good; do run 0 unplait cc -g -O1 -pthread -o $p $p.c; done
pull='"github": {"job": "test", "event_name": "pull_request", "event": {"number": 7}, "repository": "o/r", "token": "t"}'
push='"github": {"job": "test", "event_name": "push", "event": {}, "repository": "o/r", "token": "t"}'
act() { PATH=$work/path:$PATH timeout 120 python3 ../runner.py "$top" "$1" >../out 2>../err || not_ok "the runner" "$(tail -n 5 ../err)"; }
act "{$pull, \"inputs\": {\"target\": \"./bad\", \"minutes\": \"0.1\"}}"
has ../out "ran: install unplait status 0"
[ ! -e ../sudo-calls ] && ok "what is there is not installed again" || not_ok "what is there is not installed again"
has ../out "ran: hunt status 0"
has ../out 'uses: actions/upload-artifact@v4 {"name": "unplait-test", "path": "unplait-ci"'
has ../out 'uses: github/codeql-action/upload-sarif@v3'
has ../out "ran: comment the cause status 0"
has ../gh-calls "pr comment 7 --repo o/r --body-file unplait-ci/unplait.md"
has ../comment "cause   " "the comment has the cause"
has ../out "outputs: {'status': '1'}"
has ../out "job failed"
run 1 unplait replay unplait-ci/plaits/*.plait
rm -rf unplait-ci ../gh-calls
act "{$push, \"inputs\": {\"target\": \"./bad\", \"minutes\": \"0.1\"}}"
has ../out "left out: comment the cause"
has ../out "job failed"
rm -rf unplait-ci
act "{$pull, \"inputs\": {\"target\": \"./good\", \"minutes\": \"0.1\"}}"
has ../out "left out: comment the cause"
has ../out "outputs: {'status': '0'}"
has ../out "job passed"
rm -rf unplait-ci
act "{$push}"
has ../out "left out: hunt"
has ../out "job passed" "without a target it only installs"
act "{$push, \"inputs\": {\"target\": \"./nothing\"}}"
has ../out "ran: hunt status 3"
has ../out "skipped: the verdict"
has ../out "job failed"
# a machine without unplait
mkdir ../bare && ln -s /usr/bin/* ../bare/ 2>/dev/null
rm -f ../bare/unplait && ln -s ../path/sudo ../bare/our-sudo && ln -sf "$work/path/sudo" ../bare/sudo
PATH=$work/bare timeout 60 python3 ../runner.py "$top" "{$push}" >../out 2>../err
has ../sudo-calls "sudo $top/ci/install" "then it is installed from the action's own tree"
finish
