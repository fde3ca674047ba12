#!/usr/bin/env bash
# A recorded run is followed thread by thread: every event again, with symbols for what other threads wrote.
# level: quick
. "$(dirname "$0")/lib.sh"

cat >a.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int v; struct node *next; };
static struct node *head;
static int total, kind;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static void price(int k)
{
	switch (k) {
	case 3: puts("three"); break;
	case 70: putchar(10); break;
	case 500: perror("five"); break;
	default: abort();
	}
}
static void *worker(void *arg)
{
	int n = *(int *)arg;
	for (int i = 0; i < n; i++) {
		struct node *x = malloc(sizeof(*x));
		x->v = i;
		pthread_mutex_lock(&mu);
		x->next = head;
		head = x;
		kind = i == n - 1 ? 70 : i * 250;
		pthread_mutex_unlock(&mu);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	int n = argc > 1 ? atoi(argv[1]) : 3;
	char line[16] = "", *twice = getenv("TWICE");
	if (!fgets(line, sizeof(line), stdin) || line[0] != 'h')
		return 2;
	if (twice && strcmp(twice, "yes") == 0)
		total = 100;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, &n);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (struct node *x = head; x; x = x->next)
		total += x->v;
	if (total > 11)
		price(kind);
	assert(argc < 3);
	return 0;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o a a.c || exit 1
export TWICE=yes
echo hello >in
for mode in path full; do
	"$UNPLAIT" record -q --mode $mode -o $mode.plait -- ./a 4 <in >/dev/null
	run 0 unplait sym trace $mode.plait
	has out "read head = head#" "$mode: a shared read is a symbol"
	has out "because (kind#" "$mode: a switch on it is a condition"
	has out "fork thread 0.2" "$mode: births"
	hasnt out "otherwise" "$mode: every thread ends as recorded"
	hasnt out "unused" "$mode: nothing recorded is left over"
done
grep -Eq '^([0-9]+) of \1 recorded events reproduced$' out &&
	ok "the symbolic trace is the recorded run" || not_ok "the symbolic trace is the recorded run" "$(tail -3 out)"
run 0 unplait sym trace --json path.plait
has out '"kind": "write"'
has out '"complete": true'

# a shared pointer that travels through variable arguments
cat >v.c <<'C'
#include <pthread.h>
#include <stdarg.h>
static char text[2][8] = { "one", "two" };
static char *shared = text[0];
__attribute__((noinline)) static int first(int n, ...)
{
	va_list ap;
	int c = 0;
	va_start(ap, n);
	while (n--)
		c = *va_arg(ap, char *);
	va_end(ap);
	return c;
}
static void *work(void *arg)
{
	shared = text[1];
	return NULL;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	return first(2, text[0], shared) != 't';
}
C
"$UNPLAIT" cc -g -O1 -pthread -o v v.c || exit 1
"$UNPLAIT" record -q --mode path -o v.plait -- ./v >/dev/null
run 0 unplait sym trace v.plait
hasnt out "not recorded" "a pointer among variable arguments is recorded"

# inputs that come through a table of pointers
cat >t.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
typedef void (*any)(void);
struct entry { const char *name; any now; } table[] = {
	{ "open", (any)open }, { "read", (any)read }, { "fstat", (any)fstat }, { "fcntl", (any)fcntl }, { "close", (any)close } };
#define sys_open ((int (*)(const char *, int, ...))table[0].now)
#define sys_read ((ssize_t (*)(int, void *, size_t))table[1].now)
#define sys_fstat ((int (*)(int, struct stat *))table[2].now)
#define sys_fcntl ((int (*)(int, int, ...))table[3].now)
#define sys_close ((int (*)(int))table[4].now)
static int lines;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *count(void *arg)
{
	char buf[4096];
	struct stat st;
	int fd = sys_open(arg, O_RDONLY, 0);
	ssize_t n;
	if (fd < 0 || sys_fstat(fd, &st) || st.st_size < 1 || sys_fcntl(fd, F_GETFD) < 0)
		return NULL;
	while ((n = sys_read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			if (buf[i] == '\n') {
				pthread_mutex_lock(&m);
				lines++;
				pthread_mutex_unlock(&m);
			}
	sys_close(fd);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	if (argc > 5)
		table[argc & 3].now = (any)main;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, count, argv[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", lines);
	return table[1].now == (any)read ? 0 : 1;
}
C
"$UNPLAIT" cc -g -O1 -pthread -o t t.c || exit 1
run 0 ./t t.c
"$UNPLAIT" record -q --mode path -o t.plait -- ./t t.c >/dev/null
run 0 unplait sym trace --summary t.plait
hasnt out "diverged" "what a table of system calls brings in is recorded"

# a run that fails
"$UNPLAIT" record -q --mode path -o fail.plait -- ./a 4 x <in >/dev/null 2>&1
run 0 unplait sym trace fail.plait
has out "assert: assertion" "follows a failing run to its end"
finish
