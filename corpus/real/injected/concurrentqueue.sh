# a lock-free queue does not look again whether it reserved an element that exists
package=concurrentqueue
edit() { sed -i 's|if ((details::likely)(details::circular_less_than<index_t>(myDequeueCount - overcommit, tail))) {|if (true) { /* INJECTED */|' concurrentqueue.h; }
relevant='myDequeueCount = this->dequeueOptimisticCount'
program=queue
build() {
	cat >driver.cpp <<'C'
#include "concurrentqueue.h"
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>
int main()
{
	moodycamel::ConcurrentQueue<int> q(4);
	std::vector<std::thread> threads;
	std::atomic<int> sum{0}, got{0};

	for (int p = 0; p < 2; p++)
		threads.emplace_back([&, p] {
			for (int i = 1; i <= 3; i++)
				q.enqueue(p * 10 + i);
		});
	for (int c = 0; c < 2; c++)
		threads.emplace_back([&] {
			int v;
			while (got < 6)
				if (q.try_dequeue(v)) {
					sum += v;
					got++;
				} else {
					std::this_thread::yield();
				}
		});
	for (auto &t : threads)
		t.join();
	assert(sum == 6 + 36);
}
C
	$CXX $FLAGS -std=c++17 -pthread driver.cpp -o queue
}
command() { echo "$prog"; }
