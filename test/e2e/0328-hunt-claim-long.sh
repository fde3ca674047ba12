#!/usr/bin/env bash
# 0319 over many more programs, about a quarter of an hour.
# level: long
# seconds: 7200
SEEDS=${SEEDS:-1200} FIRST_SEED=${FIRST_SEED:-1000} exec bash "$(dirname "$0")/0319-hunt-claim.sh"
