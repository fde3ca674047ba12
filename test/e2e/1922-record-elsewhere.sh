#!/usr/bin/env bash
# A recording of mode sync comes to another machine: with other libraries, without a file that was too large to
# carry, cut short on the way. A sentence each, and the right status.
# level: check
. "$(dirname "$0")/lib.sh"
cat >library.c <<'X'
int price(int n) { return n + PRICE; }
X
cat >shop.c <<'X'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
int price(int n);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *sell(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		sum += price(i);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}
int main(int argc, char **argv)
{
	static char block[65536];
	long n, bytes = 0;
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, sell, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	if (argc > 1)
		for (int fd = open(argv[1], O_RDONLY); (n = read(fd, block, sizeof(block))) > 0;)
			bytes += n;
	if (write(1, &sum, sizeof(sum)) < 0)
		return 1;
	return argc > 1 && bytes < 1000000 ? 5 : 0;
}
X
library() { clang-19 -DPRICE="$1" -g -shared -fPIC -Wl,--build-id -o libprice.so library.c; }
library 1
run 0 unplait cc -g -O2 -pthread -o shop shop.c -L. -lprice -Wl,-rpath,"$PWD"
run 0 unplait record -o same.plait -- ./shop
cp same.plait other.plait
run 0 unplait replay same.plait
hasnt err "library"

# other libraries: said; and where the difference is sent, the replay ends there
"$UNPLAIT" record -o pipe.plait -- ./shop | cat >printed
library 7
run 0 unplait replay other.plait
has err "libprice.so is not the library that the recorded run had"
run 4 unplait replay pipe.plait
has err "libprice.so is not the library that the recorded run had"
has err "it sends something else than the recorded run did"
library 1

# a file that is too large to be carried
truncate -s 6M large
run 0 unplait record -o large.plait -- ./shop large
cp large.plait there.plait
run 0 unplait replay there.plait
rm large
run 4 unplait replay large.plait
has err "too large to be in the plait, and is not there as it was"
has err "it exited with status 5, the recorded run with 0"

# cut short on the way
for part in 100 500 $(($(wc -c <same.plait) - 8)); do
	head -c $part same.plait >short.plait
	run 3 unplait replay short.plait
	has err "short"
done
finish
