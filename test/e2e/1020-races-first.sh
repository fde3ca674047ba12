#!/usr/bin/env bash
# One command finds the races of a program, says what each does, and leaves two plaits that replay.
. "$(dirname "$0")/lib.sh"

run 0 unplait cc -g -pthread -o counter "$CORPUS/race-counter/main.c"
run 1 unplait races --one-path ./counter
has out "output-differs" "the lost update is seen in the output"
has out "k-witness-harmless" "the flag that both set to the same value is harmless"
has out "unplait replay races/race-1-a.plait"
run 0 unplait replay --times 5 races/race-1-a.plait
has out "replayed 5 of 5 times"
run 0 unplait replay --times 5 races/race-1-b.plait
has out "replayed 5 of 5 times"

run 0 unplait cc -g -pthread -DFIXED -o cured "$CORPUS/race-counter/main.c"
run 0 unplait races -o "" ./cured
has out "0 races" "the cured twin is silent"

# a failing order: status 1 when replayed, and the other order passes
run 0 unplait cc -g -pthread -o null "$CORPUS/race-null/main.c"
run 1 unplait races --one-path --json -o null.d ./null
has out '"verdict": "spec-violated"'
has out '"verdict": "k-witness-harmless"'
order=$(sed -n 's/.*"order": "\(.\)".*/\1/p' out | head -n 1)
run 1 unplait replay --times 5 "null.d/race-1-$order.plait"
run 0 unplait replay --times 5 "null.d/race-1-$(echo "$order" | tr ab ba).plait"

# Ctrl-C ends it soon, and what is known so far is told
cat >long.c <<'END'
#include <pthread.h>
static volatile int x;
static void *f(void *p) { for (int i = 0; i < 3000; i++) x = x + 1; return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); return 0; }
END
run 0 unplait cc -g -pthread -o long long.c
"$UNPLAIT" races -n 100000 -o "" ./long >out 2>err &
pid=$!
sleep 2
kill -INT $pid
wait $pid
is $? 4 "status 4 after Ctrl-C"
has out "interrupted"

run 2 unplait races
run 3 unplait races ./nothing-here
run 3 unplait races --suppressions ./nothing-here ./counter
# what cannot be seen is not called clean
echo 'int main(void) { return 0; }' >plain.c
cc -o plain plain.c
run 3 unplait races -- ./plain
has err "was not built with"
finish
