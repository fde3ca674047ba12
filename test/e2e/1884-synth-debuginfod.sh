#!/usr/bin/env bash
# A stripped binary whose debug information lies elsewhere: at a debuginfod server, or in a file beside it.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

gcc -O2 -g -o shipped "$CORPUS/mkdir/main.c"
objcopy --only-keep-debug shipped shipped.debug
id=$(readelf -n shipped | sed -n 's/.*Build ID: //p')
mkdir -p "server/buildid/$id"
mv shipped.debug "server/buildid/$id/debuginfo"
strip shipped
dump_of bare.core ./shipped -v a//b </dev/null
run 0 unplait cc -g -O0 -o own "$CORPUS/mkdir/main.c"
"$UNPLAIT" synth --facts stack --time 1 -o '' bare.core ./own >out 2>&1
has out "has no debug information"
if ls /usr/lib/*/libdebuginfod.so.1 /usr/lib*/libdebuginfod.so.1 >/dev/null 2>&1; then
	run 1 env DEBUGINFOD_URLS="file://$PWD/server" DEBUGINFOD_CACHE_PATH="$PWD/cache" "$UNPLAIT" synth --facts stack -o s.plait bare.core ./own
	has out "main at"
	has out "confirmed in the unplait build and in the shipped binary"
else
	ok "no libdebuginfod here # SKIP"
fi
cp "server/buildid/$id/debuginfo" shipped.debug
run 1 unplait synth --facts stack -o l.plait bare.core ./own
has out "confirmed in the unplait build and in the shipped binary"
finish
