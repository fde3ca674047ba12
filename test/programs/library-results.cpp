// Trees, lists, strings and streams that two threads share: prints what happened to them. A recorded
// run must print what a plain one does.
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>

static std::map<int, std::string> map;
static std::multiset<int> bag;
static std::list<int> list, other;
static std::string text;
static std::mutex mutex;

static unsigned next(unsigned &seed) { return seed = seed * 1103515245 + 12345, seed >> 16; }

static void work(unsigned seed)
{
	for (int i = 0; i < 400; i++) {
		std::lock_guard<std::mutex> g(mutex);
		int n = int(next(seed) % 64);

		if (next(seed) % 3) {
			map[n] = std::to_string(n * n);
			bag.insert(n);
			list.push_back(n);
		} else {
			map.erase(n);
			bag.erase(n);
			list.remove(n);
		}
		if (n == 7)
			other.splice(other.begin(), list);
		text.insert(text.size() / 2, 1, char('a' + n % 26));
		text += "more";
		if (text.size() > 300)
			text.erase(10, 200).append(text, 3, 9).replace(2, 4, "replaced");
		if (text.find("xm") != std::string::npos || text.compare(0, 3, "abc") > 0)
			text = text.substr(1) + std::to_string(n);
	}
}

int main()
{
	std::ostringstream out;

	std::thread one(work, 1);
	one.join();
	std::thread two(work, 2);
	two.join();
	for (auto &p : map)
		out << p.first << '=' << p.second << ' ';
	for (auto i = bag.rbegin(); i != bag.rend(); ++i)
		out << *i << ',';
	list.reverse();
	list.swap(other);
	list.sort();
	for (int i : list)
		out << i << ';';
	out << other.size() << ' ' << text << ' ' << 2.5 << ' ' << std::hex << 255;
	std::cout << out.str() << std::endl;
	try {
		text.at(100000) = 'x';
	} catch (const std::exception &e) {
		std::cout << e.what() << "\n";
	}
	try {
		map.at(1000);
	} catch (const std::exception &e) {
		std::cout << e.what() << "\n";
	}
	std::string line;
	std::istringstream in("12 words");
	int n = 0;
	in >> n >> line;
	std::cout << n << line << std::endl;
}
