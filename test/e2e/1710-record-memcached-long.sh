#!/usr/bin/env bash
# Debian's memcached under load is recorded on all cores and killed with -9. It is replayed in another folder without a
# network, and stopped in gdb where the recording ends. MEMCACHED names a folder where it has been built already.
# level: long
# seconds: 1800
. "$(dirname "$0")/lib.sh"
folder=${MEMCACHED:-$work/memcached}
if [ ! -x "$folder/memcached" ]; then
	"$top/scripts/deps" libevent-dev automake autoconf || { skip "memcached" "the packages cannot be installed"; finish; }
	"$top/bench/fetch" memcached "$folder" 2>err || { skip "memcached" "$(tail -n 1 err)"; finish; }
	cd "$folder" || exit 3
	[ -x configure ] || ./autogen.sh >"$work/log" 2>&1
	run 0 ./configure --disable-docs CC="$UNPLAIT cc" CFLAGS="-O2 -g"
	run 0 make -j2 memcached
	cd "$work" || exit 3
fi
clang-19 -O2 -pthread -o load "$top/bench/memcached-load.c" || exit 3
alone=
unshare -n true 2>"$work/err" && alone="unshare -n"
mkdir other
for requests in ${REQUESTS:-500 2000 10000}; do
	port=$((20000 + RANDOM % 20000))
	"$UNPLAIT" record -o other/m.plait -- "$folder/memcached" -u "$(id -un)" -p $port -U 0 -t 2 >record.out 2>&1 &
	recorder=$!
	timeout 300 ./load $port "$requests" 2
	is $? 0 "$requests requests are answered"
	kill -9 $(pgrep -P $recorder)
	wait $recorder
	is $? 1 "the recording tells of the kill"
	cd other || exit 3
	run 0 timeout 900 $alone "$UNPLAIT" replay m.plait
	has "$work/out" "the recording ends here" "$requests requests are replayed to the kill"
	grep -h attempt "$work/err" | sed 's/^/# /'
	if command -v gdb >"$work/gdb"; then
		run 0 timeout 900 $alone "$UNPLAIT" replay --gdb --gdb-command 'info threads' --gdb-command 'print stats_state.curr_conns' m.plait
		has "$work/out" "the recording ends here" "gdb stops at the end"
		grep -q '^\$1 = ' "$work/out" && ok "gdb sees the server's state" || not_ok "gdb sees the server's state" "$(tail -n 20 "$work/out")"
	else
		skip "under gdb" "there is no gdb"
	fi
	cd ..
done
finish
