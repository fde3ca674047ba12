#!/usr/bin/env bash
# unplait test: the tests of a binary are found by asking it the way its framework wants to be asked, each
# is hunted by itself, and the one that fails is named with its cause and its replay. The programs here only
# behave like their frameworks, so that none has to be installed; 0332 and later tests have the real ones.
# level: check
. "$(dirname "$0")/lib.sh"

cat >stub.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *add(void *arg) { sum++; return arg; }
static void *add_locked(void *arg) { pthread_mutex_lock(&lock); sum++; pthread_mutex_unlock(&lock); return arg; }
static int two(void *(*f)(void *))
{
	pthread_t t[2];
	sum = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, f, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return sum != 2;
}
/* which: the name of the test */
static int test(const char *which)
{
	if (strstr(which, "Lost"))
		return two(add);
	if (strstr(which, "Kept"))
		return two(add_locked);
	return strstr(which, "Alone") == NULL;
}
#ifdef GTEST
const char *marker = "This program contains tests written using Google Test";
int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--gtest_list_tests")) {
		puts("Running main() from gtest_main.cc\nSum.\n  Lost\n  Kept\n  DISABLED_Old\nMore/Sum.  # TypeParam = int\n  Alone/0  # GetParam() = 3");
		return 0;
	}
	return argc != 2 || strncmp(argv[1], "--gtest_filter=", 15) || test(argv[1]);
}
#elif defined(CATCH)
const char *marker = "list-test-names-only";
int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list-test-names-only"))
		return puts("Lost, sometimes [x]\nKept\n\"#Alone\""), 3;
	return argc != 2 || (strstr(argv[1], "Lost") && strcmp(argv[1], "Lost\\, sometimes \\[x\\]")) || test(argv[1]);
}
#elif defined(CATCH3)
const char *marker = "list-listeners";
int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--list-tests") && !strcmp(argv[3], "quiet"))
		return puts("Lost\nKept\nAlone"), 0;
	return argc != 2 || test(argv[1]);
}
#elif defined(DOCTEST)
const char *marker = "list-test-cases";
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--list-test-cases"))
		return puts("[doctest] listing all test case names\n=====\nLost, too\nKept\nAlone\n=====\n[doctest] unskipped: 3"), 0;
	return argc != 2 || strncmp(argv[1], "--test-case=", 12) || test(argv[1]);
}
#elif defined(CHECK)
const char *marker = "srunner_create";
int main(void)
{
	const char *fork = getenv("CK_FORK"), *which = getenv("CK_RUN_CASE");
	if (!fork || strcmp(fork, "no"))
		return 1;
	if (getenv("CK_TAP_LOG_FILE_NAME"))
		return puts("ok 1 - a.c:Lost one:f: Passed\nok 2 - a.c:Lost one:g: Passed\nnot ok 3 - a.c:Kept:h: no\nok 4 - a.c:Alone:i: Passed\n1..4"), 0;
	return !which || test(which);
}
#elif defined(ACUTEST)
const char *marker = "If supported, execute unit tests as child processes";
int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return puts("Unit tests:\n  Lost one\n  Kept\n  Alone"), 0;
	return argc != 3 || strcmp(argv[1], "--no-exec") || test(argv[2]);
}
#else /* none that we know: it must not be asked anything */
const char *marker = "";
int main(int argc, char **argv) { return argc != 1 || test("Lost") || argv == NULL; }
#endif
C
names() { # FRAMEWORK NAME...: exactly these tests
	run 0 unplait test --list ./$1
	shift
	printf '%s\n' "$@" >want
	same out want "the names of its tests"
}
for f in GTEST CATCH CATCH3 DOCTEST CHECK ACUTEST PLAIN; do
	unplait cc -g -O1 -D$f stub.c -o $f -lpthread || not_ok "cannot build $f"
done
names GTEST Sum.Lost Sum.Kept More/Sum.Alone/0
names CATCH 'Lost, sometimes [x]' Kept '#Alone'
names CATCH3 Lost Kept Alone
names DOCTEST 'Lost, too' Kept Alone
names CHECK 'Lost one' Kept Alone
names ACUTEST 'Lost one' Kept Alone
names PLAIN ./PLAIN
for f in GTEST CATCH CATCH3 DOCTEST CHECK ACUTEST; do
	run 1 unplait test --runs 400 --no-explain -o found ./$f
	is "$(grep -c '^FAILS .*Lost' out)" 1 "$f: the test that loses an update fails"
	is "$(grep -c '^FAILS' out)" 1 "$f: no other does"
	grep -q '^ok .*Alone.* starts no threads' out && ok "$f: a test without threads is told so" || not_ok "$f: no threads" "$(cat out)"
done

# the whole answer: cause, replay, machine-readable
run 1 unplait test --runs 400 --junit j.xml --sarif s.json -o found ./GTEST
has out "found/Sum.Lost.plait"
has out "cause   thread "
has out "3 tests, 1 FAILS, 1 starts no threads"
has j.xml '<testsuite name="unplait test" tests="3" failures="1"'
has j.xml 'name="More/Sum.Alone/0"'
has j.xml 'unplait replay found/Sum.Lost.plait'
has s.json '"test": "Sum.Lost"'
run 1 unplait replay found/Sum.Lost.plait
# replay finds a test's variables where its line says so
run 1 unplait test --runs 400 --no-explain -o found ./CHECK
line=$(sed -n 's/^       replay *\(.*\)/\1/p' out)
run 1 env PATH="$(dirname "$UNPLAIT"):$PATH" sh -c "$line"
run 1 unplait test --runs 400 --no-explain --json=all.json -o found ./GTEST
is "$(grep -c '"verdict"' all.json)" 3 "one object per test"
has all.json '"verdict": "fails"'
has all.json '"verdict": "no-threads"'

# choosing
run 0 unplait test --runs 100 --filter '*.Kept' --filter '*Alone*' -o found ./GTEST
hasnt out "Sum.Lost"
run 2 unplait test --filter nothing ./GTEST
has err "none of the 3 tests matches"

# known failures do not fail the run; another failure of the same test does
run 1 unplait test --runs 400 --no-explain --write-baseline known.txt -o found ./GTEST
has known.txt "Sum.Lost	fails exit"
run 0 unplait test --runs 400 --no-explain --baseline known.txt -o found ./GTEST
has out "known  Sum.Lost"
sed -i 's/fails exit/fails deadlock/' known.txt
run 1 unplait test --runs 400 --no-explain --baseline known.txt -o found ./GTEST
run 3 unplait test --baseline absent.txt ./GTEST

# nothing to test
mkdir empty
run 3 unplait test empty
has err "neither CTestTestfile.cmake"
run 3 unplait test ./absent
finish
