#!/usr/bin/env bash
# watch --core on the dump of a program that nobody watched: who waits for whom, and a crash is no deadlock.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

slow_locks
gcc -O2 -g -pthread -o hawknl "$CORPUS/hawknl/main.c"
stuck_dump_of hawknl.core ./hawknl 3 </dev/null
run 1 unplait watch --core hawknl.core
has out "deadlock: 2 threads wait for each other"
has out "nl_close"
has out "nl_shutdown"
has err "holds no area of the watch library"
run 1 unplait watch --json --core hawknl.core
has out '"cycle"'
printf 'int main(int argc, char **argv) { return *(volatile int *)(long)(argc - 1 + (argv[0] == 0)); }' >crash.c
gcc -O0 -g -o crash crash.c
dump_of crash.core ./crash </dev/null
run 0 unplait watch --core crash.core
hasnt out "deadlock"
has out "main"
printf 'no dump' >text
run 3 unplait watch --core text
finish
