#!/usr/bin/env bash
# watch: attach to a hung C++ program; stripped binaries; signals; core dumps; areas left behind.
. "$(dirname "$0")/lib.sh"
LIB=$(dirname "$UNPLAIT")/libplait-watch.so
pids=
start() { # start a program with the library preloaded, wait until its threads have stopped moving
	env LD_PRELOAD="$LIB" "$@" >"$work/prog.out" 2>&1 &
	pid=$!
	pids="$pids $pid"
	settle "$pid"
}
settle() {
	local before='' now i
	for i in $(seq 100); do
		sleep 0.1
		now=$(cat /proc/"$1"/task/*/syscall 2>/dev/null)
		[ -n "$now" ] && [ "$now" = "$before" ] && [ "$(ls /proc/"$1"/task | wc -l)" -ge "${tasks:-3}" ] && return
		before=$now
	done
}
end() { { kill -9 $pids; wait; } 2>/dev/null; pids=; }

# a C++ program, attached to after it hung: source lines of both acquisitions per thread
c++ -O1 -g -pthread -o account "$top/test/programs/watch/account.cpp" || exit 3
start ./account
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid"
cp out attached
has out "deadlock: 2 threads wait for each other"
is "$(grep -c 'transfer.*account.cpp:26' out)" 2 "both threads: where the first lock was taken"
is "$(grep -c 'transfer.*account.cpp:28' out)" 2 "both threads: where the second one is wanted"
has out "alice.lock" "locks have names"
has out "bob.lock"
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid" --json=fp.json
bucket=$(sed -n 's/^  "bucket": "\(.*\)",/\1/p' fp.json)
end

# not optimised, where the locks are behind three wrappers
c++ -O0 -g -pthread -o account0 "$top/test/programs/watch/account.cpp"
start ./account0
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid"
is "$(grep -c 'transfer.*account.cpp:26' out)" 2 "-O0: where the first lock was taken"
is "$(grep -c 'transfer.*account.cpp:28' out)" 2 "-O0: where the second one is wanted"
end

# optimised, where the locks are inlined
c++ -O2 -g -pthread -o account2 "$top/test/programs/watch/account.cpp"
start ./account2
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid"
has out "(inlined)" "inlined frames are shown"
is "$(grep -c 'transfer.*account.cpp:26' out)" 2 "-O2: where the first lock was taken"
is "$(grep -c 'transfer.*account.cpp:28' out)" 2 "-O2: where the second one is wanted"
end

# stripped: modules and offsets, which addr2line can read elsewhere
cp account account-full
strip -o account-stripped account
start ./account-stripped
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid" --json=stripped.json
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid"
has out "deadlock: 2 threads wait for each other" "a stripped binary"
has out "account-stripped+0x"
mkdir both && cp fp.json stripped.json both
run 1 unplait watch --report both
has out "2 fingerprints, 1 bucket" "with and without symbols: one bucket"
end

# a holder that never waits for a lock unwinds nothing itself
cc -O2 -g -pthread -o holder "$top/test/programs/watch/holder.c" || exit 3
tasks=2
start ./holder
run 0 timeout 30 "$UNPLAIT" watch --pid "$pid" --all
has out "holds mutex m, taken at take" "a holder that is elsewhere"
has out "holder.c:12"
has out "holder.c:21" "and its caller, which has returned"
has out "holder.c:27" "and the caller of that"
end

# without the library
tasks=3
./account >/dev/null 2>&1 &
pid=$! pids=$!
settle "$pid"
# ptrace wakes every thread for a moment: the next command must not be fooled by that, nor by the one before it
for i in 1 2 3; do run 1 timeout 30 "$UNPLAIT" watch --pid "$pid"; done
run 1 timeout 30 "$UNPLAIT" watch --pid "$pid"
has err "without the watch library" "says that the library is not there"
has out "deadlock: 2 threads wait for each other (by the owners in the mutexes" "the owners are in the mutexes all the same"
is "$(grep -c 'transfer.*account.cpp:28' out)" 2 "where both threads are blocked"
hasnt out "account.cpp:26" "where they took their first lock, nobody knows"
end
# two threads that take two locks in turn, as fast as they can, now in one order and now in the other, under a third
# lock: at no time do they wait for each other
cc -O1 -g -pthread -o gated "$top/test/programs/watch/gated.c" || exit 3
tasks=3
./gated >/dev/null 2>&1 &
pid=$! pids=$!
for i in $(seq 50); do [ "$(ls /proc/$pid/task | wc -l)" -ge 3 ] && break; sleep 0.1; done
for i in 1 2 3 4 5; do run 0 timeout 30 "$UNPLAIT" watch --pid "$pid"; hasnt out "deadlock" "nothing is put together from waits at different times"; done
end
run 3 unplait watch --pid 999999999
end

# core dump: the area is inside; gcore works where core files are not allowed
if command -v gcore >/dev/null; then
	start ./account
	gcore -o core "$pid" >/dev/null 2>&1
	end
	run 1 unplait watch --core "core.$pid"
	has out "deadlock: 2 threads wait for each other" "from a core dump"
	is "$(grep -c 'transfer.*account.cpp:2[68]' out)" 4 "with both lines of both threads"
else
	skip "core dump" "no gcore"
fi

# a killed process leaves its area in dir=
mkdir areas
UNPLAIT_WATCH=dir=$work/areas start ./account
end
run 1 unplait watch --area areas/*.area
has out "deadlock: 2 threads wait for each other" "from the area of a dead process"
cc -O1 -g -pthread -o modes "$top/test/programs/watch/modes.c"
UNPLAIT_WATCH=dir=$work/areas LD_PRELOAD=$LIB ./modes ok-threads
is "$(ls areas | wc -l)" 1 "a process that ends leaves nothing"

# the user interrupts; SIGUSR1 asks
"$UNPLAIT" watch --stuck-after 0 -- ./modes stuck-cond >out 2>err &
watcher=$!
for i in $(seq 50); do sleep 0.1; pgrep -P $watcher >/dev/null && break; done
sleep 0.5
kill -USR1 $watcher
for i in $(seq 50); do sleep 0.1; grep -q "waits for a signal" out && break; done
has out "waits for a signal on condition cond" "SIGUSR1 prints the state"
kill -0 $watcher && ok "and the program goes on" || not_ok "and the program goes on"
: >out
kill -INT $watcher
wait $watcher
is $? 0 "status after an interrupt: no deadlock"
has out "waits for a signal on condition cond" "an interrupt prints the state"

# a program with a malloc of its own, that locks
cat >own.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <string.h>
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static char memory[1 << 24];
static size_t used;
void *malloc(size_t n)
{
	void *p;
	pthread_mutex_lock(&heap);
	p = memory + used;
	used += (n + 31) / 16 * 16;
	pthread_mutex_unlock(&heap);
	return p;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return memset(malloc(n * m), 0, n * m); }
void *realloc(void *p, size_t n) { void *q = malloc(n); if (p) memcpy(q, p, n); return q; }
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t bar;
static void *one(void *p) { pthread_mutex_lock(&a); pthread_barrier_wait(&bar); pthread_mutex_lock(&b); return malloc(3) ? p : 0; }
static void *two(void *p) { pthread_mutex_lock(&b); pthread_barrier_wait(&bar); pthread_mutex_lock(&a); return malloc(3) ? p : 0; }
int main(void)
{
	pthread_t t, u;
	pthread_barrier_init(&bar, 0, 2);
	pthread_create(&t, 0, one, malloc(10));
	pthread_create(&u, 0, two, malloc(10));
	pthread_join(t, 0);
	return 0;
}
END
cc -O2 -g -pthread -o own own.c
run 1 timeout 30 "$UNPLAIT" watch -- ./own
has out "deadlock: 2 threads wait for each other" "a program with its own malloc"

# locks in a library that is opened, closed and opened again
cat >plug.c <<'END'
#include <pthread.h>
void plug_take(pthread_mutex_t *m) { pthread_mutex_lock(m); }
END
cc -O0 -g -shared -fPIC -o plug.so plug.c
cat >host.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	for (int i = 0; i < 300; i++) {
		void *h = dlopen("./plug.so", RTLD_NOW);
		void (*take)(pthread_mutex_t *) = (void (*)(pthread_mutex_t *))dlsym(h, "plug_take");
		take(&a);
		if (i == 299)
			take(&a);
		pthread_mutex_unlock(&a);
		dlclose(h);
	}
	return 0;
}
END
cc -O2 -g -o host host.c
run 1 timeout 30 "$UNPLAIT" watch -- ./host
has out "plug_take  plug.c:2" "frames in a library opened with dlopen"
has out "main  host.c:1" "and in its caller"

# the order of locks, from the history
cat >order.c <<'END'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *both(void *p)
{
	pthread_mutex_t *x = p ? &a : &b, *y = p ? &b : &a;
	pthread_mutex_lock(x);
	pthread_mutex_lock(y);
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
	return p;
}
int main(void)
{
	pthread_t t;
	both(&a);
	pthread_create(&t, 0, both, 0);
	pthread_join(t, 0);
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&a);
	return 0;
}
END
cc -O1 -g -pthread -o order order.c
run 1 timeout 30 "$UNPLAIT" watch --history 16 --all -- ./order
has out "deadlock: 1 thread waits for itself"
has out "last releases of thread 0"
finish
