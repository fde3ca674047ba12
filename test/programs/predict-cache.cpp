// A cache in front of something slow: a key that is missing is loaded without the lock, so two threads may load it.
// With -DFIXED the second one looks again before it counts.
#include <cassert>
#include <map>
#include <mutex>
#include <thread>

namespace {

class cache {
public:
	int get(int key)
	{
		{
			std::lock_guard<std::mutex> hold(lock);
			auto it = values.find(key);

			if (it != values.end())
				return it->second;
		}
		int value = key * 10; // the slow part

		std::lock_guard<std::mutex> hold(lock);
#ifdef FIXED
		if (values.count(key))
			return values[key];
#endif
		values[key] = value;
		loads++;
		return value;
	}
	int loads = 0;

private:
	std::mutex lock;
	std::map<int, int> values;
};

} // namespace

int main()
{
	cache c;
	std::thread a([&] { assert(c.get(1) == 10); });
	std::thread b([&] { assert(c.get(1) == 10); });

	a.join();
	b.join();
	assert(c.loads == 1);
	return 0;
}
