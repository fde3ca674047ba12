#!/usr/bin/env bash
# The search over states at -O0: local variables that nobody reads again do not keep states apart.
# level: quick
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

# a lock-free stack that fails after eight switches at the right places among 90 operations
for level in -O0 -O2; do
	run 0 unplait cc -g $level -pthread "$CORPUS/sct-safestack/main.c" -o safe$level
	run 1 unplait hunt -s states --json -o safe.plait ./safe$level
	mv out states$level
done
states() { grep -o '"states": *[0-9]*' "$1" | head -n 1 | grep -o '[0-9]*$'; }
O0=$(states states-O0) O2=$(states states-O2)
is "$([ "${O0:-0}" -gt 0 ] && [ "$O0" -lt $((2 * O2)) ] && echo yes)" yes "-O0 has about as many states as -O2: $O0 and $O2"
# 2.8 million can be reached; where the exit status counts, too, a search goes no further than the first failure
is "$([ "${O0:-0}" -lt 1000000 ] && echo yes)" yes "the search ends at the first failure"

# what may and what may not live in a register: each value is what memory would hold
cat >locals.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
static atomic_int turns;
static jmp_buf back;
static int kept_over_jump(void)
{
	volatile int n = 1;
	int r = setjmp(back);
	if (!r) {
		n = 5;
		longjmp(back, 3);
	}
	return n * 10 + r;
}
static void set_through(int *p) { *p += atomic_fetch_add(&turns, 1) >= 0; }
static int recurse(int n)
{
	int mine = n, rest = n ? recurse(n - 1) : 0;
	return mine + rest;
}
static void *work(void *arg)
{
	unsigned char small = 250;
	signed char sign = 127;
	short half = -1;
	float f = 0.5f;
	double d = 0.25;
	bool yes = true, no = false;
	_Bool flip = 2;
	int taken = 1, sum = 0;
	int *pointer = arg;
	long double wide = 1.5L;
	union { int i; float f; } u = { .f = 1.0f };
	small += 10;
	sign++;
	half = (short)(half * 3);
	for (int i = 0; i < 3; i++) {
		int fresh = i;
		set_through(&taken);
		sum += fresh;
		fresh = 100;
	}
	f += (float)d;
	wide *= 2;
	assert(small == 4 && sign == -128 && half == -3 && yes && !no && flip == 1);
	assert(f == 0.75f && wide == 3.0L && u.i == 0x3f800000);
	assert(taken == 4 && sum == 3 && recurse(4) == 10);
	*pointer = kept_over_jump();
	return 0;
}
int main(void)
{
	pthread_t t;
	int result = 0, before;
	pthread_create(&t, 0, work, &result);
	before = atomic_load(&turns);
	pthread_join(t, 0);
	assert(result == 53 && before >= 0 && before <= 3);
	return before;
}
C
cat >locals.cc <<'C'
#include <cassert>
#include <pthread.h>
#include <atomic>
#include <stdexcept>
static std::atomic<int> turns;
static void *work(void *arg)
{
	int stage = 0;
	try {
		stage = 1;
		turns++;
		stage = 2;
		if (turns.load() > 0)
			throw std::runtime_error("x");
		stage = 3;
	} catch (const std::exception &) {
		stage += 10;
	}
	assert(stage == 12);
	return arg;
}
int main()
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	int before = turns.load();
	pthread_join(t, 0);
	return before;
}
C
run 0 unplait cc -g -O0 -pthread -w locals.c -o locals
run 0 unplait sym schedules --all-errors ./locals
has out "explored everything"
for status in 0 1 2 3; do has out "exit $status"; done
hasnt out "assert" "every local has its value"
hasnt out "NOT confirmed" "native runs agree"
run 0 unplait c++ -g -O0 -pthread -w locals.cc -o locals-cc
run 0 unplait sym schedules --all-errors ./locals-cc
has out "explored everything"
hasnt out "assert" "a handler sees what was stored before the throw"
finish
