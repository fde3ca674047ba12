#!/usr/bin/env bash
# The three routes: unplait cc, -fsanitize=thread objects, and unmodified programs; and a plait whose
# program has been rebuilt since.
. "$(dirname "$0")/lib.sh"
cat >prog.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct node { int value; struct node *next; } *list;
static void *push(void *arg)
{
	struct node *n = malloc(sizeof(*n));
	pthread_mutex_lock(&mutex);
	n->value = (int)(long)arg;
	n->next = list;
	list = n;
	pthread_mutex_unlock(&mutex);
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	int sum = 0;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, push, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (struct node *n = list; n; n = n->next)
		sum += n->value;
	printf("sum %d\n", sum);
	return 0;
}
END
# unmodified: preloaded, synchronisation only
clang-19 -g -o plain prog.c -lpthread
run 0 unplait record -o plain.plait -- ./plain
has out "sum 6"
has err "only synchronisation was recorded"
run 0 unplait info plain.plait
has out "lock 3 unlock 3"
has out "not built with unplait"
run 0 unplait info --events --kind lock plain.plait
has out "mutex  at prog.c:9 in push" "callers are known by their program counter"
# a shell, which starts other programs: only the first process is recorded
run 0 unplait record -o shell.plait -- sh -c './plain; ./plain'
is "$(grep -c 'sum 6' out)" 2 "children of a preloaded program run as usual"

# gcc's and clang's -fsanitize=thread
for cc in clang-19 gcc; do
	command -v $cc >/dev/null || { skip "$cc -fsanitize=thread" "no $cc"; continue; }
	$cc -g -O1 -fsanitize=thread -c prog.c -o $cc.o && clang-19 -o tsan-$cc $cc.o "$(dirname "$UNPLAIT")/libplait.a" -lpthread -ldl ||
		not_ok "$cc -fsanitize=thread links with libplait"
	run 0 unplait record -o tsan.plait -- ./tsan-$cc
	has out "sum 6"
	run 0 unplait info --events tsan.plait
	has out "at prog.c:11 in push"
done

# unplait cc
unplait cc -g -O1 -o prog prog.c -lpthread || not_ok "unplait cc"
run 0 unplait record -o cc.plait -- ./prog
has out "sum 6"
run 0 unplait info --events cc.plait
has out "malloc@prog.c:8/0." "heap blocks are named by site, thread and sequence"
has out "write         list = "
run 0 unplait record --mode path -o path.plait -- ./prog
run 0 unplait info path.plait
has out "mode        path"
# the program is rebuilt
sed -i 's/sum %d/total %d/' prog.c
unplait cc -g -O1 -o prog prog.c -lpthread
run 0 unplait info cc.plait
has err "was recorded with another build of"
rm prog
run 0 unplait info cc.plait
has err "cannot name the sites"
run 3 unplait info --sites ./plain
has err "was not built with"
finish
