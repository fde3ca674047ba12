#!/usr/bin/env bash
# level: long
# All unit tests of a build with AddressSanitizer and UndefinedBehaviorSanitizer (make check-san).
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 3
make -j2 SAN=address,undefined unit >"$work/build" 2>&1 || { not_ok "build" "$(tail -n 20 "$work/build")"; finish; }
timeout 3000 build-address-undefined/unit -j1 >"$work/out" 2>&1
is $? 0 "$(sed -n 's/.*Synthesis: //p' "$work/out")"
is "$(grep -c 'ERROR: \|runtime error' "$work/out")" 0 "no report of a sanitizer"
grep -A12 'ERROR: \|runtime error' "$work/out" | head -n 40 | sed 's/^/# /'
finish
