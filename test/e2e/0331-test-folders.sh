#!/usr/bin/env bash
# unplait test in a build folder: CTest's and Meson's lists, with the folder and the environment that the
# project wants, and only the tests that a change can have touched. No compiler is configured here: the
# folders hold what CMake and Meson leave behind.
# level: check
. "$(dirname "$0")/lib.sh"

cat >race.c <<'C'
#include "step.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int sum;
static void *add(void *arg) { sum += STEP; return arg; }
int main(int argc, char **argv)
{
	pthread_t t[2];
	FILE *data = fopen("data", "r");
	if (argc > 1 && !strcmp(argv[1], "skip"))
		return 77;
	if (!getenv("WANTED") || !data)
		return 3;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return sum != 2 * STEP;
}
C
echo '#define STEP 1' >step.h
echo 'int main(void) { return 0; }' >quiet.c
mkdir -p build/where && touch build/where/data
unplait cc -g -O1 race.c -o build/race -lpthread || not_ok "build"
unplait cc -g -O1 quiet.c -o build/quiet || not_ok "build"
printf '#!/bin/sh\nexit 0\n' >build/script && chmod +x build/script

if command -v ctest >/dev/null; then
	cat >build/CTestTestfile.cmake <<C
add_test(race "$work/build/race")
set_tests_properties(race PROPERTIES WORKING_DIRECTORY "$work/build/where" ENVIRONMENT "WANTED=two words")
add_test(quiet "$work/build/quiet")
add_test(skipped "$work/build/race" skip)
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(off "$work/build/quiet")
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(inverse "$work/build/quiet")
set_tests_properties(inverse PROPERTIES WILL_FAIL TRUE)
add_test(script "$work/build/script")
add_test(ours "$UNPLAIT" hunt "$work/build/quiet")
C
	run 1 unplait test --runs 300 # the folder build, by itself
	is "$(grep -c '^FAILS' out)" 1 "one test fails"
	has out "FAILS  race"
	grep -q '^ok .*quiet.* starts no threads' out && ok "quiet" || not_ok "quiet" "$(cat out)"
	grep -q '^ok .*skipped.* skips itself' out && ok "skipped" || not_ok "skipped" "$(cat out)"
	grep -q '^?? .*inverse.*WILL_FAIL' out && ok "inverse" || not_ok "inverse" "$(cat out)"
	grep -q '^?? .*script.*a script' out && ok "script" || not_ok "script" "$(cat out)"
	hasnt out "ours"
	is "$(grep -c 'off' out)" 0 "a disabled test is left out"
	line=$(sed -n 's/^       replay *\(.*\)/\1/p' out)
	run 1 env PATH="$(dirname "$UNPLAIT"):$PATH" sh -c "$line"

	# only what a change has touched, headers included
	git init -q . 2>/dev/null && printf 'build\nout\nerr\nunplait-tests\n' >.gitignore
	git add -A . && git -c user.name=a -c user.email=a@b commit -qm first
	run 0 unplait test --list --changed-since HEAD build
	hasnt out "race" "nothing has changed"
	echo '/* more */' >>race.c
	run 0 unplait test --list --changed-since HEAD build
	has out "race" "one program's source has"
	hasnt out "quiet"
	git checkout -q race.c
	echo 'static inline int twice(int n) { return 2 * n; }' >>step.h
	run 0 unplait test --list --changed-since HEAD build
	has out "quiet" "a header of which debug info knows nothing may be everywhere"
	has err "step.h has changed"
	run 3 unplait test --list --changed-since no-such-revision build
	rm build/CTestTestfile.cmake
else
	skip "CTest" "cmake is not installed"
fi

mkdir build/meson-info
cat >build/meson-info/intro-tests.json <<M
[{"name": "race", "cmd": ["$work/build/race"], "env": {"WANTED": "1"}, "workdir": "$work/build/where", "suite": ["p"], "timeout": 30},
 {"name": "quiet", "cmd": ["$work/build/quiet"], "env": {}, "workdir": null, "suite": ["p"], "timeout": 30},
 {"name": "skipped", "cmd": ["$work/build/race", "skip"], "env": {}, "workdir": null, "suite": ["p"], "timeout": 30},
 {"name": "unbuilt", "cmd": ["$work/build/absent"], "env": {}, "workdir": null, "suite": ["p"], "timeout": 30}]
M
run 1 unplait test --runs 300 --no-explain build
has out "FAILS  race"
grep -q '^ok .*skipped.* skips itself' out && ok "Meson: skipped" || not_ok "Meson: skipped" "$(cat out)"
has out "its program has not been built"
finish
