#!/usr/bin/env bash
# What cannot be the same in every run is named: numbers read from /proc. A run that waits for the outside world does not
# take its time again and again, and a harness whose tests are other programs is not hunted at all.
. "$(dirname "$0")/lib.sh"

cat >reads.c <<'C'
#include <pthread.h>
#include <stdio.h>

static void *work(void *name)
{
	char line[256];
	FILE *f = fopen(name, "r");

	if (f && fgets(line, sizeof(line), f))
		fclose(f);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	pthread_create(&t, NULL, work, argv[argc - 1]);
	return pthread_join(t, NULL);
}
C
run 0 unplait cc -g reads.c -o reads -pthread
for name in self/stat self/statm meminfo sys/kernel/random/uuid; do
	run 0 unplait hunt -n 5 -- ./reads /proc/$name
	has out "not under control: numbers read from /proc"
done
for name in /proc/self/status /proc/self/cmdline /proc/cpuinfo reads.c /dev/urandom; do
	run 0 unplait hunt -n 5 -- ./reads $name
	hasnt out "not under control"
done

# every other process of this program waits for somebody outside: its schedule cannot repeat that
cat >waits.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static void *work(void *arg)
{
	return arg;
}

int main(void)
{
	pthread_t t;
	struct stat s;
	int fd = open("count", O_WRONLY | O_APPEND | O_CREAT, 0600);
	char c;

	pthread_create(&t, NULL, work, NULL);
	if (write(fd, "x", 1) == 1 && fstat(fd, &s) == 0 && s.st_size % 2)
		return read(3, &c, 1) < 0;
	return pthread_join(t, NULL);
}
C
run 0 unplait cc -g waits.c -o waits -pthread
mkfifo fifo
exec 3<>fifo
run 4 unplait hunt -v -n 6 --timeout 1 --fresh -o '' ./waits
has out "NOT CONFIRMED"
is "$(grep -c "replay differs" err)" 1 "one such run is replayed, the others are not"
exec 3>&-

# a stand-in: Criterion is recognised by a name in the file
cat >criterion.c <<'C'
#include <stdio.h>

const char *criterion_internal_test_main = "criterion_internal_test_main";

int main(void)
{
	return !fopen("started", "w") || !criterion_internal_test_main;
}
C
run 0 unplait cc -g criterion.c -o criterion
run 4 unplait hunt ./criterion
has out "nothing was hunted: Criterion runs every test in a process of its own"
run 4 unplait hunt --json ./criterion
has out '"runs": 0'
has out "a program of its own"
is "$(find . -name started)" "" "the harness was not started"
finish
