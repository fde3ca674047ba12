#!/usr/bin/env bash
# OpenMP: what its runtime orders is no race (regions, barriers, critical sections, reductions, tasks with taskwait), what it
# does not order is one.
# level: check
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=2
cat >ordered.c <<'END'
#include <stdio.h>
int main(void)
{
	int i, sum = 0, x = 0, y = 0, a[40];
#pragma omp parallel for
	for (i = 0; i < 40; i++)
		a[i] = i;
#pragma omp parallel for reduction(+ : sum)
	for (i = 0; i < 40; i++)
		sum += a[i];
#pragma omp parallel
	{
#pragma omp critical
		x++;
#pragma omp barrier
#pragma omp single
		y = x;
	}
	printf("%d %d\n", sum, y);
	return 0;
}
END
cat >racing.c <<'END'
#include <stdio.h>
int main(void)
{
	int i, x = 0, a[40];
	for (i = 0; i < 40; i++)
		a[i] = i;
#pragma omp parallel for
	for (i = 0; i < 39; i++)
		a[i] = a[i + 1] + 1;
#pragma omp parallel
	x++;
	printf("%d %d\n", x, a[19]);
	return 0;
}
END
lib=$(ls -d /usr/lib/llvm-19/lib 2>/dev/null)
if ! clang-19 -fopenmp -o plain ordered.c ${lib:+-L"$lib"} >/dev/null 2>&1 || ! ./plain >/dev/null 2>&1; then
	skip "races of OpenMP programs" "no libomp (libomp-19-dev)"
	finish
fi
run 0 unplait cc -g -fopenmp -o ordered ordered.c -L"$lib"
run 0 unplait races --one-path -o "" ./ordered
has out "0 races"
run 0 unplait cc -g -fopenmp -o racing racing.c -L"$lib"
run 1 unplait races --one-path -o "" ./racing
has out "racing.c:9"
has out "racing.c:11"
has out "2 races: 2 output-differs"
run 0 unplait hunt -n 50 -o "" ./ordered
finish
