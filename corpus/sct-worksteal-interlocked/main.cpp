/* worksteal-interlocked - a lock-free work-stealing queue with atomics only.
 *
 * When owner and thief meet at the last element, both must bid for the head by compare-and-swap. Here
 * the owner, having seen that the head is not past its element, moves the head with a store: a
 * thief that won meanwhile is overwritten and the element is taken twice.
 * Cure: the owner bids like everyone else.   usage: main [items=4] */
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <thread>

namespace {

constexpr long size = 64;

struct queue {
	std::atomic<long> head{ 0 }, tail{ 0 };
	std::atomic<int> item[size];

	void push(int v)
	{
		long t = tail.load();

		item[t % size].store(v);
		tail.store(t + 1);
	}

	int pop()
	{
		long t = tail.load() - 1;

		tail.store(t);
		long h = head.load(); /* BUG:a */
		if (h < t)
			return item[t % size].load();
		int v = -1;
		if (h == t) {
#ifdef FIXED
			long expect = t;

			if (head.compare_exchange_strong(expect, t + 1))
				v = item[t % size].load();
#else
			head.store(t + 1);
			v = item[t % size].load();
#endif
		}
		tail.store(t + 1);
		return v;
	}

	int steal()
	{
		long h = head.load();

		if (h >= tail.load())
			return -1;
		int v = item[h % size].load();
		if (!head.compare_exchange_strong(h, h + 1)) /* BUG:b */
			return -1;
		return v;
	}
};

std::atomic<int> taken[size];

void take(int v)
{
	if (v >= 0) {
		int before = taken[v].fetch_add(1);

		assert(before == 0);
		(void)before;
	}
}

} // namespace

int main(int argc, char **argv)
{
	int items = argc > 1 ? atoi(argv[1]) : 4;

	if (items < 1 || items > size)
		return 2;
	auto q = std::make_unique<queue>();
	std::thread thief([&] {
		for (int i = 0; i < items; i++)
			take(q->steal());
	});
	for (int i = 0; i < items; i++) {
		q->push(i);
		if (i % 2)
			take(q->pop());
	}
	for (int i = 0; i < items / 2; i++)
		take(q->pop());
	thief.join();
	return 0;
}
