#!/usr/bin/env bash
# Test harnesses that fork: the child with the threads is the run. A child without threads (a death test) is nothing to
# speak of.
# level: check
. "$(dirname "$0")/lib.sh"
cat >forks.c <<'X'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
const char *marker = "srunner_create"; /* as if it were linked with Check */
static int sum;
static void *add(void *arg) { sum++; return arg; }
static int threads(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return sum != 2;
}
int main(int argc, char **argv)
{
	int status = 0;
	if (getenv("CK_FORK") && !strcmp(getenv("CK_FORK"), "no"))
		return threads();
	free(malloc(0)); /* which a heap that is watched must not take for freed memory */
	if (fork() == 0) {
		if (argc > 1)
			abort(); /* a death test */
		_exit(threads());
	}
	wait(&status);
	return argc > 1 ? !WIFSIGNALED(status) : !WIFEXITED(status) || WEXITSTATUS(status);
}
X
run 0 unplait cc -g -O1 forks.c -o forks -lpthread
run 1 unplait hunt --runs 300 -- ./forks
has out "exit 1"
has out "replayed 5 of 5"
run 0 unplait hunt --runs 20 -- ./forks death
hasnt out "nothing was searched"
# Check itself is told not to fork
run 1 unplait test --runs 300 --no-explain ./forks
has out "FAILS  ./forks"
sed -i 's/srunner_create/nobody_knows/' forks.c
run 0 unplait cc -g -O1 forks.c -o forks -lpthread
run 1 unplait test --runs 300 --no-explain ./forks
has out "FAILS  ./forks"
run 0 unplait test --runs 20 ./forks death
has out "starts no threads"
finish
