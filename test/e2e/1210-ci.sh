#!/usr/bin/env bash
# What CI runs: ci/hunt leaves plaits, SARIF, JUnit and a comment; the action and the templates say what the tool knows.
# level: check
. "$(dirname "$0")/lib.sh"

mkdir path
ln -s "$UNPLAIT" path/unplait
PATH=$work/path:$PATH
# one test that fails, whose name and message try to become markup
cat >odd.c <<'END'
#include <pthread.h>
#include <stdio.h>
static int n;
static void *add(void *p) { int k = n; n = k + 1; return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, add, 0);
	add(0);
	pthread_join(t, 0);
	if (n != 2)
		printf("``` # not a heading </code> `n` is %d\n", n);
	return n != 2;
}
END
run 0 unplait cc -g -O1 -pthread -o 'odd`test' odd.c
export UNPLAIT_TARGET='./odd`test' UNPLAIT_MINUTES=0.1 GITHUB_OUTPUT=$work/output GITHUB_STEP_SUMMARY=$work/summary
run 0 "$top/ci/hunt"
is "$(cat output)" "status=1" "the verdict is an output of the step"
has summary "## unplait test" "the summary is Markdown"
has summary '## `` ./odd`test ``' "a name with a backquote stays code"
has summary '````' "a message with a fence gets a longer one"
has summary "cause   " "the comment has the cause"
has summary "unplait replay " "and the replay command"
for f in unplait.sarif unplait.xml unplait.md; do [ -s "unplait-ci/$f" ] && ok "$f is there" || not_ok "$f is there"; done
plait=$(ls unplait-ci/plaits/*.plait)
run 1 unplait replay "$plait"
run 1 "$top/ci/hunt" --verdict
sed 's/return n != 2/return 0/' odd.c >good.c
run 0 unplait cc -g -O1 -pthread -o good good.c
rm -f output
UNPLAIT_TARGET=./good run 0 "$top/ci/hunt" --verdict
is "$(cat output)" "status=0" "nothing fails"
UNPLAIT_TARGET=./none run 3 "$top/ci/hunt" --verdict

# every option and file that the templates name exists
unplait test --help >help
for o in $(grep -ohE '(^|[ (])--[a-z-]+' "$top/ci/hunt" | tr -d ' (' | grep -v -- --verdict | sort -u); do has help "$o" "ci/hunt: unplait test has $o"; done
for f in $(grep -ohE '[/ ]ci/[a-z.]+' "$top/action.yml" "$top/ci/gitlab.yml" | cut -c2- | sort -u); do
	[ -e "$top/$f" ] && ok "$f exists" || not_ok "$f exists"
done
python3 - "$top/action.yml" "$top/ci/gitlab.yml" <<'END' && ok "the YAML files have no tabs and even indents" || not_ok "the YAML files have no tabs and even indents"
import sys
for path in sys.argv[1:]:
    for line in open(path):
        assert "\t" not in line and (len(line) - len(line.lstrip(" "))) % 2 == 0, (path, line)
END
# what the Containerfile calls is there
for word in scripts/deps; do grep -q "$word" "$top/Containerfile" && [ -x "$top/$word" ] && ok "Containerfile: $word" || not_ok "Containerfile: $word"; done
grep -q '^deb:' "$top/Makefile" && ok "Containerfile: make deb" || not_ok "Containerfile: make deb"
finish
