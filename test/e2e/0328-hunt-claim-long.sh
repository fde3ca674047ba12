#!/usr/bin/env bash
# 0319 over as many programs as an hour allows.
# level: long
# seconds: 7200
SEEDS=1000000 MINUTES=${MINUTES:-60} FIRST_SEED=${FIRST_SEED:-1000} exec bash "$(dirname "$0")/0319-hunt-claim.sh"
