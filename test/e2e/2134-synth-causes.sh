#!/usr/bin/env bash
# --all-causes: two independent races lead to one failed assertion; they are told apart by what mends them.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >two.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <unistd.h>
static volatile long x, y;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define ADD(name, counter, before, behind)                                                         \
	static void *name(void *arg)                                                               \
	{                                                                                          \
		before;                                                                            \
		long old = counter;                                                                \
		usleep(20000);                                                                     \
		counter = old + 1;                                                                 \
		behind;                                                                            \
		return arg;                                                                        \
	}
#define LOCK pthread_mutex_lock(&m)
#define UNLOCK pthread_mutex_unlock(&m)
#ifdef MENDED_X
ADD(add_x, x, LOCK, UNLOCK)
#else
ADD(add_x, x, (void)0, (void)0)
#endif
#ifdef MENDED_Y
ADD(add_y, y, LOCK, UNLOCK)
#else
ADD(add_y, y, (void)0, (void)0)
#endif
int main(void)
{
	void *(*entry[4])(void *) = { add_x, add_x, add_y, add_y };
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, entry[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert(x + y == 4);
	return LOCK;
}
C
gcc -O2 -g -pthread -o shipped two.c
dump_of core.two ./shipped </dev/null
run 0 unplait cc -g -O0 -pthread -o prog two.c
run 1 unplait synth --all-causes --time 120 --json=j -o causes core.two ./prog
python3 - <<'P' && ok "two causes, one for each counter" || not_ok "two causes" "$(cat j)"
import json
j = json.load(open('j'))
c = j['causes']
assert len(c) == 2 and j['complete'], c
assert any('of x' in k['summary'] for k in c) and any('of y' in k['summary'] for k in c), c
assert abs(j['df'] - 0.75) < 1e-6 and all(k['df'] == 0.5 for k in c)
open('plaits', 'w').write('\n'.join(k['plait'] for k in c) + '\n')
P
while read -r plait; do run 1 unplait replay "$plait"; done <plaits
run 0 unplait cc -g -O0 -pthread -DMENDED_X -o prog two.c
run 1 unplait synth --all-causes --time 120 -o one core.two ./prog
has out "1 cause was told apart; with all of them mended, no schedule that was tried fails"
has out "DF 1.00"
run 0 unplait cc -g -O0 -pthread -DMENDED_X -DMENDED_Y -o prog two.c
"$UNPLAIT" synth --all-causes --time 3 -o none core.two ./prog >out 2>&1
is "$(($? == 1))" 0 "the cured program does not fail so"
run 2 unplait synth --all-causes -o '' core.two ./prog
finish
