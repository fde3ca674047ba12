#!/usr/bin/env bash
# A plait carries what its run read: files by name (also that one was not there) and standard input. Replay, minimize and
# explain work in another folder, without the files. A large file is named by its bytes' hash, and said.
# level: check
. "$(dirname "$0")/lib.sh"
cat >reads.cpp <<'C'
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
static int shared, rounds;
static int early = [] { FILE *f = fopen("data/early", "r"); int c = f ? fgetc(f) : 0; if (f) fclose(f); return c; }();
static void work() { for (int i = 0; i < rounds; i++) { int v = shared; shared = v + 1; } }
int main(int argc, char **argv)
{
	struct stat st;
	std::ifstream in("data/config");
	in >> rounds;
	assert(rounds == 3 && early == 'e');
	assert(stat("data/absent", &st) != 0 && access("data/config", R_OK) == 0);
	FILE *f = fopen("data/more", "r");
	char line[64] = "";
	assert(f && fgets(line, sizeof(line), f));
	fclose(f);
	if (argc > 1) {
		int fd = open("data/large", O_RDONLY);
		assert(fd >= 0 && lseek(fd, 0, SEEK_END) == 5000000);
		close(fd);
	}
	std::string word;
	for (int c; (c = getchar()) != EOF;)
		word += (char)c;
	assert(word == "typed\n");
	f = fopen("out.txt", "w"); /* what it writes itself is no input */
	fputs("x", f);
	fclose(f);
	f = fopen("out.txt", "r");
	assert(f && fgetc(f) == 'x');
	fclose(f);
	std::thread a(work), b(work);
	a.join();
	b.join();
	assert(shared == 2 * rounds);
}
C
run 0 unplait c++ -g -O1 reads.cpp -o reads -pthread
mkdir data other
echo 3 >data/config
echo more >data/more
echo early >data/early
head -c 5000000 /dev/zero >data/large
echo typed >typed
run 1 unplait hunt -n 300 -o r.plait --input typed ./reads
has out "2 * rounds"
run 1 unplait hunt -n 300 -o large.plait --input typed ./reads large
has err "too large for the plait"
printf 'typed\n' | unplait hunt -n 300 -o piped.plait ./reads >"$work/out" 2>&1
has "$work/out" "2 * rounds" "standard input from a pipe"
run 0 unplait info r.plait
for f in data/config data/more data/early "data/absent, not there"; do has out "$f"; done
hasnt out "out.txt"
run 0 unplait info --json r.plait
has out '"name": "data/config"'
cp reads r.plait large.plait piped.plait other
mv data gone
mv typed typed-gone
cd other || exit 3
for p in r piped; do
	run 1 unplait replay --times 3 $p.plait ./reads
	has "$work/out" "replayed 3 of 3" "$p: without the files, in another folder"
	has "$work/out" "2 * rounds"
done
mkdir data # what is here now does not matter
echo 7 >data/config
touch data/absent
run 1 unplait replay --times 3 r.plait ./reads
has "$work/out" "replayed 3 of 3" "with other files"
run 1 unplait minimize -o small.plait r.plait ./reads
run 1 unplait replay small.plait ./reads
has "$work/out" "2 * rounds" "the minimized plait carries them, too"
run 1 unplait explain --runs 50 r.plait ./reads
has "$work/out" "reads.cpp:12"
# large files: by hash
run 4 unplait replay large.plait ./reads large
has "$work/err" "too large to be in the plait"
mv ../gone/large data/
run 1 unplait replay large.plait ./reads large
has "$work/out" "2 * rounds" "a large file is found by its name and its bytes"
finish
