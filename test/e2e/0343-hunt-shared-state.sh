#!/usr/bin/env bash
# hunt: what threads share without sharing memory - files, descriptors, streams, the locale, handlers, pages, signals -
# is an object like any other. A systematic search finds each failure, and names what it cannot know.
# level: check
. "$(dirname "$0")/lib.sh"

cat >state.c <<'C'
#include <assert.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
static FILE *f;
static int fd, other_fd, ends[2];
static sem_t sem;
static atomic_int x, bad;
static volatile char *page;
static void bye(void) { if (x == 1) _exit(7); }
static void handler(int s) { (void)s; bad |= x == 1; }
static void *thread(void *case_)
{
	char c;
	switch (*(char *)case_) {
	case 'u': umask(077); umask(022); break;
	case 'd': chdir("/"); chdir("/tmp"); break;
	case 'p': pwrite(fd, "1", 1, 0); pwrite(fd, "0", 1, 0); break;
	case 's': lseek(fd, 5, SEEK_SET); lseek(fd, 0, SEEK_SET); break;
	case 'D': dup2(other_fd, fd); break;
	case 'c': close(fd); dup(0); break;
	case 'n': unlink("name"); break;
	case 'i': write(ends[1], "a", 1); read(ends[0], &c, 1); break;
	case 'P': write(ends[1], "a", 1); x = 1; break;
	case 't': case 'T': fputc('a', f); fputc('b', f); break;
	case 'e': fgetc(f); clearerr(f); break;
	case 'l': setlocale(LC_ALL, "C.UTF-8"); setlocale(LC_ALL, "C"); break;
	case 'v': sem_post(&sem); sem_post(&sem); sem_wait(&sem); break;
	case 'm': page[0] = 2; break;
	case 'M': page[0] = page[0] + 1; break;
	case 'r': { struct rlimit r = { 100, 200 }; setrlimit(RLIMIT_NOFILE, &r); r.rlim_cur = 200; setrlimit(RLIMIT_NOFILE, &r); break; }
	case 'h': signal(SIGUSR2, handler); signal(SIGUSR2, SIG_IGN); break;
	case 'k': case 'q': x = 1; x = 2; break;
	}
	return NULL;
}
int main(int argc, char **argv)
{
	struct stat st;
	struct rlimit r;
	struct pollfd one;
	char text[256] = "";
	pthread_t t;
	int n = 0;
	(void)argc;
	fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	other_fd = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
	write(fd, "0", 1); write(other_fd, "abc", 3);
	close(open("name", O_CREAT | O_RDWR, 0600));
	pipe(ends); sem_init(&sem, 0, 0); f = tmpfile();
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGUSR1, handler);
	signal(SIGUSR2, SIG_IGN);
	at_quick_exit(bye);
	pthread_create(&t, NULL, thread, argv[1]);
	switch (argv[1][0]) {
	case 'u': n = umask(0); umask(n); assert(n != 077); break;
	case 'd': getcwd(text, sizeof(text)); assert(strcmp(text, "/")); break;
	case 'p': pread(fd, text, 1, 0); assert(*text != '1'); break;
	case 's': assert(lseek(fd, 0, SEEK_CUR) != 5); break;
	case 'D': n = isatty(fd); fstat(fd, &st); assert(n || st.st_size != 3); break;
	case 'c': assert(fcntl(fd, F_GETFD) >= 0); break;
	case 'n': if (!access("name", F_OK)) assert(open("name", O_RDONLY) >= 0); break;
	case 'i': ioctl(ends[0], FIONREAD, &n); assert(n != 1); break;
	case 'P': one = (struct pollfd){ ends[0], POLLIN, 0 }; if (poll(&one, 1, 0) == 1) assert(x); break;
	case 't': assert(ftell(f) != 1); break;
	case 'T': fputc('c', f); pthread_join(t, NULL); rewind(f); fread(text, 1, 3, f); assert(strcmp(text, "acb")); return 0;
	case 'e': assert(!feof(f)); break;
	case 'l': assert(!strcmp(setlocale(LC_ALL, NULL), "C")); break;
	case 'v': sem_getvalue(&sem, &n); assert(n != 2); break;
	case 'm': mprotect((void *)page, 4096, PROT_READ); mprotect((void *)page, 4096, PROT_READ | PROT_WRITE); break;
	case 'M': madvise((void *)page, 4096, MADV_DONTNEED); n = page[0]; madvise((void *)page, 4096, MADV_DONTNEED); assert(!n); break;
	case 'r': getrlimit(RLIMIT_NOFILE, &r); assert(r.rlim_cur != 100); break;
	case 'h': assert(signal(SIGUSR2, SIG_IGN) == SIG_IGN); break;
	case 'k': pthread_kill(t, SIGUSR1); pthread_join(t, NULL); assert(!bad); return 0;
	case 'q': pthread_detach(t); quick_exit(0);
	}
	pthread_join(t, NULL);
	return 0;
}
C
names='u:umask d:folder p:contents s:offset D:dup2 c:reused n:names i:ioctl P:poll t:ftell T:fputc e:feof l:locale
	v:sem_getvalue m:mprotect M:madvise r:limits h:handlers k:pthread_kill q:quick_exit'
for o in -O0 -O2; do
	run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o state$o state.c
	missed=
	for n in $names; do
		timeout 60 "$UNPLAIT" hunt -s dfs -n 3000 -o f.plait ./state$o "${n%%:*}" >out 2>&1 </dev/null
		[ $? = 1 ] && grep -q 'replayed 5 of 5' out || missed="$missed ${n#*:}"
	done
	is "$missed" "" "$o: dfs finds every failure"
done
for n in u p s n l v; do
	timeout 60 "$UNPLAIT" hunt -s states -n 3000 -o f.plait ./state-O0 $n >out 2>&1 </dev/null
	grep -q 'every schedule' out && not_ok "states says nothing false of $n" "$(cat out)"
done

# accesses that no load or store of a word shows
cat >access.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
static __int128 wide;
static int x, ends[2];
static char text[32], made[16] = "a-a";
static sem_t sem;
__attribute__((section("mine"), used)) static volatile int in_section;
extern volatile int __start_mine[];
static void set(volatile int *p) { *p = 1; *p = 0; }
static void *thread(void *case_)
{
	int *q;
	void *v;
	switch (*(char *)case_) {
	case 'w': wide = (__int128)1 << 64 | 1; break;
	case 'a': __asm__ volatile("incl %0" : "+m"(x) : : "memory"); break;
	case 's': in_section = 1; in_section = 0; break;
	case 'p': read(ends[0], &q, sizeof(q)); set(q); break;
	case 't': sem_wait(&sem); sscanf(text, "%p", &v); set(v); break;
	case 'f': sprintf(made, "%d-%d", 1, 1); break;
	case 'F': snprintf(made, sizeof(made), "%s-%s", "1", "1"); break;
	}
	return NULL;
}
int main(int argc, char **argv)
{
	int local = 0, *q = &local;
	char first;
	__int128 v;
	pthread_t t;
	(void)argc;
	pipe(ends); sem_init(&sem, 0, 0);
	pthread_create(&t, NULL, thread, argv[1]);
	switch (argv[1][0]) {
	case 'w': v = *(volatile __int128 *)&wide; assert((long)v == (long)(v >> 64)); break;
	case 'a': __asm__ volatile("incl %0" : "+m"(x) : : "memory"); pthread_join(t, NULL); assert(x == 2); return 0;
	case 's': assert(!__start_mine[0]); break;
	case 'p': write(ends[1], &q, sizeof(q)); assert(!*(volatile int *)&local); break;
	case 't': sprintf(text, "%p", (void *)&local); sem_post(&sem); assert(!*(volatile int *)&local); break;
	case 'f': case 'F': first = *(volatile char *)made; assert(first != '1' || *(volatile char *)(made + 2) == '1'); break;
	}
	pthread_join(t, NULL);
	return 0;
}
C
for o in -O0 -O2; do
	run 0 unplait cc -D_GNU_SOURCE -w -g $o -pthread -o access$o access.c
	missed=
	for n in w:wide a:assembly s:section p:pipe t:text f:sprintf F:snprintf; do
		timeout 60 "$UNPLAIT" hunt -s dfs -n 3000 -o f.plait ./access$o "${n%%:*}" >out 2>&1 </dev/null
		[ $? = 1 ] && grep -q 'replayed 5 of 5' out || missed="$missed ${n#*:}"
	done
	is "$missed" "" "$o: dfs finds every failure of accesses"
done

# what is not known is named, what is harmless is not
# program NAME THREAD MAIN
program() {
	cat >"$1.c" <<C
#include <emmintrin.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile int *p, *q;
static int x;
static void *thread(void *a) { $2; return a; }
int main(void)
{
	pthread_t t;
	$3;
	pthread_create(&t, NULL, thread, NULL);
	thread(NULL);
	return pthread_join(t, NULL);
}
C
	run 0 unplait cc -D_GNU_SOURCE -w -g -O0 -pthread -o $1 $1.c
	run 0 timeout 60 "$UNPLAIT" hunt -s dfs -n 3000 ./$1
}
program plain 'pthread_mutex_lock(&m); x += strlen("abc") + getpid() + abs(x); pthread_mutex_unlock(&m)' 'puts("a"); printf("%d\n", isatty(0))'
hasnt out 'not covered' 'harmless calls are not named'
has out 'every schedule was explored'
program twice 'p[0] = 1; p[0] = q[0]' 'int fd = fileno(tmpfile()); ftruncate(fd, 4096);
	p = mmap(0, 4096, 3, MAP_SHARED, fd, 0); q = mmap(0, 4096, 3, MAP_SHARED, fd, 0)'
has out 'mapped at two addresses'
program tuned 'x ? mallopt(M_ARENA_MAX, 1) : 0' ''
has out 'looked into: `mallopt'
program assembled 'int *r = &x; __asm__ volatile("movl $1,(%0)" : : "r"(r) : "memory")' ''
has out 'looked into: `inline assembly'
program waiting '__asm__ volatile("pause" : : : "memory"); __asm__ volatile("" : : : "memory")' ''
hasnt out 'not covered' 'barriers and hints are no gap'
program masked '_mm_maskmoveu_si128(_mm_set1_epi8(1), _mm_set1_epi8(-1), (char *)p)' 'p = mmap(0, 4096, 3, 34, -1, 0)'
has out 'maskmov'
program cancelled 'pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0)' ''
has out 'asynchronous cancellation'
finish
