#!/usr/bin/env bash
# 0319 over many more programs, about an hour on two cores.
# level: long
# seconds: 7200
SEEDS=${SEEDS:-1500} FIRST_SEED=${FIRST_SEED:-1000} exec bash "$(dirname "$0")/0319-hunt-claim.sh"
