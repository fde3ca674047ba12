#!/usr/bin/env bash
# Four thousand generated programs; SEEDS and FIRST_SEED take a part of them.
# level: long
# seconds: 10800
SEEDS=${SEEDS:-80} FIRST_SEED=${FIRST_SEED:-1000} exec bash "$(dirname "$0")/0830-sym-differential.sh"
