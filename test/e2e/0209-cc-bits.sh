#!/usr/bin/env bash
# A branch bit must not disturb what the function has in registers, vectors and the red zone included, whether
# the word is full or not: the same sums in every mode, in a program and in a library, with and without AVX.
. "$(dirname "$0")/lib.sh"
cat >sums.c <<'X'
#include <math.h>
#include <stdint.h>
int shared[64];
/* a leaf with many values of all kinds at once, and more than 63 branches on shared data */
uint64_t sums(int rounds)
{
	double a = 1, b = 2, c = 3, d = 4, v[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint64_t i = 1, j = 2, k = 3, l = 4, m = 5, n = 6, o = 7, p = 8;
	long double x = 1;
	for (int r = 0; r < rounds; r++) {
		int s = shared[r & 63];
		for (int q = 0; q < 8; q++)
			v[q] = v[q] * 1.5 + q;
		if (s & 1) { a += b * 0.5; i += j * 3; x += 0.25L; } else { b -= c; j ^= k << 1; }
		if (s & 2) { c += d * 0.25; k += l; } else { d -= a * 0.125; l += m * 7; }
		if (s & 4) { m ^= n; a -= 1; } else { n += o * p; b += 1; }
		if (s & 8) { o += i; c *= 0.5; } else { p ^= k; d *= 0.75; }
		for (int q = 0; q < 8; q++)
			v[q] = fmod(v[q], 1000);
	}
	for (int q = 0; q < 8; q++)
		a += v[q];
	return (uint64_t)(int64_t)((a + b + c + d) * 1000) + (uint64_t)(x * 4) + i + j + k + l + m + n + o + p;
}
X
cat >main.c <<'X'
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
extern int shared[64];
uint64_t sums(int rounds);
static void *fill(void *seed)
{
	for (int i = 0; i < 64; i++)
		shared[i] = (int)(i * 2654435761u >> (long)seed);
	return NULL;
}
int main(void)
{
	pthread_t t;
	for (long seed = 3; seed < 20; seed++) {
		pthread_create(&t, NULL, fill, (void *)seed);
		pthread_join(t, NULL);
		printf("%" PRIu64 "\n", sums(200));
	}
	return 0;
}
X
for extra in "" -mavx2 "-march=native"; do
	# shellcheck disable=SC2086
	run 0 unplait cc -O2 $extra sums.c main.c -o one -lm
	# shellcheck disable=SC2086
	run 0 unplait cc -O2 $extra -fPIC -shared sums.c -o libsums.so -lm
	run 0 unplait cc -O2 main.c -o two -L. -lsums -Wl,-rpath,"$work"
	if ! grep -qw avx2 /proc/cpuinfo && [ "$extra" = -mavx2 ]; then skip 1 "no AVX2 here"; continue; fi
	for p in one two; do
		./$p >expected
		for m in path full; do
			unplait record --mode $m -o $p.$m.plait -- ./$p | grep -E "^[0-9]+\$" >got
			same got expected "$p${extra:+ with $extra}: the same sums in mode $m"
			unplait info $p.$m.plait >said
			has said 'path-bits' "$p${extra:+ with $extra}: mode $m has bits"
		done
		run 0 unplait hunt -n 1 --expect expected -o $p.hunt.plait -- ./$p # under control every bit is a flush
	done
done
finish
