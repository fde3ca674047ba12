#!/usr/bin/env bash
# One page over many findings: hunted, explained, listed; hostile names stay text; bad folders are said.
# level: check
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -O1 -pthread -o account "$CORPUS/account/main.c"
run 0 unplait cc -g -O1 -pthread -o dl "$CORPUS/deadlock/main.c"
mkdir -p found/deep
run 1 unplait hunt -q -o 'found/a <b>&.plait' ./account
run 1 unplait hunt -q -o found/deep/c.plait ./dl
echo junk >found/bad.plait
run 0 unplait report found
has out "2 findings: found/index.html"
has out "1 file cannot be read as a plait"
has found/index.html "a &lt;b&gt;&amp;.plait" "a file name cannot become markup"
hasnt found/index.html "<b>&"
hasnt found/index.html "explanation</a>" "nothing was run without --explain"
run 0 unplait report --explain found
has out "cause   " "the causes are listed"
has found/index.html '<a href="deep/c.html">explanation</a>' "the page links to its explanations"
has found/index.html "unplait replay deep/c.plait" "and has the commands"
[ -s found/deep/c.html ] && [ -s found/deep/c.json ] && ok "explanations lie beside the plaits" || not_ok "explanations lie beside the plaits"
run 0 unplait report --json found
python3 - out <<'END' && ok "the JSON is whole" || not_ok "the JSON is whole" "$(cat out)"
import json, sys
j = json.load(open(sys.argv[1]))
assert j["unplait"] == 1 and j["unreadable"] == 1 and not j["cut"]
assert [f["kind"] for f in j["findings"]] == ["assert", "deadlock"], j
assert all(f["cause"] and f["made_here"] and f["page"] for f in j["findings"]), j
END
(cd found && sh -c "$(grep -o 'unplait replay deep/c.plait' index.html | sed "s|unplait|$UNPLAIT|")" >"$work/out" 2>&1)
is $? 1 "the command works in the folder of the page"
mkdir empty
run 3 unplait report empty
has err "no plait in empty"
run 3 unplait report nowhere
run 2 unplait report
run 3 unplait report -o /dev/null/index.html found
finish
