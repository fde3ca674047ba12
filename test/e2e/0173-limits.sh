#!/usr/bin/env bash
# Every command under the limits that a service manager or a careless parent sets: it works, or it says which limit stops it.
. "$(dirname "$0")/lib.sh"
cat >prog.c <<'C'
#include <assert.h>
#include <pthread.h>
static int x;
static void *work(void *a) { int y = x; x = y + 1; return a; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	assert(x == 2);
}
C
unplait cc -g -O1 -o prog prog.c -lpthread || not_ok build
cc -o plain prog.c -lpthread
unplait hunt -o fail.plait -- ./prog >/dev/null
unplait coop record -n 20 --share 100% --scheduler random --store logs.db -- ./prog >/dev/null
cat >commands <<'X2'
1 hunt -o o.plait -- ./prog
0 record -o r.plait -- ./prog
0 record --mode path -o p.plait -- ./prog
0 record --mode order -o r.plait -- ./prog
0 record --mode block -o r.plait -- ./prog
0 record --mode graph -o r.plait -- ./prog
0 record -o r.plait -- ./plain
1 replay fail.plait
1 minimize fail.plait -o m.plait
1 explain -n 20 fail.plait
0 info fail.plait
0 export -f json -o e.json fail.plait
1 coop merge logs.db -o mm.plait -- ./prog
0 coop stats logs.db
0 watch -o w -- ./plain
0 cc -g -o p2 prog.c -lpthread
0 doctor
0 sym run ./prog
X2
# under LABEL LIMIT CMD...: each command ends as it does without the limit (or, with LIMIT, says that one on stderr, status 3)
under() {
	local label=$1 limit=$2 want line got good=0
	shift 2
	while read -r want line; do
		rm -rf w
		# a plain run may fail by chance: what was recorded counts, not its outcome
		timeout 60 "$@" "$UNPLAIT" $line >out 2>err </dev/null
		got=$?
		[ $got -eq 1 ] && [ "${line%% *}" = record ] && got=0
		if [ $got -eq "$want" ] || { [ -n "$limit" ] && [ $got -eq 3 ] && grep -qF -- "$limit" err; }; then
			good=$((good + 1))
		else
			not_ok "$label: $line -> $want" "status $got" "$(tail -n 3 err)"
		fi
	done <commands
	is $good "$(wc -l <commands)" "$label: all commands${limit:+, or they name $limit}"
}
under "no limit" "" env
under "an environment of 100 KB" "" env "BIG=$(head -c 100000 /dev/zero | tr '\0' x)"
under "no descriptor 0" "" sh -c 'exec "$@" <&-' sh
under "no descriptors 0, 1, 2" "" sh -c 'exec "$@" <&- >&- 2>&-' sh
under "64 descriptors" "" sh -c 'ulimit -n 64; exec "$@"' sh
under "3 GB of address space" "ulimit -v" bash -c 'ulimit -v 3145728; exec "$@"' sh
grep -v '^0 \(cc\|doctor\|watch\)' commands >few && mv few commands # clang has its own words
under "files of 2 KB" "ulimit -f" bash -c 'ulimit -f 2; exec "$@"' sh
finish
