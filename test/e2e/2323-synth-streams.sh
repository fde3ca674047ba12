#!/usr/bin/env bash
# A C++ program that reads lines from cin, takes them apart with a string stream and keeps a map: its crash is found from the
# stack alone, and a cured one is not blamed.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >values.cc <<'C'
#include <iostream>
#include <map>
#include <sstream>
#include <string>
static std::map<std::string, int> values;
static int *find(const std::string &name)
{
	auto it = values.find(name);
	return it == values.end() ? nullptr : &it->second;
}
static void command(const std::string &line)
{
	std::istringstream words(line);
	std::string verb, name;
	int n = 0;

	words >> verb >> name;
	if (verb == "set" && words >> n)
		values[name] = n;
	else if (verb == "add" && words >> n)
#ifdef FIXED
		values[name] += n;
#else
		*find(name) += n;
#endif
	else if (verb == "get")
		std::cout << name << " = " << (find(name) ? *find(name) : 0) << std::endl;
	else
		std::cerr << "what is '" << line << "'?\n";
}
int main()
{
	std::string line;

	while (std::getline(std::cin, line))
		command(line);
	return 0;
}
C
g++ -O2 -g -o shipped values.cc
printf 'set a 1\nadd b 2\n' | dump_of values.core ./shipped
run 0 unplait c++ -g -O0 -o values values.cc
run 1 unplait synth --facts stack -o s.plait values.core ./values
has out "found by search"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 3 s.shipped.plait
has out "replayed 3 of 3"
run 0 unplait c++ -g -O0 -DFIXED -o cured values.cc
run 4 unplait synth --facts stack --time 2 values.core ./cured
finish
