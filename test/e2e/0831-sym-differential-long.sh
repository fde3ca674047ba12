#!/usr/bin/env bash
# Four thousand generated programs.
# level: long
SEEDS=80 FIRST_SEED=1000 exec bash "$(dirname "$0")/0830-sym-differential.sh"
