#!/usr/bin/env bash
# A failure goes out as a violation witness of SV-COMP and comes back from one, ours or another tool's.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top/test/programs/bank.c" .
# the switch is inside a statement, which no witness can say: replay searches for it
sed 's/int b = balance;/balance++;/; /balance = b/d; s/== 8/== 12/' bank.c >inside.c
# the third turn of a loop
cat >loop.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static volatile int turn;
static int seen;

static void *count(void *p)
{
	for (int i = 0; i < 6; i++)
		turn = i;
	return p;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, count, NULL);
	seen = turn;
	pthread_join(t, NULL);
	assert(seen != 3);
	return 0;
}
END
for level in -O0 -O2; do
	for program in bank inside loop; do
		run 0 unplait cc -g $level -pthread -o $program $program.c
		run 1 unplait hunt --seed 1 -o $program.plait --witness $program.yml ./$program
		run 0 unplait export --format witness $program.plait
		same out $program.yml "$level $program: export writes the same witness"
		run 1 unplait replay -o again.plait $program.yml ./$program
		has out "replayed 5 of 5 times"
		run 1 unplait replay again.plait
	done
done
python3 - bank.yml bank.c <<'END' || not_ok "the witness is as the schema wants it"
import hashlib, re, sys
text = open(sys.argv[1]).read()
for key in ("entry_type: violation_sequence", 'format_version: "2.2"', "uuid: ", "creation_time: ", "producer:", "name: unplait",
            "input_files:", "specification: ", "data_model: LP64", "language: C", "content:"):
    assert key in text, key
assert re.search(r"uuid: [0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$", text, re.M)
assert hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest() in text, "hash"
segments = text.split("- segment:")[1:]
assert segments[0].count("type: function_enter") == 1 and "thread_id: 0" in segments[0], segments[0]
assert sum("type: target" in s for s in segments) == 1 and "type: target" in segments[-1], segments[-1]
assert "line: 23" in segments[-1] and 'function: "main"' in segments[-1], segments[-1]
assert {int(t) for t in re.findall(r"thread_id: (\d+)", text)} == {0, 1, 2}
print("ok - the witness is as the schema wants it")
END
# predict writes one, too
run 0 unplait cc -g -pthread -o bank bank.c
run 1 unplait predict --record 3 --seed 1 --witness predicted.yml -- ./bank
run 1 unplait replay predicted.yml ./bank

# as another verifier writes it: a line without events, columns, an order that only one schedule has
cat >other.c <<'END'
#include <assert.h>
#include <pthread.h>
void reach_error(void) { assert(0); }
int x = 0;
void *writer(void *arg) {
    x = 1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    if (x == 1) {
        reach_error();
    }
    pthread_join(t, 0);
    return 0;
}
END
waypoint() { # type thread line function
	printf -- '- segment:\n  - waypoint:\n      type: %s\n      action: follow\n      thread_id: %s\n      location: {file_name: "./src/other.c", line: %s, column: 5, function: "%s"}\n' "$@"
	[ "$1" != assumption ] || printf '      constraint: {value: "x == 1", format: c_expression}\n'
}
{
	printf -- '- entry_type: violation_sequence\n  metadata: {format_version: "2.2", task: {specification: "G ! call(reach_error())"}}\n  content:\n'
	{ waypoint function_enter 0 11 main; waypoint assumption 1 7 writer; waypoint assumption 0 12 main; waypoint target 0 13 main; } | sed 's/^/  /'
} >other.yml
run 0 unplait cc -g -pthread -o other other.c
run 1 unplait replay --json other.yml ./other
has out '"found": true'
has out '"runs": 2' "the first guided run fails"
run 1 unplait hunt --seed 1 --witness own.yml ./other
has own.yml 'call(reach_error())'
has own.yml 'line: 13' "the target is the call"

# what the format cannot say is said
run 0 unplait cc -g -pthread -o deadlock "$CORPUS/deadlock/main.c"
run 1 unplait hunt --seed 1 -o d.plait --witness d.yml ./deadlock
has err "no property for this failure (deadlock)"
[ ! -e d.yml ] && ok "and no witness is written" || not_ok "and no witness is written"
run 3 unplait export --format witness d.plait
cp bank.c bank.cc
sed -i 's/int b = balance;/int b = balance; \/\/ C++/' bank.cc
run 0 unplait c++ -g -pthread -o bankcc bank.cc
run 1 unplait hunt --seed 1 -o c.plait --witness c.yml ./bankcc
has err "C programs only"

# bad input
run 2 unplait replay bank.yml
has err "a witness names no program"
run 2 unplait replay -o x.plait bank.plait
grep -v thread_id bank.yml >no-threads.yml
run 3 unplait replay no-threads.yml ./bank
has err "does not say which thread"
printf -- '- a: [\n' >broken.yml
run 3 unplait replay broken.yml ./bank
has err "not YAML"
echo 'entry: 1' >empty.yml
run 3 unplait replay empty.yml ./bank
has err "no entry of type violation_sequence"
run 3 unplait replay missing.yml ./bank
sed 's/line: 9$/line: 400/' bank.yml >elsewhere.yml
run 4 unplait replay elsewhere.yml ./deadlock
finish
