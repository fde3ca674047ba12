#!/usr/bin/env bash
# Ten minutes of fuzzing.
# level: long
FUZZ_SECONDS=600 exec bash "$(dirname "$0")/0130-fuzz-reader.sh"
