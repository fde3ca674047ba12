#!/usr/bin/env bash
# Four thousand generated programs.
# level: long
# seconds: 10800
SEEDS=80 FIRST_SEED=1000 exec bash "$(dirname "$0")/0830-sym-differential.sh"
