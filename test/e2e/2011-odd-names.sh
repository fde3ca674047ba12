#!/usr/bin/env bash
# Names with spaces, quotes, markup and letters outside ASCII, in a source with CRLF: every report is well formed, a
# printed hint can be pasted into a shell, and no carriage return gets out.
# level: check
. "$(dirname "$0")/lib.sh"

dir="a b'c \$(touch owned)" source='we"ird <ü>&.c'
mkdir "$dir"
cat >"$dir/$source" <<'X'
#include <assert.h>
#include <pthread.h>
static int grüße;
static void *work(void *a)
{
	int seen = grüße;
	grüße = seen + 1;
	return a;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	assert(grüße == 2 && "a \"quoted\" \\ <b> & ü");
}
X
sed -i 's/$/\r/' "$dir/$source"
run 0 unplait cc -g -O1 -pthread -o "$dir/pr og" "$dir/$source"
run 1 unplait hunt --sarif h.sarif --junit h.xml --json=h.json -o "$dir/f.plait" -- "./$dir/pr og" "arg 'q' \$HOME"
run 1 unplait hunt -o "$dir/f.plait" -- "./$dir/pr og" "arg 'q' \$HOME"
hint=$(sed -n 's/.*see it again with:  unplait //p' out)
sed -n 's/.*what they do: unplait //p' out >hint2
run 1 bash -c "\"\$0\" $hint" "$UNPLAIT"
has out "replayed 1 of 1" "the hint of a plait can be pasted"
case $(bash -c "printf '<%s>' $(cat hint2)") in
*"<./$dir/pr og><arg 'q' \$HOME>") ok "the hint of a command means the command" ;;
*) not_ok "the hint of a command means the command" "$(cat hint2)" ;;
esac
run 1 unplait explain -n 50 --html e.html --dot e.dot --json=e.json "$dir/f.plait"
run 1 unplait explain -n 50 "$dir/f.plait"
cp out text
run 1 unplait races --sarif r.sarif --junit r.xml --html r.html --json=r.json -o races -- "./$dir/pr og"
for f in h.sarif h.json e.json r.sarif r.json; do
	run 0 python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' $f
done
for f in h.xml r.xml; do run 0 python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' $f; done
run 0 python3 - e.html r.html <<'P'
import html.parser, re, sys
class Tags(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        assert tag != 'ü', 'a name became a tag'
for name in sys.argv[1:]:
    text = open(name, encoding='utf-8').read()
    Tags().feed(text)
    assert 'ird <ü>' not in re.sub(r'(?s)<script.*?</script>', '', text), 'a name is not escaped'
P
# DOT: a quoted string ends at the first quote that no backslash precedes
run 0 python3 - e.dot <<'P'
import re, sys
text = open(sys.argv[1], encoding='utf-8').read()
bare = re.sub(r'"(?:[^"\\]|\\.)*"', '', text)
assert '"' not in bare and 'ird' not in bare, bare
assert 'we\\"ird' in text
P
has text "grüße" "names outside ASCII are shown as they are"
if cat h.* e.* r.* text | grep -q "$(printf '\r')"; then not_ok "no carriage return"; else ok "no carriage return"; fi
[ ! -e owned ] && ok "nothing was executed" || not_ok "nothing was executed"
finish
