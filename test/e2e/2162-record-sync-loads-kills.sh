#!/usr/bin/env bash
# Programs are killed with -9 while their threads load atomics without a lock: every log can be read, and is replayed.
# level: check
KILLS=${KILLS:-12} SUBJECT=sync-readers ARGS=${ARGS-20} WITHIN=${WITHIN:-2} exec bash "$(dirname "$0")/1403-record-sync-kills.sh"
