// C++: exceptions through instrumented frames, thread_local destructors, std::thread, statics.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static int shared;
static std::atomic<int> atomic_count{ 0 };

struct Guard {
	~Guard()
	{
		std::lock_guard<std::mutex> l(mutex);
		shared++;
	}
};
static thread_local Guard guard;

static int thrower(int n)
{
	Guard local;

	(void)&guard;
	if (n == 0)
		throw std::runtime_error("deep");
	return thrower(n - 1) + 1;
}

static std::string &singleton()
{
	static std::string s = "made once";

	atomic_count++;
	return s;
}

int main()
{
	std::vector<std::thread> threads;
	std::condition_variable cv;
	bool ready = false;

	for (int i = 0; i < 4; i++)
		threads.emplace_back([&, i] {
			try {
				thrower(i);
			} catch (const std::exception &e) {
				std::unique_lock<std::mutex> l(mutex);
				shared += 100;
			}
			singleton();
			std::unique_lock<std::mutex> l(mutex);
			cv.wait(l, [&] { return ready; });
		});
	{
		std::unique_lock<std::mutex> l(mutex);
		ready = true;
		cv.notify_all();
	}
	for (auto &t : threads)
		t.join();
	printf("shared %d, singleton %d %s\n", shared, atomic_count.load(), singleton().c_str());
	return 0;
}
