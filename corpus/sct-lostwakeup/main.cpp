/* lostwakeup - an event made of an atomic flag and a condition variable.
 *
 * The setter changes the flag and notifies without the mutex. The waiter that has just seen
 * the flag unset goes to sleep after the notification.
 * Cure: change the flag under the mutex and wait with a predicate.   usage: main */
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

struct event {
	std::mutex lock;
	std::condition_variable cond;
	std::atomic<bool> set{ false };

	void signal()
	{
#ifdef FIXED
		std::lock_guard<std::mutex> hold(lock);
#endif
		set = true;
		cond.notify_one(); /* BUG:b */
	}

	void wait()
	{
		std::unique_lock<std::mutex> hold(lock);
#ifdef FIXED
		cond.wait(hold, [this] { return set.load(); });
#else
		if (!set.load()) /* BUG:a */
			cond.wait(hold); /* BUG:c */
#endif
	}
};

} // namespace

int main()
{
	event e;
	std::thread waiter([&] { e.wait(); });
	std::thread setter([&] { e.signal(); });

	waiter.join();
	setter.join();
	return 0;
}
