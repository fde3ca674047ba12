// Two accounts, two transfers in opposite directions, each with its own std::mutex.
#include <condition_variable>
#include <mutex>
#include <thread>

struct account {
	std::mutex lock;
	long balance = 100;
};

static std::mutex gate_lock;
static std::condition_variable gate;
static int arrived;

// both transfers have their first lock before either asks for its second
static void wait_for_other()
{
	std::unique_lock<std::mutex> l(gate_lock);
	if (++arrived == 2)
		gate.notify_all();
	gate.wait(l, [] { return arrived == 2; });
}

static void transfer(account &from, account &to, long amount)
{
	std::lock_guard<std::mutex> first(from.lock); // first
	wait_for_other();
	std::lock_guard<std::mutex> second(to.lock); // second
	from.balance -= amount;
	to.balance += amount;
}

int main()
{
	static account alice, bob;
	std::thread one([] { transfer(alice, bob, 10); });
	std::thread two([] { transfer(bob, alice, 20); });
	one.join();
	two.join();
}
