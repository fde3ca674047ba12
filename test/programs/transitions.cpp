// Steps of the C++ library that another thread can notice, one by name: transitions NAME. Each fails in some schedule.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;
static volatile int shared;

struct last {
	~last() { shared = 0; }
};
static last destroyed_at_exit;

static void destructor()
{
	shared = 1;
	std::thread([] {
		if (shared)
			assert(shared);
	}).detach();
}

static std::shared_mutex many;

static void try_shared()
{
	std::thread t([] {
		many.lock();
		shared = 1;
		many.unlock();
	});
	if (shared)
		assert(many.try_lock_shared());
	t.join();
}

static std::timed_mutex timed;

static void try_for()
{
	std::thread t([] {
		timed.lock();
		timed.unlock();
	});
	assert(timed.try_lock_for(1ms));
	timed.unlock();
	t.join();
}

static std::mutex mutex;
static std::condition_variable changed;

static void wait_for()
{
	std::thread t([] {
		std::lock_guard<std::mutex> g(mutex);
		shared = 1;
		changed.notify_one();
	});
	{
		std::unique_lock<std::mutex> g(mutex);
		bool late = false;
		while (!shared && !late)
			late = changed.wait_for(g, 1ms) == std::cv_status::timeout;
		assert(!(shared && late));
	}
	t.join();
}

static std::counting_semaphore<4> count(0);

static void acquire_for()
{
	std::thread t([] { count.release(); });
	assert(count.try_acquire_for(1ms));
	t.join();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} all[] = {
		{ "destructor", destructor }, { "try-shared", try_shared }, { "try-for", try_for },
		{ "wait-for", wait_for }, { "acquire-for", acquire_for },
	};

	for (const auto &one : all)
		if (argc > 1 && !strcmp(argv[1], one.name))
			one.run();
	return 0;
}
