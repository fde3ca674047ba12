#!/usr/bin/env bash
# A C++ program says the same in the symbolic machine as natively: streams, strings, containers, exceptions.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$top/test/programs/cxx-library.cc" .
printf '1 2 3 stop\nrest of line\nsecond\nlast' >input
for how in "-O0 -std=c++17" "-O2 -std=c++20" "-O0 -std=c++14"; do
	run 0 unplait c++ -g -w $how -o library cxx-library.cc
	rm -f f.tmp
	./library <input >native
	rm -f f.tmp
	run 0 unplait sym run --stdin input ./library
	cmp native out && ok "the same output, $how" || not_ok "the same output, $how"
done
finish
