#!/usr/bin/env bash
# Mode graph on a full disk: the program goes on, what was lost is counted. And programs whose own seccomp filter forbids
# what recording needs.
. "$(dirname "$0")/lib.sh"
cat >many.c <<'C'
#include <pthread.h>
#include <stdint.h>
static int cells[4096];
#define A(i) case i: cells[(x >> 20) & 4095] += i; break;
#define B(i) A(i) A(i+1) A(i+2) A(i+3) A(i+4) A(i+5) A(i+6) A(i+7)
static void *work(void *a)
{
	uint32_t x = (uint32_t)(uintptr_t)a * 2654435761u + 1;
	for (int r = 0; r < 200000; r++) {
		x = x * 1664525u + 1013904223u;
		switch ((x >> 10) & 31) { B(0) B(8) B(16) B(24) }
	}
	return 0;
}
int main(void)
{
	pthread_t t[20];
	for (long i = 0; i < 20; i++) pthread_create(&t[i], 0, work, (void *)(i + 1));
	for (int i = 0; i < 20; i++) pthread_join(t[i], 0);
}
C
unplait cc -g -O1 -o many many.c -lpthread || not_ok build
mkdir disk
cat >full.sh <<'X2'
mount -t tmpfs -o size=3000k tmpfs disk || exit 77
mkdir disk/run
UNPLAIT_MODE=graph UNPLAIT_OPTIONS=context=16 UNPLAIT_DIR=$PWD/disk/run timeout 100 ./many
status=$?
cp -r disk/run sealed
exit $status
X2
unshare -rm sh full.sh 2>err
status=$?
if [ $status = 77 ] || grep -q unshare err; then
	skip "a full disk" "no mount in a namespace here"
else
	is $status 0 "the program ends as ever, and soon" # it asked for room at every access once, and took minutes
	run 0 unplait seal -o full.plait sealed
	run 0 unplait info full.plait
	has out "accesses were not noted: there was no room"
fi

cat >filter.c <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
static int x[100000];
static void *work(void *a) { for (int i = 0; i < 100000; i++) x[i] += i; return a; }
int main(int argc, char **argv)
{
	int action = argc > 1 ? SECCOMP_RET_ERRNO | 1 : SECCOMP_RET_KILL_PROCESS;
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };
	pthread_t t;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	pthread_create(&t, 0, work, 0);
	work(0);
	pthread_join(t, 0);
	return 0;
}
C
unplait cc -g -O1 -o filter filter.c -lpthread || not_ok build
run 1 unplait record -o killed.plait -- ./filter
has err "seccomp filter forbids"
has err "cannot be recorded in this mode"
run 0 unplait record -o refused.plait -- ./filter error
has out " lost"
finish
