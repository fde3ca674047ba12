#!/usr/bin/env bash
# One race in every form of report: SARIF, JUnit, HTML and JSON say the same.
. "$(dirname "$0")/lib.sh"

unplait cc -g -pthread -o null "$CORPUS/race-null/main.c"
run 1 unplait races --one-path --sarif r.sarif --junit r.xml --html r.html --json=r.json -o d ./null
python3 - >told 2>&1 <<'END'
import json
import xml.etree.ElementTree as xml

races = json.load(open("r.json"))["races"]
worst = races[0]
run = json.load(open("r.sarif"))["runs"][0]
first = run["results"][0]
print(json.load(open("r.sarif"))["version"], first["level"], len(run["results"]) == len(races))
lines = {a["line"] for a in worst["accesses"]}
places = first["locations"] + first.get("relatedLocations", [])
print({p["physicalLocation"]["region"]["startLine"] for p in places} == lines)
suite = xml.parse("r.xml").getroot()
print(len(list(suite.iter("testcase"))) == len(races), len(list(suite.iter("failure"))) == sum(r["verdict"] in ("spec-violated", "output-differs") for r in races))
page = open("r.html").read()
print(page.count("<html") == 1, all(r["verdict"] in page for r in races), "src=\"http" not in page)
print(all(0 <= r["df"] <= 1 for r in races))
END
printf '%s\n' "2.1.0 error True" True "True True" "True True True" True >want
same told want "level and both lines in SARIF, failures in JUnit, every verdict on the page, DF in JSON"
finish
