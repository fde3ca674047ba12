#!/usr/bin/env bash
# Many runs in one process: each finds everything as the first one did, and they are the runs that processes of
# their own would make. What a run cannot be cleaned of ends its process.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

cat >pristine.c <<'X'
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int runs, data = 5, shared;
static __thread int mine;
static char *old;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile char huge[64 << 20];

static void *work(void *arg)
{
	char big[100000];

	assert(mine == 0);
	mine = 1;
	memset(big, (int)(long)arg, sizeof(big));
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		shared += big[i * 1000] != 0;
		pthread_mutex_unlock(&m);
	}
	free(malloc(3000));
	return NULL;
}

static void handler(int s)
{
	(void)s;
	shared++;
}

static void last(void)
{
	mine = 77;
	shared = 1000;
}

/* Everything is as in a new process; descriptors, addresses and limits are as in the first run. */
static void pristine(void)
{
	char cwd[200] = "", line[200] = "", here[200];
	struct sigaction a;
	struct itimerval t;
	struct rlimit r;
	sigset_t set;
	int fd = open("/dev/null", O_RDONLY), p[2];
	void *map = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;

	assert(runs == 0 && data == 5 && mine == 0 && !old && shared == 0);
	runs = data = mine = 3;
	close(fd);
	assert(pipe(p) == 0);
	sigaction(SIGUSR1, NULL, &a);
	assert(a.sa_handler == SIG_DFL);
	getitimer(ITIMER_REAL, &t);
	assert(!t.it_value.tv_sec);
	sigprocmask(SIG_SETMASK, NULL, &set);
	assert(!sigismember(&set, SIGUSR2));
	assert(fegetround() == FE_TONEAREST);
	fesetround(FE_UPWARD);
	assert(!getenv("PRISTINE"));
	setenv("PRISTINE", "no", 1);
	assert(rand() == 1804289383);
	assert(getcwd(cwd, sizeof(cwd)) && strcmp(cwd, "/"));
	getrlimit(RLIMIT_NOFILE, &r);
	snprintf(here, sizeof(here), "%d %d %d %p %p %p %p %p %lu\n", fd, p[0], p[1], map, malloc(100),
		 malloc(1 << 20), sbrk(0), (void *)&r, (unsigned long)r.rlim_cur);
	f = fopen("where", "a+");
	assert(f);
	rewind(f);
	if (fgets(line, sizeof(line), f))
		assert(!strcmp(line, here));
	else
		fprintf(f, "%s", here); /* left to exit() */
	atexit(last);
	old = malloc(500000);
	memset(old, 1, 500000);
}

int main(int argc, char **argv)
{
	struct itimerval far = { { 0, 0 }, { 100, 0 } };
	struct rlimit few = { 300, 300 };
	int what = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t t[3];
	sigset_t all;

	pristine();
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert(shared == 9);
	char self[32] = "";
	if (readlink("/proc/self", self, sizeof(self) - 1) < 0) /* the kernel's number, not the virtual one */
		return 1;
	printf("%s\n", self);
	fflush(stdout);
	sigfillset(&all);
	switch (what) {
	case 1: signal(SIGUSR1, handler); raise(SIGUSR1); break;
	case 2: if (fork() == 0) _exit(0); wait(NULL); break;
	case 3: setitimer(ITIMER_REAL, &far, NULL); break;
	case 4: sigprocmask(SIG_BLOCK, &all, NULL); break;
	case 5: if (chdir("/")) abort(); break;
	case 6: setrlimit(RLIMIT_NOFILE, &few); break;
	case 7: close(0); if (open("/etc/passwd", O_RDONLY)) abort(); break;
	case 8: if (system("true")) abort(); break;
	case 9: mprotect((void *)((long)&data & ~4095), 4096, PROT_READ); *(volatile int *)&data = 1; break;
	case 10: pthread_exit(NULL);
	case 11: for (size_t i = 0; i < sizeof(huge); i += 4096) huge[i] = 1; break;
	case 12: madvise((void *)((long)old & ~4095), 8192, MADV_DONTNEED); break;
	case 13: abort();
	case 14: _exit(3);
	}
	for (size_t i = 0; i < sizeof(huge); i += 1 << 20)
		assert(huge[i] == (what == 11));
	return 0;
}
X
run 0 unplait cc -w -g -O1 pristine.c -o pristine -lm
hunted() { # WAY ARG: the runs that it made, what it said, the processes it took
	local way=$1
	rm -f where pids
	touch pids
	unplait hunt $([ $way = fresh ] && echo --fresh) --debug=run:2 -s random --all --replays 1 -n 25 -o '' --oracle 'cat $PLAIT_STDOUT >>pids' \
		./pristine "$2" 2>&1 | sed 's/ in [0-9.]* s,/ in T s,/; s/^    | [0-9]*$/    | PID/' >$way.txt
	is "$(grep -c hash $way.txt)" "$([ "$2" = 9 ] || [ "$2" = 13 ] && echo 26 || echo 25)" "case $2, $way: it ran"
	hasnt $way.txt ": Assertion" "case $2, $way: everything was as at the beginning"
}
for case in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
	hunted again $case
	hunted fresh $case
	same again.txt fresh.txt "case $case: the same runs with and without processes of their own"
done

# Where the kernel can do it, it is done.
cat >can.c <<'X'
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <linux/userfaultfd.h>
#include <unistd.h>
int main(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = 1 << 15 };
	long fd = syscall(SYS_userfaultfd, 1);

	return fd < 0 || ioctl(fd, UFFDIO_API, &api);
}
X
run 0 cc -w can.c -o can
if ./can; then
	hunted again 0
	is "$(sort -u pids | wc -l)" 2 "two processes for 25 runs: the first one knew too few threads"
	hunted again 2
	is "$(sort -u pids | wc -l)" 25 "a process for each run that forks"
else
	skip "two processes for 25 runs" "no asynchronous write protection here"
fi

for name in sct-wronglock stringbuffer pbzip2 sct-deadlock01 sct-radbench3 sct-aget; do
	dir=$CORPUS/$name
	src=$(sed -n 's/^sources = \[\(.*\)\]/\1/p' "$dir/bug.toml" | tr -d '",')
	case $src in *.cc* | *.cpp*) cc=c++ ;; *) cc=cc ;; esac
	(cd "$dir" && "$UNPLAIT" $cc -w -g -O1 $src -o "$work/prog") || not_ok "$name: builds"
	for way in "" --fresh; do
		unplait hunt $way --debug=run:2 --all --replays 2 -n 150 -o '' ./prog 2>&1 |
			sed 's/ in [0-9.]* s,/ in T s,/' >runs$way
	done
	same runs runs--fresh "$name: the same 150 runs"
done
finish
