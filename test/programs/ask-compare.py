# test/programs/ask-compare.py - compare the answers of `unplait rewind --ask` with ask-truth.py's truth.json.
#   ask-compare.py FILE.c truth.json answers.json
# Prints "values N wrong N unknown N writers N wrong N unknown N".
import json
import re
import sys

name, truth, answers = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))["answers"]
right = wrong = unknown = writers = bad = open_ = 0
for a in answers:
    q = a["question"]
    if q.startswith("state at"):
        if a["answer"] != "all" or len(a["found"]) != 1:
            continue
        real = truth["moments"].get(a["found"][0]["at"]["pc"])
        if real is None:
            wrong += 1
            print("# passed only in the answer:", q)
            continue
        for v in a["found"][0]["values"]:
            if v["name"] not in real:
                continue
            if not v["known"]:
                unknown += 1
            elif v["value"].split(" ")[0] == real[v["name"]]:
                right += 1
            else:
                wrong += 1
                print("#", q, v["name"], "=", v["value"], "but it was", real[v["name"]])
    else:
        real = truth["writers"].get(q[len("who wrote "):])
        if a["answer"] != "all" or len(a["found"]) != 1 or not real:
            open_ += 1
            continue
        f = a["found"][0]
        place = "%s:%d" % (name, f["at"]["line"])
        same = re.match(r"set to (\S+), before: (\S+), at", f["text"])
        # a write of the same value changes nothing: the truth does not see it
        if place == real[-1] or (same and same.group(1) == same.group(2)):
            writers += 1
        else:
            bad += 1
            print("#", q, f["text"], "but", real)
print("values", right, "wrong", wrong, "unknown", unknown, "writers", writers, "wrong", bad, "unknown", open_)
