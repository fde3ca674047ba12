#!/usr/bin/env bash
# Two minutes of fuzzing for each reader.
# level: long
FUZZ_SECONDS=120 exec bash "$(dirname "$0")/0130-fuzz-reader.sh"
