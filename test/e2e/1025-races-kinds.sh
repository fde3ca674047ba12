#!/usr/bin/env bash
# Races of kinds that the corpus lacks: fences, publication, a seqlock, bit-fields, freed and moved memory, a lost signal.
. "$(dirname "$0")/lib.sh"

# verdict KIND: the worst that is said about it; "none" without a race
verdict() { awk '/^ *[0-9]+  [a-z-]+ / { print $2; found = 1; exit } END { if (!found) print "none" }' out; }
for level in -O0 -O2; do
	unplait cc $level -g -pthread -o kinds "$top/test/programs/race-verdicts.c" 2>/dev/null || not_ok "$level builds"
	while read -r kind want; do
		timeout 120 "$UNPLAIT" races --one-path -o "" ./kinds "$kind" >out 2>err
		is "$(verdict)" "$want" "$level $kind: $want"
	done <<'END'
fence none
publish none
relaxed single-ordering
seqlock k-witness-harmless
freed spec-violated
moved spec-violated
waiting spec-violated
idempotent k-witness-harmless
mixed output-differs
status output-differs
END
	[ $level = -O2 ] && continue # there the compiler writes both bit-fields with one store each, to a byte of their own or not
	timeout 120 "$UNPLAIT" races --one-path -o "" ./kinds bits >out 2>err
	is "$(verdict)" output-differs "$level bits: output-differs"
done

# what differs by itself is no difference: a program that prints its process id
cat >pid.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int x;
static void *f(void *p) { x = x + 1; return p; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, f, NULL);
	f(NULL);
	pthread_join(t, NULL);
	printf("process %d\n", (int)getpid());
	return 0;
}
END
run 0 unplait cc -g -pthread -o pid pid.c
run 0 unplait races --one-path --fresh -o "" ./pid
has out "k-witness-harmless" "a process id in the output is no difference"

# proved: every state was explored, and nothing is printed
run 0 unplait cc -g -pthread -o bits "$CORPUS/race-bits/main.c"
run 0 unplait races --one-path --json -o "" ./bits
has out '"proved": true'
run 1 unplait races --one-path --json -o "" ./kinds status
hasnt out '"proved": true'
finish
