# test/e2e/dumps.sh - core dumps for the tests: of the kernel where it writes them here, else of gdb.
# dump_of CORE PROGRAM [ARG]...: run it until it fails, leave its dump. Standard input goes to the program.
dump_of() {
	local to=$1 folder
	shift
	folder=$(mktemp -d "$work/dump-XXXXXX")
	cat >"$folder/input" </dev/stdin
	(
		ulimit -c unlimited
		"$@" <"$folder/input" >/dev/null 2>&1
	) >/dev/null 2>&1
	for core in core core.*; do
		[ ! -f "$core" ] || mv "$core" "$to"
	done
	[ -f "$to" ] ||
		gdb -q -batch -nx -ex "set startup-with-shell off" -ex "run <$folder/input >/dev/null 2>&1" \
			-ex "generate-core-file $to" --args "$@" >/dev/null 2>&1
	[ -f "$to" ] && ok "a dump of $*" || not_ok "a dump of $*"
}

# slow_locks: a library to preload, in which every lock is followed by a nap, so that threads that nest locks meet.
slow_locks() {
	cat >"$work/slow.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>
int pthread_mutex_lock(pthread_mutex_t *m)
{
	int (*real)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	int r = real(m);
	usleep(20000);
	return r;
}
C
	gcc -shared -fPIC -o "$work/slow.so" "$work/slow.c"
}

# stuck_dump_of CORE PROGRAM [ARG]...: start it with slow locks, wait until nobody moves, leave its dump.
stuck_dump_of() {
	local to=$1 folder pid i
	shift
	folder=$(mktemp -d "$work/dump-XXXXXX")
	cat >"$folder/input" </dev/stdin
	LD_PRELOAD=$work/slow.so "$@" <"$folder/input" >/dev/null 2>&1 &
	pid=$!
	for i in $(seq 100); do
		sleep 0.1
		[ "$(cat /proc/$pid/task/*/syscall 2>/dev/null | grep -vc '^202 ')" -ne 0 ] || break
	done
	gcore -o "$folder/core" "$pid" >/dev/null 2>&1
	mv "$folder/core.$pid" "$to" 2>/dev/null
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	[ -f "$to" ] && ok "a dump of $*" || not_ok "a dump of $*"
}
