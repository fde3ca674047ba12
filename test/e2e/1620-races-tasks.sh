#!/usr/bin/env bash
# OpenMP's tasks under control: waits for tasks end without real time, a missing taskwait is a race, dependences and
# reductions of floating-point numbers order. (The runtime spins in code that nobody sees: each wait took a second.)
# level: check
. "$(dirname "$0")/lib.sh"

export OMP_NUM_THREADS=2
cat >tasks.c <<'END'
#include <stdio.h>
static int fib(int n)
{
	int i, j, sum;
	if (n < 2)
		return n;
#pragma omp task shared(i)
	i = fib(n - 1);
#pragma omp task shared(j)
	j = fib(n - 2);
#ifdef MISSING
	sum = i + j;
#pragma omp taskwait
#else
#pragma omp taskwait
	sum = i + j;
#endif
	return sum;
}
int main(void)
{
	int r = 0, x = 0, y = 0;
	float f = 0;
#pragma omp parallel
#pragma omp single
	{
		r = fib(5);
#pragma omp task depend(inout : x) shared(x)
		x++;
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
		y = x;
#pragma omp taskwait depend(in : y)
		printf("%d\n", y);
#pragma omp taskwait
	}
#pragma omp parallel for reduction(+ : f)
	for (int i = 0; i < 8; i++)
		f += 0.5f;
	printf("%d %g\n", r, f);
	return 0;
}
END
lib=$(ls -d /usr/lib/llvm-19/lib 2>/dev/null)
if ! clang-19 -fopenmp -o plain tasks.c ${lib:+-L"$lib"} >/dev/null 2>&1 || ! ./plain >/dev/null 2>&1; then
	skip "tasks of OpenMP programs" "no libomp (libomp-19-dev)"
else
	run 0 unplait cc -g -fopenmp -o ordered tasks.c -L"$lib"
	run 0 unplait races --one-path -n 8 -o "" ./ordered
	has out "0 races"
	hasnt out "kept the processor" "no wait is left to real time"
	hasnt out "cut off"
	run 0 unplait cc -g -fopenmp -DMISSING -o missing tasks.c -L"$lib"
	unplait races --one-path -n 6 --schedules 2 --time 15 -o "" ./missing >out 2>err
	has out "tasks.c:8" "the child's write races with its parent's read"
	# iterations that depend on each other are one thread's with two threads, and not with many
	cat >team.c <<'END'
#include <stdio.h>
int main(void)
{
	int a[100] = { 0 };
#pragma omp parallel for
	for (int i = 0; i < 100; i++)
		a[i] = i == 1 ? a[0] : i;
	return a[5] != 5;
}
END
	run 0 unplait cc -g -fopenmp -o team team.c -L"$lib"
	run 0 unplait races --one-path -n 4 -o "" ./team
	has out "0 races"
	unplait races -n 4 --schedules 1 --time 30 -o "" ./team >out 2>err
	has out "team.c:7"
	has out "OMP_NUM_THREADS=200 in the environment"
	run 0 unplait hunt --seed 1 -s stay -n 5 -o "" ./ordered
	hasnt out "kept the processor"
fi

# main's stack is as large as without us
ulimit -S -s 8192 2>/dev/null
cat >fixed.c <<'END'
#include <pthread.h>
static void *nothing(void *arg) { return arg; }
int main(void)
{
	pthread_t t;
	volatile char big[7900000];
	for (unsigned long i = 0; i < sizeof(big); i += 4096)
		big[sizeof(big) - 1 - i] = 1;
	pthread_create(&t, 0, nothing, 0);
	return pthread_join(t, 0);
}
END
run 0 unplait cc -g -pthread -o fixed fixed.c
run 0 ./fixed
run 0 unplait hunt --seed 1 -n 5 -o "" ./fixed
run 0 unplait races --one-path -n 5 -o "" ./fixed

# a program that fails before it has threads has not been looked at
printf '#include <stdlib.h>\nint main(void) { abort(); }\n' >early.c
run 0 unplait cc -g -pthread -o early early.c
run 4 unplait races --one-path -o "" ./early
has out "fails before"
finish
