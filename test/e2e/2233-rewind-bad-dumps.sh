#!/usr/bin/env bash
# Dumps that are strange to rewind: children of vfork, first threads that have ended, other kernels' vdso, AVX-512, processes
# stopped by a debugger, dumps without stack or list of files, files that are no index. Nothing false, and the reason in words.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"
edit() { python3 "$top/test/programs/core-edit.py" "$@"; }

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cat >strange.c <<'C'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int slots[4];
static int *cell = slots;
static __attribute__((noinline)) void spoil(void) { cell = (int *)16; }
static __attribute__((noinline)) void wide(int n)
{
	if (n > 9)
		__asm__ volatile("vpaddd %%zmm1, %%zmm2, %%zmm3" ::: "memory");
	cell = (int *)16;
}
static void *work(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	spoil();
	slots[1] = *cell;
	return NULL;
}
int main(int argc, char **argv)
{
	static pthread_t first, t;
	switch (*argv[1]) {
	case 'v':
		if (vfork())
			return wait(0) < 0;
		spoil();
		slots[1] = *cell;
		_exit(0);
	case 'z':
		first = pthread_self();
		pthread_create(&t, NULL, work, &first);
		pthread_exit(NULL);
	default:
		wide(argc);
		slots[1] = *cell;
	}
}
C
gcc -O1 -g -pthread -o strange strange.c
cause="cell was set to 0x10 at strange.c:6 in spoil"

filtered_dump_of 0x33 vfork ./strange v
run 1 unplait rewind vfork
has out "$cause"
has out "it ends in the same dump"
edit vfork foreign vdso
run 1 unplait rewind foreign
has out "$cause" "another kernel's vdso"
has out "it ends in the same dump"
run 0 unplait rewind check foreign
filtered_dump_of 0x33 zombie ./strange z
run 1 unplait rewind zombie
has out "$cause" "the first thread has ended"
is "$(grep -c 'which has ended' out)" 0 "what glibc cleans up with is no thread"
filtered_dump_of 0x33 wide ./strange w
run 0 unplait rewind wide
has out "a call of a function with AVX-512 instructions, which are not known"
run 0 unplait rewind check wide

# the stack was not dumped: nobody can call it corrupt
filtered_dump_of 0x10 thin ./strange v
"$UNPLAIT" rewind --no-run --time 1 thin >out 2>err
has out "the stack was not dumped"
is "$(grep -c PossibleStackCorruption out)" 0 "a stack that is not there is not corrupt"
run 0 unplait rewind check thin
filtered_dump_of 0 thinner ./strange v
run 0 unplait rewind check thinner
has out "0 bytes were compared with their files"

# who stops at a breakpoint did not jump anywhere, also where nobody knows what was mapped
if command -v gdb >/dev/null; then
	gdb -q -batch -nx -ex 'break spoil' -ex 'run z' -ex 'generate-core-file traced' ./strange >/dev/null 2>&1
	[ -f traced ] && run 0 unplait rewind --no-run traced || skip "traced" "gdb cannot run the program here"
fi
edit vfork unmapped unmapped
run 0 unplait rewind --no-run unmapped
has out "no module lies there"

# what triage reads beside dumps
echo 'my notes' >notes
run 3 unplait rewind triage -o notes vfork
has err "notes is no index of rewind triage"
is "$(cat notes)" "my notes" "and is not overwritten"
echo 'bucket "x" { kinds = a }' >names
run 3 unplait rewind triage --annotations names vfork
has err 'a bucket is: bucket "name" {'
finish
