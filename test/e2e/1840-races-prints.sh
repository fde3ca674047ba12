#!/usr/bin/env bash
# A race is not blamed for prints in another order, nor for what its neighbour does; C++'s streams have none.
. "$(dirname "$0")/lib.sh"

for O in 0 2; do
	unplait cc -g -O$O -pthread -o prints "$top/test/programs/race-lazy-prints.c"
	"$UNPLAIT" races --one-path -o "" ./prints >out 2>err
	is $? 0 "-O$O: who prints first does not count"
	has out "2 k-witness-harmless" "-O$O: both races of the mark are harmless"

	unplait cc -g -O$O -pthread -o neighbour "$top/test/programs/race-lazy-neighbour.c"
	"$UNPLAIT" races --one-path -o "" ./neighbour >out 2>err
	is $? 1 "-O$O: updates are lost"
	is "$(grep -c 'output-differs  *counter' out)" 1 "-O$O: the counter is to blame"
	is "$(grep -c 'k-witness-harmless  *marked' out)" 2 "-O$O: the mark is not"

	unplait c++ -g -O$O -pthread -o streams "$top/test/programs/race-streams.cpp"
	"$UNPLAIT" races --one-path -o "" ./streams >out 2>err
	is "$(grep -c ' total ' out)" "$(grep -c '^ *[0-9]*  [a-z]*-' out)" "-O$O: no race in std::cout"
	has out "output-differs     total" "-O$O: the total is one"
done
finish
