/* A cache whose every access is under its lock, and a test of it that fails now and then. */
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

class Cache
{
	std::mutex mutex;
	std::map<std::string, std::shared_ptr<int>> entries;

    public:
	std::shared_ptr<int> get(const std::string &key)
	{
		{
			std::lock_guard<std::mutex> lock(mutex);
			auto found = entries.find(key);
			if (found != entries.end())
				return found->second;
		}
		auto made = std::make_shared<int>(0); /* takes long, so not under the lock */
		std::lock_guard<std::mutex> lock(mutex);
		entries[key] = made;
		return made;
	}
};

TEST(Cache, FindsWhatItHas)
{
	Cache cache;

	EXPECT_EQ(cache.get("a"), cache.get("a"));
}

TEST(Cache, OneObjectPerKey)
{
	Cache cache;
	std::shared_ptr<int> a, b;
	std::thread one([&] { a = cache.get("key"); });
	std::thread two([&] { b = cache.get("key"); });

	one.join();
	two.join();
	EXPECT_EQ(a, b);
}
