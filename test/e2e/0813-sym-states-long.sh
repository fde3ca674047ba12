#!/usr/bin/env bash
# The same as 0812 with many more programs.
# level: long
SEEDS=${SEEDS:-150} FIRST_SEED=${FIRST_SEED:-1000} exec bash "$(dirname "$0")/0812-sym-states.sh"
