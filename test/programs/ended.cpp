// Requests that wait on a stack, as sdbus-c++ and ClickHouse had them: ended NAME. The notifier signals after it
// has let go of the lock. -DCURED: it signals before that.
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

struct request {
	std::mutex mutex;
	std::condition_variable cond;
	bool done = false;

	void notify()
	{
#ifdef CURED
		std::lock_guard<std::mutex> lock(mutex);
		done = true;
		cond.notify_one();
#else
		{
			std::lock_guard<std::mutex> lock(mutex);
			done = true;
		}
		cond.notify_one();
#endif
	}
	void wait()
	{
		std::unique_lock<std::mutex> lock(mutex);
		cond.wait(lock, [this] { return done; });
	}
};

static std::thread notifier;

static void on_stack()
{
	request r;
	notifier = std::thread([&r] { r.notify(); });
	r.wait();
}

static void on_heap()
{
	request *r = new request;
	notifier = std::thread([r] { r->notify(); });
	r->wait();
	delete r;
}

// Nothing is destroyed by a call: a std::mutex has no destructor. The function is left by an exception.
struct plain {
	std::mutex mutex;
	bool done = false;
};

static void thrown()
{
	plain p;
	notifier = std::thread([&p] {
		std::lock_guard<std::mutex> lock(p.mutex);
		p.done = true;
	});
#ifdef CURED
	notifier.join();
#endif
	throw std::runtime_error("early");
}

int main(int, char **argv)
{
	void (*what)() = !strcmp(argv[1], "stack") ? on_stack : !strcmp(argv[1], "heap") ? on_heap : thrown;
	for (int i = 0; i < 2; i++) { // the second time in the memory of the first
		try {
			what();
		} catch (const std::runtime_error &) {
		}
		if (notifier.joinable())
			notifier.join();
	}
}
