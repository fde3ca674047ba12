#!/usr/bin/env bash
# A program that reads more than the tool has memory for is recorded: by name, from a file as standard input, and from a pipe.
# What is too large for the plait is said when it is recorded; a replay without it is refused or says so.
# level: check
. "$(dirname "$0")/lib.sh"
cat >reads.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static int fd;
static void *reads(void *arg)
{
	static __thread char b[1 << 20];
	ssize_t n;
	do {
		pthread_mutex_lock(&m);
		n = read(fd, b, sizeof(b));
		sum += n > 0 ? n : 0;
		pthread_mutex_unlock(&m);
	} while (n > 0);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	fd = argc > 1 ? open(argv[1], O_RDONLY) : 0;
	pthread_create(&a, NULL, reads, NULL);
	pthread_create(&b, NULL, reads, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld bytes\n", sum);
	return 0;
}
C
run 0 unplait cc -g -O1 -pthread -o reads reads.c
truncate -s 1300M large
small() { bash -c 'ulimit -v 1200000 && exec "$@"' - "$@"; } # no room for all of it
run 0 small "$UNPLAIT" record -o named.plait -- ./reads large
has out "1363148800 bytes"
small "$UNPLAIT" record -o file.plait -- ./reads <large >out 2>err
is $? 0 "a large file as standard input"
has out "1363148800 bytes"
has err "too large for the plait"
run 0 small "$UNPLAIT" record --input large -o input.plait -- ./reads
has out "1363148800 bytes"
head -c 5000000 large | small "$UNPLAIT" record -o piped.plait -- ./reads >out 2>err
is $? 0 "a pipe of five million bytes"
has out "5000000 bytes"
has err "give it to the replay with --input"
run 0 unplait info named.plait
has out "too large, not in the plait"
truncate -s 5M large # another file now
run 4 unplait replay named.plait
has err "is not there as it was"
run 3 unplait replay piped.plait
has err "give --input"
head -c 5000000 large >again
run 0 unplait replay --input again piped.plait
rm large
run 3 unplait replay file.plait
has err "cannot be read; give --input"
finish
