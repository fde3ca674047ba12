#!/usr/bin/env bash
# AddressSanitizer and UndefinedBehaviorSanitizer builds: they run in every mode, threads come under
# control, and a report is a failure. Those that cannot be combined with us are refused in one sentence.
. "$(dirname "$0")/lib.sh"
cat >use.c <<'X'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
/* the order of the two threads decides whether freed memory is read */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int *box, sum;
static void *reader(void *arg)
{
	pthread_mutex_lock(&m);
	sum += box[0];
	pthread_mutex_unlock(&m);
	return arg;
}
static void *closer(void *arg)
{
	pthread_mutex_lock(&m);
	free(box);
	pthread_mutex_unlock(&m);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	(void)argv;
	box = calloc(4, sizeof(*box));
	box[0] = 1;
	pthread_create(&t[0], NULL, reader, NULL);
	if (argc > 1)
		pthread_join(t[0], NULL);
	pthread_create(&t[1], NULL, closer, NULL);
	for (int i = argc > 1; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", sum);
	return 0;
}
X
for s in address address,undefined; do
	run 0 unplait cc -g -O1 -fsanitize=$s use.c -o use -lpthread
	for m in path full; do
		run 0 unplait record --mode $m -o $m.plait -- ./use in-order
		has out "3 threads" "$s, $m: threads are seen"
	done
	run 0 ./use in-order
	has out 1
	run 0 unplait hunt --runs 30 -- ./use in-order
	run 1 unplait hunt --runs 200 -o fail.plait -- ./use
	has out "sanitizer: AddressSanitizer: heap-use-after-free" "a report is a kind of its own"
	has out "use.c:10" "with its line"
	run 1 unplait replay --times 3 fail.plait
	has out "3 of 3"
done
# any number of files, with a library, compiled one by one as make does it
cat >box.h <<'X'
extern int *box;
void use(void);
void drop(void);
X
printf '#include "box.h"\nint sum;\nvoid use(void) { sum += box[0]; }\n' >box-use.c
printf '#include "box.h"\n#include <stdlib.h>\nvoid drop(void) { free(box); }\n' >box-drop.c
cat >box-main.c <<'X'
#include "box.h"
#include <pthread.h>
#include <stdlib.h>
int *box;
static void *user(void *arg) { use(); return arg; }
static void *dropper(void *arg) { drop(); return arg; }
int main(void)
{
	pthread_t t[2];
	box = calloc(4, sizeof(*box));
	pthread_create(&t[0], NULL, user, NULL);
	pthread_create(&t[1], NULL, dropper, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	return 0;
}
X
for s in address address,undefined undefined leak; do
	run 0 unplait cc -g -O1 -fsanitize=$s -MD -c box-use.c box-drop.c
	run 0 unplait cc -g -O1 -fsanitize=$s -MD -c box-main.c -o main.o
	has main.d "main.o: " "dependencies are those of the object"
	rm -f libbox.a && ar rcs libbox.a box-use.o box-drop.o
	run 0 unplait cc -g -fsanitize=$s main.o libbox.a -o box -lpthread
	[ $s = leak ] || run 1 unplait hunt --runs 300 -o box.plait -- ./box
	[ $s = leak ] || run 1 unplait replay --times 3 box.plait
done
# programs of other compilers: gcc's sanitizer is a library that wants to be the first, clang's is part of the program
for c in gcc clang-19; do
	if ! $c -g -O1 -fsanitize=address use.c -o other -lpthread 2>/dev/null; then
		skip "$c's AddressSanitizer" "$c has none here"
		continue
	fi
	"$UNPLAIT" record -o other.plait -- ./other in-order >out 2>err
	has out "3 threads" "$c: threads are seen"
	hasnt err "does not come first"
	for gate in fiber futex; do
		run 1 unplait hunt --gate $gate --runs 200 -o other.plait -- ./other
		has out "sanitizer: AddressSanitizer: heap-use-after-free" "$c, $gate: hunted like any other program"
		run 1 unplait replay --times 3 other.plait
		has out "3 of 3"
		run 0 unplait hunt --gate $gate --runs 30 -- ./other in-order
	done
done
cat >shift.c <<'X'
#include <pthread.h>
#include <stdlib.h>
static int amount = 3;
static void *grow(void *arg) { amount = 40; return arg; }
int main(void)
{
	pthread_t t;
	int x;
	pthread_create(&t, NULL, grow, NULL);
	x = 1 << amount;
	pthread_join(t, NULL);
	return x == 7;
}
X
run 0 unplait cc -g -O1 -fsanitize=undefined -fno-sanitize-recover=all shift.c -o shift -lpthread
run 1 unplait hunt --runs 200 -o fail.plait -- ./shift
has out "sanitizer: UndefinedBehaviorSanitizer"
# one that would go on after its report
run 0 unplait cc -g -O1 -fsanitize=undefined shift.c -o shift -lpthread
run 1 unplait hunt --runs 200 -o fail.plait -- ./shift
has out "sanitizer: UndefinedBehaviorSanitizer: undefined-behavior shift.c:10" "a report is a failure"
run 1 unplait replay --times 3 fail.plait
has out "3 of 3"
run 0 env UBSAN_OPTIONS=halt_on_error=0 "$UNPLAIT" hunt --runs 60 -- ./shift
# the sanitizer's own accesses are none of the program's
run 0 unplait cc -g -O1 use.c -o plain -lpthread
run 0 unplait cc -g -O1 -fsanitize=address use.c -o checked -lpthread
for p in plain checked; do unplait info ./$p | grep -E '^(accesses|branches|elements)' >$p.counts; done
same checked.counts plain.counts "as many accesses, branches and elements as without AddressSanitizer"
for s in thread memory; do
	run 2 unplait cc -fsanitize=$s use.c -o refused
	is "$(wc -l <err)" 1 "one line"
	has err "-fsanitize=$s does not go together with our own instrumentation"
done
finish
