#!/usr/bin/env bash
# Instrumented shared libraries: linked, loaded by dlopen, unloaded and loaded again, in a program with and
# without instrumentation of its own. Their accesses are recorded and controlled like the program's.
. "$(dirname "$0")/lib.sh"
cat >plug.c <<'X'
#include <assert.h>
static int state;
int plug(int x)
{
	int before = state;
	state = before + x;
	return state;
}
X
cat >host.c <<'X'
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef LINKED
int plug(int);
#else
static int (*plug)(int);
#endif
static void *work(void *a) { plug(1); return a; }
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	(void)argv;
	for (int r = 0; r < rounds; r++) {
		pthread_t t[2];
#ifndef LINKED
		void *h = dlopen("./libplug.so", RTLD_NOW);
		if (!h) { puts(dlerror()); return 1; }
		plug = (int (*)(int))dlsym(h, "plug");
#endif
		for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
		for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
#ifdef LINKED
		assert(plug(0) == 2 * (r + 1));
#else
		assert(plug(0) == 2);
		dlclose(h);
#endif
	}
	return 0;
}
X
run 0 unplait cc -g -O1 -fPIC -shared plug.c -o libplug.so
run 0 unplait cc -g -O1 host.c -o loads -ldl -lpthread
run 0 unplait cc -g -O1 -DLINKED host.c -o links -L. -lplug -Wl,-rpath,"$work" -lpthread
clang-19 -g -O1 host.c -o plain -ldl -lpthread
# it has a race: on a busy machine a plain run may lose an update
lucky() { run 0 bash -c 'for i in 1 2 3 4 5 6; do "$@" && exit 0; done; exit 1' lucky "$@"; }
for p in loads links plain; do
	for m in off path full order block graph; do
		case $p:$m in plain:order | plain:block) continue ;; esac # need analyses of the program itself
		if [ $m = off ]; then lucky ./$p 3; else lucky "$UNPLAIT" record --mode $m -o $p.$m.plait -- ./$p 3; fi
	done
	unplait info --events $p.full.plait >events
	is "$(grep -c 'state = .* at plug.c:[56] in plug' events)" 18 "$p: every access of the library, with its line"
	run 1 unplait hunt --runs 300 -o $p.plait -- ./$p
	has out "Assertion" "$p: the failure in the library is found"
	run 1 unplait replay --times 3 $p.plait
done
finish
