// thread-pool.cpp - a pool, futures, and a registry of shared sessions. Three bugs: Registry::get looks up and
// inserts in two critical sections; hits++ is not guarded; the pool's destructor sets `stop` without the lock.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

class ThreadPool {
public:
    explicit ThreadPool(size_t n) {
        for (size_t i = 0; i < n; i++)
            workers.emplace_back([this] { work(); });
    }
    ~ThreadPool() {
        stop = true;            // not under the lock: a worker can miss it
        cv.notify_all();
        for (auto &w : workers) w.join();
    }
    template <class F> auto submit(F f) -> std::future<decltype(f())> {
        auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::move(f));
        auto fut = task->get_future();
        {
            std::lock_guard<std::mutex> g(m);
            tasks.push([task] { (*task)(); });
        }
        cv.notify_one();
        return fut;
    }
private:
    void work() {
        for (;;) {
            std::function<void()> t;
            {
                std::unique_lock<std::mutex> l(m);
                cv.wait(l, [this] { return stop || !tasks.empty(); });
                if (stop && tasks.empty()) return;
                t = std::move(tasks.front());
                tasks.pop();
            }
            t();
        }
    }
    std::vector<std::thread> workers;
    std::queue<std::function<void()>> tasks;
    std::mutex m;
    std::condition_variable cv;
    std::atomic<bool> stop{false};
};

struct Session { std::string name; int hits = 0; };
class Registry {
public:
    std::shared_ptr<Session> get(const std::string &n) {
        { std::lock_guard<std::mutex> g(m); auto it = all.find(n); if (it != all.end()) return it->second; }
        auto s = std::make_shared<Session>(); s->name = n;
        std::lock_guard<std::mutex> g(m);
        all[n] = s;
        return s;
    }
    size_t size() { std::lock_guard<std::mutex> g(m); return all.size(); }
private:
    std::mutex m;
    std::map<std::string, std::shared_ptr<Session>> all;
};

int main() {
    Registry reg;
    int total = 0;
    {
        ThreadPool p(2);
        std::vector<std::future<int>> fs;
        for (int i = 0; i < 2; i++)
            fs.push_back(p.submit([&reg, i] { auto s = reg.get("user" + std::to_string(i / 2)); s->hits++; return s->hits; }));
        for (auto &f : fs) total += f.get();
    }
    auto a = reg.get("user0"), b = reg.get("user1");
    std::cout << "hits " << a->hits + b->hits << " total " << total << "\n";
    assert(a->hits + b->hits == 2);
}
