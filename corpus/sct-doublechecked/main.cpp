/* doublechecked - lazy initialisation with a second look under the lock.
 *
 * The pointer is published first and the object filled in afterwards; a thread whose first look
 * succeeds gets a half-made object.
 * Cure: publish last.   usage: main [threads=2] */
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct config {
	std::atomic<int> size{ 0 }, limit{ 0 };
};

std::mutex lock;
std::atomic<config *> instance{ nullptr };

config *get()
{
	config *c = instance.load(); /* BUG:b */

	if (c)
		return c;
	std::lock_guard<std::mutex> hold(lock);
	c = instance.load();
	if (!c) {
		c = new config;
#ifdef FIXED
		c->size = 16;
		c->limit = 64;
		instance.store(c);
#else
		instance.store(c); /* BUG:a */
		c->size = 16;
		c->limit = 64;
#endif
	}
	return c;
}

void user()
{
	config *c = get();

	assert(c->size == 16 && c->limit == 64); /* BUG:c */
}

} // namespace

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	std::vector<std::thread> threads;

	if (n < 1 || n > 1000)
		return 2;
	for (int i = 0; i < n; i++)
		threads.emplace_back(user);
	for (auto &t : threads)
		t.join();
	delete instance.load();
	return 0;
}
