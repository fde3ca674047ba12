#!/usr/bin/env bash
# Every race of test/programs/race-kinds.txt, unoptimised and optimised.
# level: long
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/race-table.inc"

race_table -O0 1
race_table -O2 1
finish
