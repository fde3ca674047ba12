#!/usr/bin/env bash
# Fuzz every reader of files that may come from anywhere, with real files as seeds. FUZZ_SECONDS (per reader) for longer
# runs, FUZZ_TARGETS for some of them.
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 3
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }' |
	clang-19 -fsanitize=fuzzer,address -x c - -o "$work/probe" 2>/dev/null; then
	skip "fuzzing" "this clang has no libFuzzer"
	finish
fi
sources="test/fuzz/*.c base/*.c trace/*.c debug/*.c report/export.c run/log.c run/schedule.c run/script.c run/turns.c sched/decisions.c graph/graph.c graph/load.c
	graph/derive.c coop/elements.c coop/load.c coop/logs.c coop/similar.c coop/hamming.c coop/store.c deadlock/snapshot.c
	deadlock/graph.c deadlock/window.c deadlock/fingerprint.c deadlock/source.c crumbs/*.c rewind/triage-files.c race/reports.c race/from-*.c race/detect.c race/suppress.c sched/happens.c sched/cells.c witness/read.c predict/paths.c predict/digest.c"
compile() {
	$(command -v ccache) clang-19 -g -O1 -std=gnu17 -D_GNU_SOURCE -DUNPLAIT_VERSION='"fuzz"' -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
		-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -I. -Iinclude -include base/banned.h -c -o "$work/$(echo "$1" | tr / -).o" "$1"
}
export -f compile
export work
echo $sources | tr ' ' '\n' | xargs -P 2 -I{} bash -c 'compile {}' 2>"$work/err" &&
	clang-19 -fsanitize=fuzzer,address,undefined -o "$work/fuzz" "$work"/*.o -lelf -ldw -lzstd -lxxhash -lsqlite3 -lcjson -lyaml -lm 2>>"$work/err" ||
	{ not_ok "build" "$(head -n 20 "$work/err")"; finish; }
cd "$work" || exit 3
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
clang-19 -g -fsanitize=thread -c prog.c && clang-19 -o tsan prog.o "$(dirname "$UNPLAIT")/libplait.a" -lpthread -ldl
unplait cc -g -pthread -o prog prog.c
mkdir -p seeds/{plait,schedule,script,graph,vectors,profile,store,area,sites,folder,reports,suppressions,witness,dump,paths,crumbs,landmarks,triage} base
section() { # PLAIT NAME: the raw bytes of a section
	python3 - "$@" <<'P'
import struct, subprocess, sys
data = open(sys.argv[1], 'rb').read()
at, n = struct.unpack_from('<QQ', data, len(data) - 40)
for i in range(n):
    name, thread, coding, offset, stored, raw = struct.unpack_from('<16sIIQQQ', data, at + 96 * i)
    if name.rstrip(b'\0').decode() == sys.argv[2]:
        piece = data[offset:offset + stored]
        if coding:
            piece = subprocess.run(['zstd', '-dc'], input=piece, stdout=subprocess.PIPE, check=True).stdout
        sys.stdout.buffer.write(piece)
P
}
unplait record -q -o seeds/plait/pass.plait -- ./tsan >/dev/null
unplait record -q -o seeds/plait/fail.plait -- ./tsan x >/dev/null 2>&1
unplait record -q -m path -o seeds/plait/path.plait -- ./tsan >/dev/null
unplait record -q -m path -o seeds/plait/values.plait -- ./prog >/dev/null
unplait hunt -q -o hunted.plait -- ./prog x >/dev/null
section hunted.plait schedule >seeds/schedule/1
printf 'unplait script 1\nprogram /bin/x\nbuild-id 4f\nloader LD_LIBRARY_PATH=/x\nsignal 11\nstack 11e9 120c\nturn 0 wait\nturn 0.1 11e9 3 1\n' >seeds/script/1
unplait record -q -m graph -o base/graph.plait -- ./prog >/dev/null
section base/graph.plait graph >seeds/graph/1
unplait record -q -m order -o order.plait -- ./prog >/dev/null
section order.plait vectors | head -c 4096 >seeds/vectors/1
unplait coop plan -q -n 2 -o profiles -- ./prog >/dev/null
cp profiles/* seeds/profile
unplait coop record -q -n 3 --store seeds/store/1 -o logs -- ./prog >/dev/null
cp prog base/prog
objcopy --dump-section .plait.sites=seeds/sites/1 prog /dev/null 2>/dev/null
mkdir base/folder
UNPLAIT_MODE=full UNPLAIT_DIR=base/folder ./prog
for f in run w00000; do (printf '\0' && cat base/folder/$f) >seeds/folder/$f; done
python3 - >seeds/folder/c00000 <<'P' # cells: operation 3 came before operation 2 of thread 1, and two that are cut off
import struct, sys
cells = [(1 << 48 | 1, 3, 2 << 48 | 2, 1), (1, 1 << 60, 2 << 48, 0), (1, 5, 77 << 48 | 2, 4)]
sys.stdout.buffer.write(b'\x08' + struct.pack('<4Q', 9, 0, 0, 0) + b''.join(struct.pack('<4Q', *c) for c in cells))
P
cat >watched.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *a) { pthread_mutex_lock(&m); return a; }
int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); system("cp area/*.area seeds/area/1"); _Exit(0); }
END
cc -o watched watched.c -lpthread && mkdir area &&
	UNPLAIT_WATCH=dir=$work/area,threads=2 LD_PRELOAD=$(dirname "$UNPLAIT")/libplait-watch.so timeout 20 ./watched
cp "$top"/test/e2e/fixtures/races/* seeds/reports
unplait export -q --format std seeds/plait/pass.plait >seeds/reports/std
unplait export -q --format witness hunted.plait >seeds/witness/1
printf '# comment\nrace:^main$\nrace_top:std::*push\ncalled_from_lib:libx.so\nmutex:a\n' >seeds/suppressions/1
unplait predict -q --record 2 --store path-store --no-run --questions 1 -o '' -- ./prog >/dev/null
cp path-store/paths.db seeds/paths/1
(ulimit -c unlimited; ./prog x >/dev/null 2>&1; head -c 60000 core* >seeds/dump/1 2>/dev/null)
[ -s seeds/dump/1 ] || gdb -q -batch -nx -ex 'run x' -ex 'generate-core-file c' ./prog >/dev/null 2>&1
[ -s seeds/dump/1 ] || head -c 60000 c >seeds/dump/1
for core in core* c; do
	[ ! -s "$core" ] || python3 "$top/test/e2e/core2minidump.py" "$core" seeds/dump/2 --cmdline ./prog x
	[ ! -s "$core" ] || python3 "$top/test/e2e/core2minidump.py" "$core" seeds/dump/3 --bare
done
cp seeds/area/1 seeds/crumbs/area
printf 'p 7 [1] 1.1: 1 branches:u: 401000 a+0x0 (/p) => 401800 b+0x0 (/p)\n instruction trace error 1\n1\t   0x401133 <m+3>:\tje     0x401140 <m+16>\n2\t   0x401140:\tbnd ret\n' >seeds/crumbs/trace
printf 'prog 1: 0x401136/0x401180/P/-/-/3 0x40117b(/bin/p)/0x401130/M/-/-/0\nEDAC MC0: 1 UE x\nMemory failure: 0x1: Killing p:7 due to x\nopened a: 3\n' >seeds/crumbs/text
echo '{"command": "watch", "threads": [{"thread": "0", "tid": 1, "holds": [{"lock": {"name": "m"}, "stack": [{"function": "f", "line": 3, "offset": "0x1"}]}]}]}' >seeds/crumbs/json
gcc -O2 -s -o seeds/landmarks/1 prog.c -lpthread
echo '{"dumps": [{"path": "a", "size": 7, "changed": 7, "kind": "k"}, {"path": "b", "problem": "no dump"}, {"path": "c", "line": 3}]}' >seeds/triage/index
printf 'bucket "lost flush" { kind = order; function = flush; object = q.head }\nbucket "b" {\n\tobject = x }\n' >seeds/triage/names
for target in ${FUZZ_TARGETS:-plait schedule script graph vectors profile store area sites folder reports suppressions witness dump paths crumbs landmarks triage}; do
	[ -n "$(find seeds/$target -type f -size +0)" ] && ok "seeds for $target from real files" || not_ok "seeds for $target"
	mkdir "base-$target" && cp -r base/* "base-$target"
	FUZZ_TARGET=$target FUZZ_BASE=$work/base-$target ASAN_OPTIONS=max_allocation_size_mb=1024 timeout 3700 ./fuzz -seed=1 \
		-max_total_time="${FUZZ_SECONDS:-2}" -rss_limit_mb=1500 -timeout=20 -max_len=65536 -print_final_stats=1 seeds/$target >out 2>&1
	status=$?
	is $status 0 "$target: no crash, no leak, nothing read outside ($(sed -n 's/stat::number_of_executed_units: *//p' out) inputs)"
	[ $status -eq 0 ] || grep -v '^#[0-9]*.*cov:' out | tail -n 40 | sed 's/^/# /'
done
finish
