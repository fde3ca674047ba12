#!/usr/bin/env bash
# Pruning is sound where a thread begins in code that a library calls, where qsort moves pointers, and
# where pointers come back from strtok_r, localtime_r and pthread_getspecific.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "pruning" "libplait.a is not built"; finish; }
clang-19 -O1 -g -I"$top/include" -c "$top/test/programs/check-runtime.c" -o check.o && ar rcs libcheck.a check.o || exit 3
export UNPLAIT_RUNTIME=$work/libcheck.a UNPLAIT_TRACE_ALL=1

cat >begin.h <<'C'
#include <pthread.h>
#include <stdlib.h>
static int told;
static pthread_t t;
static void *thread(void *arg)
{
	while (!*(volatile int *)&told)
		continue;
	return arg;
}
static void begin(void) { if (pthread_create(&t, 0, thread, 0)) abort(); }
static int end(void) /* main writes what only the thread reads */
{
	*(volatile int *)&told = 1;
	return pthread_join(t, 0);
}
C
cat >once.c <<'C'
#include "begin.h"
int main(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, begin);
	return end();
}
C
cat >constructor.c <<'C'
#include "begin.h"
__attribute__((constructor)) static void early(void) { begin(); }
int main(void) { return end(); }
C
cat >compare.c <<'C'
#include "begin.h"
static int begun;
static int compare(const void *a, const void *b)
{
	if (!begun++) begin();
	return *(const int *)a - *(const int *)b;
}
int main(void)
{
	int a[] = { 2, 1 };
	qsort(a, 2, sizeof(a[0]), compare);
	return end();
}
C
# after sorting, the first pointer is to what the second was to
cat >sorted.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int x = 2, y = 1;
static int *all[2];
static int compare(const void *a, const void *b) { return **(int *const *)a - **(int *const *)b; }
static void *thread(void *arg) { ++*all[0]; return arg; }
int main(void)
{
	pthread_t t;
	all[0] = &x;
	all[1] = &y;
	qsort(all, 2, sizeof(all[0]), compare);
	if (pthread_create(&t, 0, thread, 0)) return 1;
	while (*(volatile int *)&y == 1)
		continue;
	return pthread_join(t, 0);
}
C
# what another thread finds in a place was stored there as the result of a library's function
cat >results.c <<'C'
#include <pthread.h>
#include <string.h>
#include <time.h>
static char *rest, *word;
static struct tm *when;
static pthread_key_t key;
static int *kept;
static pthread_barrier_t met;
static void *thread(void *arg)
{
	pthread_barrier_wait(&met);
	word[0]++;
	when->tm_year++;
	++*kept;
	pthread_barrier_wait(&met);
	return arg;
}
int main(void)
{
	char text[] = "some words";
	struct tm local;
	time_t now = 0;
	int own = 0, sum;
	pthread_t t;
	pthread_key_create(&key, 0);
	pthread_barrier_init(&met, 0, 2);
	pthread_setspecific(key, &own);
	if (pthread_create(&t, 0, thread, 0)) return 1;
	strtok_r(text, " ", &rest);
	word = strtok_r(0, " ", &rest);
	when = localtime_r(&now, &local);
	kept = pthread_getspecific(key);
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	sum = *(volatile char *)&text[5] + *(volatile int *)&local.tm_year + *(volatile int *)&own;
	pthread_join(t, 0);
	return sum != 'x' + 71 + 1 && sum != 'x' + 70 + 1; /* west of Greenwich it is 1969 */
}
C
for program in once constructor compare sorted results; do
	run 0 unplait cc -O1 -I. $program.c -o $program -pthread
	run 0 timeout 60 ./$program
done
finish
