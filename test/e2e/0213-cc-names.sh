#!/usr/bin/env bash
# level: quick
# What an access is called and where it is: what the programmer wrote, without and with optimisation. Captures of a
# lambda, members behind `this`, elements of containers; accesses in headers of the C++ library have the caller's line.
. "$(dirname "$0")/lib.sh"
cat >names.cpp <<'X'
#include <array>
#include <atomic>
#include <cassert>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

struct Account {
	int balance = 0;
	std::atomic<int> hits{ 0 };
	void deposit(int n) { balance += n; }     // 12
	void touch() { hits++; }                  // 13
};
struct Bank {
	std::vector<int> slots = std::vector<int>(4);
	std::array<int, 3> fixed{};
	std::map<int, int> book;
	std::mutex lock;
	Account account;
	void work()
	{
		slots[2] += 1;                    // 23
		fixed[1] += 1;                    // 24
		account.deposit(1);
		account.touch();
		std::lock_guard<std::mutex> guard(lock); // 27
	}
};
int main()
{
	int counter = 0;
	std::atomic<int> ready{ 0 };
	std::vector<int> results(8);
	Bank bank;
	bank.book[1] = 0;
	auto body = [&] {
		int c = counter;                  // 38
		counter = c + 1;                  // 39
		ready++;                          // 40
		results[3] += 1;                  // 41
		bank.work();
		bank.book[1] += 1;                // 43
		int e = ready.load();             // 44
		ready.compare_exchange_strong(e, e + 1); // 45
	};
	std::thread a(body), b(body);
	a.join();
	b.join();
	assert(counter == 2);
}
X
for level in 0 2; do
	run 0 unplait c++ -g -O$level -pthread names.cpp -o names$level
	unplait info --sites ./names$level >sites
	# LINE KIND NAME: an access of that kind is at that line, and its name begins so
	while read -r line kind name; do
		if awk -v at="names.cpp:$line" -v kind="$kind" -v name="$name" '
			$2 == kind && $3 == at && index($0, "  " name) { found = 1 } END { exit !found }' sites; then
			ok "-O$level: $kind of $name at line $line"
		else
			not_ok "-O$level: $kind of $name at line $line" "$(grep "names.cpp:$line " sites)"
		fi
	done <<X
38 read counter
39 write counter
40 atomic-rmw ready
41 write results[]
43 write bank.book
45 atomic-rmw ready
X
	hasnt sites "/../" "-O$level: no detours in paths"
	hasnt sites "atomic_base.h" "-O$level: atomics are at the caller's line"
	hasnt sites "gthr-default.h" "-O$level: and so are locks"
	grep -E " (read|write|atomic-[a-z]+) +names.cpp:(3[89]|4[0-5]) " sites >body
	hasnt body "memory#" "-O$level: nothing in the lambda is without a name"
	run 1 unplait hunt -n 500 -o fail$level.plait -- ./names$level
	run 1 unplait explain -n 100 fail$level.plait
	has out "counter at names.cpp:3"
	hasnt out "memory#"
done
unplait info --sites ./names0 >sites
has sites "names.cpp:12 in deposit  struct Account::balance"
has sites "names.cpp:13 in touch  struct Account::hits"
has sites "names.cpp:23 in work  struct Bank::slots[]"
has sites "names.cpp:24 in work  struct Bank::fixed[]"
has sites "names.cpp:27 in work  pthread_mutex_lock"
finish
