#!/usr/bin/env bash
# Every race gets a first look before any gets a second: when time is short, none is left without a verdict.
# level: check
. "$(dirname "$0")/lib.sh"

cat >three.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
static int first, second, third;

static void *work(void *arg)
{
	first++;
	second++;
	third++;
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	return printf("%d %d\n", first, second) < 0;
}
EOF
run 0 unplait cc -g -O0 -pthread -o three three.c
"$UNPLAIT" races --debug=race:1 --one-path -o "" ./three >out 2>err
is $? 1 "two of three counters are printed"
races=$(grep -c '^ *[0-9]* *\(output-differs\|k-witness-harmless\) ' out)
is "$races" 3 "each has a verdict"
grep -o 'race [0-9]*: pair [0-9]*' err >pairs
head -3 pairs | grep -c 'pair 0$' >firsts
is "$(cat firsts)" 3 "the first three pairs are the first of each race"
is "$(head -3 pairs | sort -u | wc -l)" 3 "of three races"
grep -q 'pair 7' pairs && ok "then come the other continuations" || not_ok "then come the other continuations" "$(cat pairs)"
is "$(sort pairs | uniq -c | awk '$1 > 8' | wc -l)" 0 "no continuation of an instance runs twice"
finish
