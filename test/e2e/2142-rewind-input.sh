#!/usr/bin/env bash
# Does input decide how it failed? Expected sources, and the names of gdb's exploitable and of CASR; triage keeps them,
# keeps old dumps in its index, and writes a page in which nothing of theirs is markup.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind: input" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
gcc -O0 -g -w -fno-stack-protector -no-pie -o input "$top/test/programs/rewind-input.c"
printf 'AAAAAAAABBBB' >stdin
mkdir first second
# name, arguments...: a dump of it
dump() {
	local name=$1
	shift
	(ulimit -c unlimited && exec env NAME=BBBBBBBBBBBBBBBBCCCCCC ./input "$@" <stdin) >/dev/null 2>&1
	mv core* "$name"
}
# dump, then "verdict part=source(sure)... | gdb exploitable | CASR"
cat >answer.py <<'END'
import json
e = json.load(open("out"))["exploitable"]
print(e["verdict"], *["%s=%s(%s)" % (p["part"], p["source"] or "-", p["sure"]) for p in e["parts"]],
      "|", e["gdb_exploitable"]["name"], "|", e["casr"]["name"])
END
expect() { # file, answer
	"$UNPLAIT" rewind --json --time 5 "$1" >out 2>err
	is "$(python3 answer.py)" "$2" "$1"
}
dump first/pc p AAAAAAAAAAAAAAAADDDDDD
expect first/pc "pc pc=argument(certain) | SegFaultOnPc | SegFaultOnPc"
dump first/address w
expect first/address "write address=standard input(certain) value=-(no) | AccessViolation | DestAv"
dump first/index i 99999999
expect first/index "write address=argument(certain) value=-(no) | DestAv | DestAv"
dump second/value v
expect second/value "write address=-(no) value=standard input(certain) | DestAvNearNull | DestAvNearNull"
dump second/null n
expect second/null "unknown address=-(no) | SourceAvNearNull | SourceAvNearNull"
dump second/length l 99999999
"$UNPLAIT" rewind --json --time 5 second/length >out 2>err
is "$(python3 answer.py | cut -d'|' -f1)" "write address=-(no) length=argument(certain) " "second/length"
dump second/abort a
expect second/abort "unknown | AbortSignal | AbortSignal"
dump second/divide d x
expect second/divide "unknown | FloatingPointException | FPE"
dump second/free f
expect second/free "unknown | HeapError | HeapError"
dump second/environment g
expect second/environment "pc pc=environment(equal bytes) | SegFaultOnPc | SegFaultOnPc"
run 1 unplait rewind first/pc
has out "where control went comes from argument 2"

# a new dump joins; what the index has stays
run 1 unplait rewind triage -o index.json first
has out "3 dumps, 2 buckets"
mv first/index 'second/<img src=x onerror=alert(1)>&"'
run 1 unplait rewind triage -o index.json --html page.html second
has out "3 known from before"
hasnt page.html "<img" "a path is text in the page"
has page.html "&lt;img src=x onerror=alert(1)&gt;&amp;"
has page.html "decides where control went"
cat >parse.py <<'END'
import html.parser
class P(html.parser.HTMLParser):
    stack, bad, items = [], 0, 0
    def handle_starttag(self, tag, attrs):
        P.items += tag == "li"
        if tag not in ("meta", "p"):
            P.stack.append(tag)
    def handle_endtag(self, tag):
        if tag != "p":
            P.bad += not P.stack or P.stack.pop() != tag
P().feed(open("page.html").read())
print(P.bad, P.stack, P.items)
END
is "$(python3 parse.py)" "0 [] $(python3 -c 'import json; print(len(json.load(open("index.json"))["buckets"]))')" \
	"the page is whole, an item per bucket"
is "$(python3 -c '
import json
print(sorted(d["input"] for d in json.load(open("index.json"))["dumps"] if d["path"].endswith("/pc")))')" "['pc']" "the index says it, too"
finish
