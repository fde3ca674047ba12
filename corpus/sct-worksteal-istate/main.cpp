/* worksteal-istate - a lock-free work-stealing ring whose slots carry a state.
 *
 * A thief wins a slot by moving the head, and only then reads what is in it. Once the head has
 * moved, the owner may fill the slot anew: the thief then runs the new item, which will be run
 * again later, and the old one is lost.
 * Cure: read before the bid; a lost bid discards what was read.   usage: main [items=6] */
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <thread>

namespace {

constexpr long size = 2; /* small, so that slots are reused */
constexpr int most = 64;

struct queue {
	std::atomic<long> head{ 0 }, tail{ 0 };
	std::atomic<int> item[size];

	bool push(int v)
	{
		long t = tail.load();

		if (t - head.load() >= size)
			return false;
		item[t % size].store(v); /* BUG:b */
		tail.store(t + 1);
		return true;
	}

	int steal()
	{
		long h = head.load();

		if (h >= tail.load())
			return -1;
#ifdef FIXED
		int v = item[h % size].load();

		return head.compare_exchange_strong(h, h + 1) ? v : -1;
#else
		long slot = h % size;

		if (!head.compare_exchange_strong(h, h + 1)) /* BUG:a */
			return -1;
		return item[slot].load(); /* BUG:c */
#endif
	}
};

std::atomic<int> taken[most];

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
	int items = argc > 1 ? atoi(argv[1]) : 6;

	if (items < 1 || items > most)
		return 2;
	auto q = std::make_unique<queue>();
	std::thread thief([&] {
		for (int i = 0; i < items; i++)
			take(q->steal());
	});
	/* The owner pushes; when there is no room it steals from itself. */
	for (int i = 0; i < items; i++)
		while (!q->push(i))
			take(q->steal());
	thief.join();
	for (int v = q->steal(); v >= 0; v = q->steal())
		take(v);
	for (int i = 0; i < items; i++)
		assert(taken[i] == 1);
	return 0;
}
