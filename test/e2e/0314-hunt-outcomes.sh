#!/usr/bin/env bash
# What counts as failing without being told, and what the program said about it.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >two.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
static int n, m;
static long last;
static void *add(void *v)
{
	int x = n;
	n = x + 1;
	x = m;
	m = x + 1;
	last = -1;
	return v;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	char line[64];
	(void)argv;
	if (fgets(line, sizeof(line), stdin))
		printf("read: %s", line);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, add, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	if (n != 2)
		fprintf(stderr, "test_first: FAIL, n is %d\n", n);
	else if (m != 2)
		fprintf(stderr, "test_second: FAIL, m is %d\n", m);
	return n != 2 || m != 2 || argc > 1 ? 3 : 0;
}
EOF
cat >uncaught.cc <<'EOF'
#include <stdexcept>
#include <thread>
int n;
int main()
{
	auto add = [] { int x = n; n = x + 1; };
	std::thread a(add), b(add);
	a.join();
	b.join();
	if (n != 2)
		throw std::runtime_error("an update was lost");
}
EOF
cat >fault.c <<'EOF'
#include <pthread.h>
static int x, *p;
static int look(int *q) { return *q; }
static void *writer(void *v) { p = &x; p = 0; p = &x; return v; }
static void *reader(void *v) { if (p) x = look(p); return v; }
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, writer, 0);
	pthread_create(&t[1], 0, reader, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}
EOF
run 0 unplait cc -g -O0 two.c -o two
run 0 unplait c++ -g -O0 uncaught.cc -o uncaught
run 0 unplait cc -g -O0 fault.c -o fault

# a failing test is a failure, although nobody said --fail-on
run 1 unplait hunt -n 500 -o two.plait -- ./two </dev/null
has out "exit 3: test_"
has out "replayed 5 of 5 times"
hasnt out "| test_" "one line is not said twice"
run 1 unplait replay --times 3 two.plait
has out "replayed 3 of 3"
run 1 unplait replay --step two.plait
has out "last = -1"
run 1 unplait minimize two.plait -o small.plait
run 1 unplait hunt --all -n 500 -o both -- ./two </dev/null
has out "test_first: FAIL"
has out "test_second: FAIL"
is "$(ls both)" "fail-1.plait
fail-2.plait" "two findings"

# ... unless no run ends with 0, or the user counts other things
run 0 unplait hunt -n 100 -- ./two always </dev/null
has out "every run ended with exit status 3"
run 1 unplait hunt -n 100 -o x.plait --fail-on exit -- ./two always </dev/null
run 0 unplait hunt -n 100 --fail-on assert,signal,deadlock -- ./two </dev/null
run 0 unplait hunt -n 100 --oracle true -- ./two </dev/null
run 2 unplait hunt --fail-on nonsense -- ./two
has err "not 'nonsense'"

run 2 unplait hunt --show-outptu -- ./two
has err "do you mean --show-output?"

# one schedule is one schedule
echo 'int main(void) { return 0; }' >single.c
run 0 unplait cc single.c -o single
run 0 unplait hunt -n 3 -- ./single
has out "the program starts no threads"
run 0 unplait hunt -- ./single
has out "no failure in 5 runs: every schedule was explored" "a program with one schedule is not run ten thousand times"

# standard input is read once, given to every run, and kept
printf 'a line\nand more\n' >lines
cat lines | unplait hunt -n 500 -o in.plait -- ./two >out 2>err
is $? 1 "input through a pipe"
has out "| read: a line"
mkdir -p elsewhere
run 1 unplait replay in.plait </dev/null
has out "| read: a line"
(cd elsewhere && "$UNPLAIT" replay ../in.plait </dev/null >../there 2>&1)
is $? 1 "from another folder"
has there "| read: a line"
run 1 unplait replay --show-output in.plait
has err "read: a line"
hasnt out "| read: a line"

# the exception's type and text
run 1 unplait hunt -n 500 -o uncaught.plait -- ./uncaught
has out "assert: uncaught std::runtime_error: an update was lost"

# a stack for a signal
run 1 unplait hunt -n 2000 -o fault.plait -- ./fault
has out "look at fault.c:3"
has out "reader at fault.c:5"
run 1 unplait hunt -n 2000 --json -o fault.plait -- ./fault
has out '"at": {'
has out '"line": 3'
run 1 unplait replay fault.plait
has out "look at fault.c:3"
finish
