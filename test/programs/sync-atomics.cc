// What C++ programs share without a lock of pthreads: shared pointers, a latch, a semaphore, atomic wait, a
// lock-free stack. Prints who came when.
#include <atomic>
#include <cstdio>
#include <latch>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

struct node {
	int who;
	node *next;
};

static std::atomic<node *> top{nullptr};
static std::atomic<int> turn{0};
static std::counting_semaphore<4> room{2};
static std::latch start{3};
static std::atomic<std::shared_ptr<std::string>> *unused;

static void push(int who)
{
	node *n = new node{who, top.load()};

	while (!top.compare_exchange_weak(n->next, n))
		;
}

static void work(int id, std::shared_ptr<std::string> text, std::atomic<int> *inside, std::string *seen)
{
	start.arrive_and_wait();
	for (int i = 0; i < 50; i++) {
		room.acquire();
		*seen += static_cast<char>('0' + inside->fetch_add(1));
		auto copy = text;
		push(id);
		*seen += static_cast<char>('0' + copy.use_count() % 10);
		inside->fetch_sub(1);
		room.release();
		if (i % 10 == 9) {
			turn.fetch_add(1);
			turn.notify_all();
		}
	}
}

int main()
{
	auto text = std::make_shared<std::string>("text");
	std::atomic<int> inside{0};
	std::string seen[3], order;
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(work, i, text, &inside, &seen[i]);
	for (int t = turn.load(); t < 15; t = turn.load())
		turn.wait(t);
	for (auto &t : threads)
		t.join();
	for (node *n = top; n; n = n->next)
		order += static_cast<char>('a' + n->who);
	std::printf("%s\n%s\n%s\n%s\n", order.c_str(), seen[0].c_str(), seen[1].c_str(), seen[2].c_str());
	return unused != nullptr;
}
