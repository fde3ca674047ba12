#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Cache {
	std::map<std::string, std::shared_ptr<int>> items;
	std::mutex m;
	int hits = 0;
	std::shared_ptr<int> get(const std::string &k)
	{
		{
			std::lock_guard<std::mutex> l(m);
			auto it = items.find(k);
			if (it != items.end()) {
				hits++;
				return it->second;
			}
		}
		auto v = std::make_shared<int>(42);
		std::lock_guard<std::mutex> l(m);
		items[k] = v;
		return v;
	}
};
int main()
{
	Cache c;
	std::shared_ptr<int> a, b;
	std::thread t1([&] { a = c.get("x"); }), t2([&] { b = c.get("x"); });
	t1.join();
	t2.join();
	assert(a == b && "one object per key");
}
