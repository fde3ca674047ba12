#!/usr/bin/env bash
# The HTML report in a real browser (Debian's chromium through playwright-core).
# level: long
. "$(dirname "$0")/lib.sh"

"$top/scripts/deps" chromium fonts-dejavu-core >/dev/null 2>&1
command -v node >/dev/null || "$top/scripts/deps" nodejs npm >/dev/null 2>&1
if ! command -v chromium >/dev/null || ! command -v npm >/dev/null; then
	skip "the explain page in a browser" "chromium or npm cannot be installed here"
	finish
fi
modules=$BUILD/browser
mkdir -p "$modules"
[ -d "$modules/node_modules/playwright-core" ] ||
	npm install --prefix "$modules" --no-audit --no-fund --silent playwright-core@1 >npm.log 2>&1 ||
	{ skip "the explain page in a browser" "playwright-core cannot be installed: $(tail -n 1 npm.log)"; finish; }

UNPLAIT_TEST_PAGE=$work/page.html "$BUILD/unit" --filter 'report/page*' >/dev/null 2>&1
cp "$top/test/browser/explain.mjs" "$modules/explain.mjs"
timeout 120 node "$modules/explain.mjs" "$work/page.html" "$modules" >tap 2>tap.err
status=$?
cat tap
[ $status -eq 0 ] || not_ok "the browser run ended with status $status" "$(tail -n 5 tap.err)"
finish
