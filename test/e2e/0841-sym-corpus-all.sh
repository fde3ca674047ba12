#!/usr/bin/env bash
# Every cured corpus program runs in the machine as it runs natively: 0840 with all of them.
# level: long
EVERY=1 exec bash "$(dirname "$0")/0840-sym-corpus.sh"
