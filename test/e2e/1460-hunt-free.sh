#!/usr/bin/env bash
# Giving memory back is a scheduling point: both orders of a free (realloc, delete) and another thread's
# use are found, by every search, and both replay. What a systematic search still cannot cover about
# memory, loops and library calls is named by its claim.
# level: check
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

cat >gone.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static int *p, seen;
static void *volatile kept;
static void *use(void *arg)
{
	seen = *p;
	return arg;
}
int main(void)
{
	pthread_t t;
	p = malloc(40);
	*p = 1;
	pthread_create(&t, NULL, use, NULL);
	GIVE_BACK; /* nothing that both threads notice comes between the two calls */
	pthread_join(t, NULL);
	assert(seen != 1);
}
C
cat >gone.cpp <<'C'
#include <cassert>
#include <thread>
static int *p, seen;
int main()
{
	p = new int(1);
	std::thread t([] { seen = *p; });
	delete p;
	t.join();
	assert(seen != 1);
}
C
run 0 unplait cc -w -g -O0 -pthread '-DGIVE_BACK=free(p)' gone.c -o free0
run 0 unplait cc -w -g -O2 -pthread '-DGIVE_BACK=kept=realloc(p,80)' gone.c -o realloc2
run 0 unplait cc -w -g -O0 -pthread '-DGIVE_BACK=kept=reallocarray(p,2,40)' -D_GNU_SOURCE gone.c -o array0
run 0 unplait c++ -w -g -O1 -pthread gone.cpp -o delete1
for prog in free0 realloc2 array0 delete1; do
	for s in "-s dfs" "-s states" "-n 300"; do
		[ "$prog $s" = "delete1 -s states" ] && continue # std::thread's own states are many
		run 1 unplait hunt -q $s --all -o "" ./$prog
		has out "memory that was freed" "$prog, $s: used afterwards"
		has out "seen != 1" "$prog, $s: used before"
		hasnt out "0 of 5 times" "$prog, $s: both replay"
	done
done

# a claim names what it leaves out
cat >left.c <<'C'
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int flag;
static int tries;
static char a[400], b[400];
static void say(char *out, const char *f, ...)
{
	va_list l;
	va_start(l, f);
	vsnprintf(out, 8, f, l);
	va_end(l);
}
static size_t (*volatile length)(const char *) = strlen;
static void *other(void *arg)
{
#ifdef SPIN
	while (!flag && tries < 3)
		tries++;
#elif defined COPY
	memcpy(a, b, sizeof(a));
#elif defined REUSE
	free(malloc(5000));
#elif defined LIST
	char s[8];
	say(s, "%s", a);
#elif defined POINTER
	flag = (int)length(a);
#endif
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, other, NULL);
#ifdef COPY
	b[0] = 1;
#elif defined REUSE
	free(malloc(5000));
#else
	a[0] = 'x';
	flag = 1;
#endif
	pthread_join(t, NULL);
	return 0;
}
C
left() { # define, what is named
	run 0 unplait cc -w -g -O0 -pthread -D"$1" left.c -o left
	run 0 unplait hunt -s dfs ./left
	has out "every schedule of what is covered was explored" "$1: not everything"
	has out "$2"
}
left SPIN "loops that wait"
left COPY "long copies"
left REUSE "memory that another one freed"
left LIST "\`vsnprintf'"
left POINTER "\`strlen'"
run 0 unplait cc -w -g -O0 -pthread -DNOTHING left.c -o left
run 0 unplait hunt -s dfs ./left
has out ": every schedule was explored" "nothing is left out of the rest"
finish
