#!/usr/bin/env bash
# Branch records show rewind the way through calls whose pointers are gone: in the forms of gdb and of perf. Records of
# another run are noticed.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || ! command -v gdb >/dev/null; then
	skip "rewind with branch records" "unplait-lift is not built, or there is no gdb"
	finish
fi
cat >vm.c <<'C'
/* An interpreter that forgets what it did: each step erases its instruction. */
#include <stddef.h>

struct vm {
	unsigned char code[24];
	int at;
	long acc;
	long *cell;
};

static long cells[4];

static void op_add(struct vm *m) { m->acc += 3; }
static void op_store(struct vm *m) { *m->cell = m->acc; }
static void op_choose(struct vm *m)
{
	m->cell = m->acc % 5 < 4 ? &cells[m->acc % 5] : NULL; /* the bug: there are four cells */
}
static void op_twice(struct vm *m) { m->acc *= 2; }

static void (*const ops[])(struct vm *) = { op_add, op_store, op_choose, op_twice };

static __attribute__((noinline)) void run(struct vm *m)
{
	for (;;) {
		int op = m->code[m->at];

		m->code[m->at++] = 0;
		ops[op](m);
	}
}

int main(void)
{
	struct vm m = { .code = { 0, 2, 1, 3, 0, 2, 3, SEVENTH, 3, 0, 1 } };

	run(&m);
}
C
gcc -O2 -g -DSEVENTH=3 -o vm vm.c
timeout 300 gdb -nx -batch -x "$top/test/programs/step-history.py" ./vm >gdb.out 2>&1
mv history other 2>/dev/null
gcc -O2 -g -DSEVENTH=0 -o vm vm.c
timeout 300 gdb -nx -batch -x "$top/test/programs/step-history.py" ./vm >gdb.out 2>&1
if [ ! -s history ] || [ ! -s dump ]; then
	skip "rewind with branch records" "gdb cannot step the program here"
	finish
fi
line=$(grep -n 'the bug' vm.c | cut -d: -f1)
run 0 unplait rewind --no-run dump
has out "no cause found"
has out "a call through a pointer that is not known"

# the same branches as perf prints them
python3 - <<'P'
import re
steps = []
for l in open("history"):
    at, text = re.match(r"\d+\s+0x([0-9a-f]+)(?: <[^>]*>)?:\s+(.*)", l).groups()
    steps.append((int(at, 16), text))
taken = [(a, b) for (a, t), (b, _) in zip(steps, steps[1:])
         if re.match(r"j|call|ret", t) and (not (m := re.search(r" 0x([0-9a-f]+)", t)) or int(m[1], 16) == b)]
with open("trace", "w") as f:
    f.write("vm 77 [001] 12.5: 1 branches:uH: 0 [unknown] ([unknown]) => 401000 main+0x0 (/vm)\n")
    f.write(" instruction trace error type 1 time 12.6 cpu 1 pid 77 tid 77 ip 0 code 6: Trace doesn't match instruction\n")
    for a, b in taken:
        f.write("vm 77 [001] 12.7: 1 branches:uH: %x run+0x4 (/tmp/vm) => %x op_add+0x0 (/tmp/vm)\n" % (a, b))
with open("stack", "w") as f:
    f.write("vm 77 12.1: 0x401000/0x401020/P/-/-/0\n")
    f.write("vm 77 12.7: " + " ".join("0x%x/0x%x/P/-/-/0" % t for t in reversed(taken)) + "\n")
# run was entered and the first step failed: then `at` would be 1
entered = next((a, b) for (a, t), (b, _) in zip(steps, steps[1:]) if "<run>" in t)
with open("wrong", "w") as f:
    f.write(" ".join("0x%x/0x%x/P/-/-/0" % t for t in (taken[-1], entered)) + "\n")
P
for form in history trace stack; do
	run 1 unplait rewind --no-run --crumbs $form dump
	has out "was set to 0x0 at vm.c:$line in op_choose" "$form: the write that broke it"
	hasnt out "in this suffix" "$form: nothing else is possible"
	has out "along 24 of "
done
run 1 unplait rewind --crumbs history dump
has out "confirmed: run natively, it ends in the same dump"
run 1 unplait rewind --no-run --json --crumbs history dump
is "$(python3 -c 'import json; r = json.load(open("out"))["branch_records"]; print(r["followed"], r["problem"])')" \
	"24 None" "--json has branch_records"

# the last records only: the way is certain as far as they go
tail -n 60 history >short
run 0 unplait rewind --no-run --crumbs short dump
has out "the walk ends there: a call through a pointer that is not known"
# of another run, which made other steps: a value that does not fit ends the walk
run 0 unplait rewind --no-run --crumbs other dump
has out "no cause found"
# of a way that cannot have been; of another moment; not of this program
run 0 unplait rewind --no-run --crumbs wrong dump
has out "the branch records were not used: they contradict the dump"
head -n 100 history >early
run 0 unplait rewind --no-run --crumbs early dump
has out "the branch records were not used: they do not lead to the instruction that failed"
echo ' 0x401136/0x401150/P/-/-/0  0x401120/0x401130/P/-/-/0' >strange
run 0 unplait rewind --no-run --crumbs strange --json dump
has out '"problem": "they do not lead to the instruction that failed"'
finish
