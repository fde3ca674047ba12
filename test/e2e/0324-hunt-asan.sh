#!/usr/bin/env bash
# hunt with AddressSanitizer: a block that another thread frees between the sanitizer's look and the access is seen;
# nothing in a report is a scheduling point, so that no thread waits for the sanitizer's locks for ever.
# level: check
. "$(dirname "$0")/lib.sh"

cat >table.cc <<'C'
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct node {
	int v;
	std::string name;
};
static std::map<int, std::unique_ptr<node>> table;
static std::mutex m;
static void work(int id)
{
	for (int i = 0; i < 4; i++) {
		node *n = nullptr;
		{
			std::lock_guard<std::mutex> g(m);
			auto it = table.find(1);
			if (it != table.end())
				n = it->second.get();
		}
		if (n)
			n->v += id; /* outside the lock */
		if (id == 2 && i == 2) {
			std::lock_guard<std::mutex> g(m);
			table.erase(1);
		}
	}
}
int main()
{
	table[1] = std::make_unique<node>(node{ 1, "a name that is long enough for the heap" });
	std::vector<std::thread> t;
	for (int i = 0; i < 4; i++)
		t.emplace_back(work, i);
	for (auto &x : t)
		x.join();
}
C
for san in address address,undefined; do
	if ! unplait c++ -std=c++17 -w -g -O1 -fsanitize=$san -pthread -o table table.cc 2>err; then
		skip "$san" "no sanitizer here"
		continue
	fi
	for gate in fiber futex; do
		for seed in 1 2 3; do
			run 1 timeout 100 "$UNPLAIT" hunt --gate $gate --seed $seed --timeout 20 -n 300 --replays 2 -o f.plait ./table
			hasnt out hang "$san, $gate, seed $seed: a report, not a hang"
			has out "replayed 2 of 2"
		done
	done
done
# healthy programs stay so, and are really run
sed -i 's/n->v += id;/{ std::lock_guard<std::mutex> g(m); if (table.count(1)) table[1]->v += id; }/' table.cc
if unplait c++ -std=c++17 -w -g -O1 -fsanitize=address -pthread -o healthy table.cc 2>err; then
	for gate in fiber futex; do
		run 0 timeout 100 "$UNPLAIT" hunt --gate $gate --timeout 20 -n 40 --json ./healthy
		events=$(sed -n 's/^ *"events": \([0-9]*\),*$/\1/p' out | head -n 1)
		[ "${events:-0}" -gt 4000 ]
		is $? 0 "$gate: 40 runs have ${events:-no} events"
	done
fi
finish
