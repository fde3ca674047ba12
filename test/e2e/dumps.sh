# test/e2e/dumps.sh - core dumps for the tests: of the kernel where it writes them here, else of gdb.
# dump_of CORE PROGRAM [ARG]...: run it until it fails, leave its dump. Standard input goes to the program.
dump_of() {
	local to=$1 folder
	shift
	folder=$(mktemp -d "$work/dump-XXXXXX") || exit 3
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

# filtered_dump_of FILTER CORE PROGRAM [ARG]...: the kernel's dump, with the pages that the filter names. 1: what the program
# wrote, 4: files, 0x10: their first pages.
filtered_dump_of() {
	local to=$2
	{
		(
			echo "$1" >/proc/self/coredump_filter
			ulimit -c unlimited
			shift 2
			exec "$@"
		) </dev/null >/dev/null 2>&1
	} 2>/dev/null
	for core in core core.[0-9]*; do
		[ ! -f "$core" ] || mv "$core" "$to"
	done
	[ -f "$to" ] && ok "a dump, $to" || not_ok "a dump, $to"
}

# slow_locks: a library to preload, in which every lock is followed by a nap of $NAP milliseconds, so that threads that
# nest locks meet, and every unlock by one of $UNLOCK_NAP, so that who takes a lock again finds that another was faster.
slow_locks() {
	cat >"$work/slow.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int slowly(const char *name, pthread_mutex_t *m, const char *nap)
{
	int (*real)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name);
	int r = real(m), ms = atoi(getenv(nap));
	if (ms)
		usleep((useconds_t)ms * 1000);
	return r;
}
int pthread_mutex_lock(pthread_mutex_t *m) { return slowly("pthread_mutex_lock", m, "NAP"); }
int pthread_mutex_unlock(pthread_mutex_t *m) { return slowly("pthread_mutex_unlock", m, "UNLOCK_NAP"); }
C
	gcc -shared -fPIC -O0 -o "$work/slow.so" "$work/slow.c"
}

# stuck PID: wait until nobody in it moves; false when it has ended instead
stuck() {
	local i
	for i in $(seq 100); do
		sleep 0.1
		grep -q . /proc/"$1"/task/*/syscall 2>/dev/null || return 1
		[ "$(cat /proc/"$1"/task/*/syscall 2>/dev/null | grep -vc '^202 ')" -ne 0 ] || return 0
	done
	return 1
}

# stuck_dump_of CORE PROGRAM [ARG]...: start it with slow locks, wait until nobody moves, leave its dump. On a busy
# machine its threads may miss each other: then once more, with longer naps, every other time behind unlocks, too.
stuck_dump_of() {
	local to=$1 folder pid try
	shift
	folder=$(mktemp -d "$work/dump-XXXXXX") || exit 3
	cat >"$folder/input" </dev/stdin
	for try in $(seq 40); do
		NAP=$((20 * try)) UNLOCK_NAP=$((try % 2 ? 0 : 20 * try)) LD_PRELOAD=$work/slow.so "$@" <"$folder/input" >/dev/null 2>&1 &
		pid=$!
		if stuck $pid; then
			gcore -o "$folder/core" "$pid" >/dev/null 2>&1
			mv "$folder/core.$pid" "$to" 2>/dev/null
		fi
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		[ ! -f "$to" ] || break
	done
	[ -f "$to" ] && ok "a dump of $*" || not_ok "a dump of $*"
}
