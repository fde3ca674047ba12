#!/usr/bin/env bash
# The same as 1680 for clang, and without optimisation.
# level: long
# seconds: 3600
export REWIND_BUILDS="gcc:-O0 clang-19:-O0 clang-19:-O2"
. "$(dirname "$0")/1680-rewind-threads.sh"
