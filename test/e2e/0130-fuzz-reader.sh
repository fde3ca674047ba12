#!/usr/bin/env bash
# Fuzz the plait reader, with real plaits as seeds. FUZZ_SECONDS for longer runs.
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 3
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }' |
	clang-19 -fsanitize=fuzzer,address -x c - -o "$work/probe" 2>/dev/null; then
	skip "fuzzing" "this clang has no libFuzzer"
	finish
fi
clang-19 -g -O1 -std=gnu17 -D_GNU_SOURCE -DUNPLAIT_VERSION='"fuzz"' -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I. -Iinclude -o "$work/fuzz" test/fuzz/fuzz-plait.c \
	base/*.c trace/*.c -lelf -ldw -lzstd -lxxhash -lcjson -lm 2>"$work/err" || { not_ok "build" "$(head -n 20 "$work/err")"; finish; }
cd "$work" || exit 3
mkdir seeds
cat >prog.c <<'END'
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, slots[4];
static void *f(void *a) { pthread_mutex_lock(&m); slots[x & 3] = x; x++; pthread_mutex_unlock(&m); free(malloc(8)); return a; }
int main(int argc, char **argv)
{
	pthread_t t;
	pthread_create(&t, NULL, f, NULL);
	f(argv);
	pthread_join(t, NULL);
	assert(argc < 2);
}
END
clang-19 -g -fsanitize=thread -c prog.c && clang-19 -o prog prog.o "$(dirname "$UNPLAIT")/libplait.a" -lpthread -ldl
unplait record -q -o seeds/pass.plait -- ./prog >/dev/null
unplait record -q -o seeds/fail.plait -- ./prog x >/dev/null 2>&1
unplait record -q -m path -o seeds/path.plait -- ./prog >/dev/null
unplait cc -g -pthread -o values prog.c 2>/dev/null && unplait record -q -m path -o seeds/values.plait -- ./values >/dev/null
is "$(ls seeds | wc -l)" 4 "seeds from real plaits"
timeout 900 ./fuzz -max_total_time="${FUZZ_SECONDS:-15}" -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 seeds >out 2>&1
status=$?
is $status 0 "no crash, no leak, nothing read outside ($(sed -n 's/stat::number_of_executed_units: *//p' out) inputs)"
[ $status -eq 0 ] || tail -n 40 out | sed 's/^/# /'
finish
