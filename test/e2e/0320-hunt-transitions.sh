#!/usr/bin/env bash
# hunt: every transition that another thread can notice is a scheduling point. Each program fails in some schedule;
# a systematic search (dfs, states) finds it, and so never says "every schedule was explored" too early.
# level: check
. "$(dirname "$0")/lib.sh"

cat >head.h <<'C'
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static volatile int done, x;
static sem_t sem;
static struct timespec in(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000l;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}
C
# program NAME THREAD MAIN: a second thread and the rest of main
program() {
	cat >"$1.c" <<C
#include "head.h"
static void *other(void *p) { $2 return p; }
int main(void)
{
	pthread_t t; struct timespec ts = in(100); (void)ts; (void)c;
	pthread_spin_init(&spin, 0); sem_init(&sem, 0, 0);
	pthread_create(&t, NULL, other, NULL);
	$3
	return 0;
}
C
}
# fails NAME STRATEGY...: at -O0 and -O2, each strategy finds the failure, and it replays
fails() {
	local name=$1 o s
	shift
	for o in -O0 -O2; do
		if ! unplait cc -D_GNU_SOURCE -w -g $o -pthread -o "$name$o" "$name.c" 2>err; then
			not_ok "$name $o is built" "$(cat err)"
			continue
		fi
		for s in "$@"; do
			timeout 60 "$UNPLAIT" hunt -s "$s" -n 3000 -o f.plait "./$name$o" >out 2>&1
			if [ $? = 1 ] && grep -q 'replayed 5 of 5' out; then ok "$name $o: $s finds it"; else
				not_ok "$name $o: $s finds it" "$(cat out)"
			fi
		done
	done
}

join='pthread_join(t, NULL);'
program try-mutex 'pthread_mutex_lock(&m); done = 1; pthread_mutex_unlock(&m);' \
	"if (done) assert(!pthread_mutex_trylock(&m)); $join"
program try-rwlock 'pthread_rwlock_wrlock(&rw); done = 1; pthread_rwlock_unlock(&rw);' \
	"if (done) assert(!pthread_rwlock_tryrdlock(&rw)); $join"
program try-spin 'pthread_spin_lock(&spin); done = 1; pthread_spin_unlock(&spin);' \
	"if (done) assert(!pthread_spin_trylock(&spin)); $join"
program try-bare 'pthread_mutex_lock(&m); pthread_mutex_unlock(&m);' \
	"assert(!pthread_mutex_trylock(&m)); pthread_mutex_unlock(&m); $join"
program timed-lock 'pthread_mutex_lock(&m); pthread_mutex_unlock(&m);' \
	"assert(!pthread_mutex_timedlock(&m, &ts)); pthread_mutex_unlock(&m); $join"
for p in try-mutex try-rwlock try-spin try-bare timed-lock; do fails $p dfs states; done
program timed-sem 'sem_post(&sem);' "assert(!sem_timedwait(&sem, &ts)); $join"
program timed-wait 'pthread_mutex_lock(&m); x = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m);' \
	"int r = 0; pthread_mutex_lock(&m); while (!x && !r) r = pthread_cond_timedwait(&c, &m, &ts);
	assert(!(x && r == ETIMEDOUT)); pthread_mutex_unlock(&m); $join"
program yield 'x = 1;' "sched_yield(); assert(x); $join"
program yields 'x = 1;' "int i; for (i = 0; i < 5 && !x; i++) sched_yield(); assert(i < 5); $join"
program attempts 'x = 1;' "int i; for (i = 0; i < 10 && !x; i++) ; assert(i < 10); $join"
program ended 'x = 1;' "if (x) assert(!pthread_tryjoin_np(t, NULL)); else { $join }"
for p in timed-sem timed-wait yield yields attempts ended; do fails $p dfs; done
program exits 'int was = x; if (was) assert(x);' 'pthread_detach(t);'
sed -i 's/^int main/static void bye(void) { x = 0; }\nint main/; s/pthread_t t;/x = 1; atexit(bye); &/' exits.c
fails exits dfs
program quick 'if (x) x = 2; if (x == 2) abort();' 'pthread_detach(t); x = 1; _exit(0);'
sed -i 's/"head.h"/"head.h"\n#include <unistd.h>/' quick.c
fails quick dfs

# a hunt that learns meets what is tried, too
run 1 unplait hunt --seed 1 -n 300 -s random -o f.plait ./try-mutex-O2
run 1 unplait hunt --seed 1 -n 300 -s random -o f.plait ./yield-O2

# C++: what libstdc++ makes of try_acquire and wait is a bounded spin
cat >binary.cc <<'C'
#include <cassert>
#include <semaphore>
#include <thread>
static std::binary_semaphore s(1);
static bool a, b;
int main() {
	std::thread t([] { a = s.try_acquire(); if (a) s.release(); });
	b = s.try_acquire();
	if (b) s.release();
	t.join();
	assert(a && b);
}
C
cat >lost.cc <<'C'
#include <atomic>
#include <thread>
static std::atomic<int> v(0);
int main() {
	std::thread t([] { v.wait(0); });
	v.store(1); /* and no notify */
	t.join();
}
C
cat >mutex.cc <<'C'
#include <cassert>
#include <mutex>
#include <thread>
static std::mutex m;
static volatile int done;
int main() {
	std::thread t([] { m.lock(); done = 1; m.unlock(); });
	if (done) assert(m.try_lock());
	t.join();
}
C
for p in binary lost mutex; do
	for o in -O0 -O2; do
		run 0 unplait c++ -std=c++20 -w -g $o -pthread -o $p$o $p.cc
		run 1 timeout 60 "$UNPLAIT" hunt -s dfs -n 3000 -o f.plait ./$p$o
		has out 'replayed 5 of 5'
	done
done
has out 'try_lock'

# loops that wait without progress end the search all the same: nothing is left to explore
program waits 'x = 1;' "while (!x) ; $join"
program waits-yielding 'x = 1;' "while (!x) sched_yield(); $join"
program waits-trying 'pthread_mutex_lock(&m); done = 1; pthread_mutex_unlock(&m);' \
	"while (!done) ; while (pthread_mutex_trylock(&m)) ; $join"
program waits-atomically '__atomic_store_n(&x, 1, 5);' \
	"int one = 1; while (!__atomic_compare_exchange_n(&x, &one, 2, 0, 5, 5)) one = 1; $join"
program waits-sleeping 'x = 1;' "struct timespec s = { 0, 1000 }; while (!x) nanosleep(&s, NULL); $join"
for p in waits waits-yielding waits-trying waits-atomically waits-sleeping; do
	for o in -O0 -O2; do
		run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o $p$o $p.c
		run 0 timeout 60 "$UNPLAIT" hunt -s dfs -n 3000 ./$p$o
		has out 'was explored' "$p $o: the search ends"
	done
done

# as glibc: a lock of one's own is busy for try, a deadlock for lock; a semaphore has a maximum
cat >own.c <<'C'
#include "head.h"
#include <limits.h>
int main(void)
{
	assert(!pthread_rwlock_wrlock(&rw));
	assert(pthread_rwlock_tryrdlock(&rw) == EBUSY && pthread_rwlock_trywrlock(&rw) == EBUSY);
	assert(pthread_rwlock_rdlock(&rw) == EDEADLK && pthread_rwlock_wrlock(&rw) == EDEADLK);
	assert(!pthread_rwlock_unlock(&rw) && !pthread_rwlock_rdlock(&rw));
	assert(pthread_rwlock_trywrlock(&rw) == EBUSY && !pthread_rwlock_tryrdlock(&rw));
	errno = 0;
	assert(sem_init(&sem, 0, (unsigned)INT_MAX + 1) == -1 && errno == EINVAL);
	return 0;
}
C
run 0 unplait cc -D_GNU_SOURCE -w -g -o own own.c
run 0 ./own
run 0 unplait hunt -n 20 ./own
finish
