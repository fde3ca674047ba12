// Races inside the C++ library, one family by name: library-races NAME [cured]. Two threads do the same
// at once; a lock cures it. A family fails by an assertion, or crashes.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>

static std::mutex mutex;
static bool cured;

struct guard {
	guard()
	{
		if (cured)
			mutex.lock();
	}
	~guard()
	{
		if (cured)
			mutex.unlock();
	}
};

static std::string pushed, appended;
static std::map<int, int> map;
static std::set<std::string> set;
static std::list<int> list;
static std::unordered_map<int, int> hashed;
static std::ostringstream words, numbers;

static void do_push_back(int i) { guard g; pushed.push_back("ab"[i]); }
static void check_push_back() { assert(pushed.size() == 2); }
static void do_append(int i) { guard g; appended += i ? "hello" : "world"; }
static void check_append() { assert(appended.size() == 10); }
static void do_map(int i) { guard g; map[i] = i; }
static void check_map() { assert(map.size() == 2 && map.count(0) && map.count(1)); }
static void do_set(int i) { guard g; set.insert(std::to_string(i)); }
static void check_set() { assert(set.size() == 2 && set.count("0") && set.count("1")); }
static void do_list(int i) { guard g; list.push_back(i); }
static void check_list()
{
	size_t n = 0;

	for (int i : list)
		n += i >= 0;
	assert(n == 2 && list.size() == 2);
}
static void do_hashed(int i) { guard g; hashed[i] = i; }
static void check_hashed() { assert(hashed.size() == 2 && hashed.count(0) && hashed.count(1)); }
static void do_words(int i) { guard g; words << (i ? "abc" : "defg"); }
static void check_words() { assert(words.str().size() == 7); }
static void do_numbers(int i) { guard g; numbers << 1000 + i; }
static void check_numbers() { assert(numbers.str().size() == 8); }

static const struct {
	const char *name;
	void (*run)(int);
	void (*check)();
} families[] = {
	{ "push_back", do_push_back, check_push_back }, { "append", do_append, check_append },
	{ "map", do_map, check_map },			{ "set", do_set, check_set },
	{ "list", do_list, check_list },		{ "unordered_map", do_hashed, check_hashed },
	{ "stream", do_words, check_words },		{ "stream-number", do_numbers, check_numbers },
};

int main(int argc, char **argv)
{
	cured = argc > 2;
	for (auto &f : families)
		if (argc > 1 && !strcmp(f.name, argv[1])) {
			std::thread one(f.run, 0), two(f.run, 1);

			one.join();
			two.join();
			f.check();
			return 0;
		}
	for (auto &f : families)
		puts(f.name);
	return 2;
}
