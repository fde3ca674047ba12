#!/usr/bin/env bash
# --time ends a run that goes on, and not only the next one: the first run ends, the second never would.
# level: check
. "$(dirname "$0")/lib.sh"

cat >later.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static volatile int shared;

static void *work(void *arg)
{
	shared++;
	return arg;
}

#ifdef EARLY
__attribute__((constructor)) static void early(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
}
#endif

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	if (access(argv[1], F_OK) == 0) {
		for (volatile long turns = 0;; turns++)
			;
	}
	close(open(argv[1], O_CREAT | O_WRONLY, 0600));
	return 0;
}
END

# runs forked from a server, and runs started one by one
for early in "" -DEARLY; do
	run 0 unplait cc -g -O1 $early -pthread -o later later.c
	rm -f came
	run 0 unplait hunt -s random --time 2 --timeout 100 -o '' ./later "$PWD/came"
	has out "no failure in 1 runs"
done

# two at a time
rm -f came
run 0 unplait hunt -s random -j 2 --time 2 --timeout 100 -o '' ./later "$PWD/came"
has out "no failure in 1 runs"
finish
