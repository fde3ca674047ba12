#!/usr/bin/env bash
# What the engine must model: C++ synchronisation, cancellation, pipes, freed memory.
. "$(dirname "$0")/lib.sh"
[ -e "$(dirname "$UNPLAIT")/libplait.a" ] || { skip "hunt" "libplait.a is not built"; finish; }

cat >cxx.cc <<'X'
#include <thread>
#include <mutex>
#include <future>
#include <latch>
#include <barrier>
#include <semaphore>
#include <shared_mutex>
#include <atomic>
#include <vector>
#include <cassert>
#include <cstdlib>
#include <chrono>
#include <condition_variable>
using namespace std::chrono_literals;
struct S { int v; S():v(7){} }; static S& inst(){ static S s; return s; }
int main(){
  std::latch l(3); std::barrier b(3); std::counting_semaphore<4> sem(0); std::atomic<int> a{0}; std::shared_mutex sm; int shared=0; std::mutex m; std::condition_variable cv; std::once_flag of; int once=0;
  std::vector<std::thread> v;
  for(int i=0;i<3;i++) v.emplace_back([&,i]{ l.arrive_and_wait(); if(inst().v!=7) abort(); b.arrive_and_wait(); { std::unique_lock lk(sm); shared++; } { std::shared_lock lk(sm); if(shared<1) abort(); } std::call_once(of,[&]{once++;}); sem.release(); if(i==0){ a.store(1); a.notify_all(); } else a.wait(0); thread_local int tl=i; if(tl!=i) abort(); });
  for(int i=0;i<3;i++) sem.acquire();
  auto f=std::async(std::launch::async,[]{ return 5; }); if(f.get()!=5) abort();
  std::promise<int> p; auto fu=p.get_future(); std::thread t([&]{ p.set_value(9); }); if(fu.get()!=9) abort(); t.join();
  { std::unique_lock<std::mutex> lk(m); cv.wait_for(lk,10ms); } std::this_thread::sleep_for(5ms);
  std::timed_mutex tm; if(!tm.try_lock_for(1ms)) abort();
  for(auto&t:v) t.join(); if(shared!=3||once!=1) abort(); }
X

cat >cancel.c <<'X'
#include <pthread.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <semaphore.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t c = PTHREAD_COND_INITIALIZER; static int cleaned, p[2], q[2]; static sem_t s;
static void un(void*x){ cleaned++; pthread_mutex_unlock(x); }
static void *w(void*a){ pthread_mutex_lock(&m); pthread_cleanup_push(un,&m); for(;;) pthread_cond_wait(&c,&m); pthread_cleanup_pop(1); return 0; }
static void *w2(void*a){ sem_wait(&s); return 0; }
static void *rd(void*a){ char b[4]; if(read(p[0],b,3)!=3) abort(); if(memcmp(b,"abc",3)) abort(); if(write(q[1],"x",1)!=1) abort(); return 0; }
int main(void){ pthread_t t,u,r; void*res; char b; pipe(p); pipe(q); sem_init(&s,0,0); pthread_create(&t,0,w,0); pthread_create(&u,0,w2,0); pthread_create(&r,0,rd,0); pthread_cancel(t); pthread_cancel(u); write(p[1],"abc",3); read(q[0],&b,1); pthread_join(t,&res); if(res!=PTHREAD_CANCELED) abort(); pthread_join(u,&res); if(res!=PTHREAD_CANCELED) abort(); pthread_join(r,0); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
X

cat >pipes.c <<'X'
#include <pthread.h>
#include <unistd.h>
static int p[2]; static void *f(void*a){ char b; read(p[0],&b,1); return 0; }
int main(void){ pthread_t t; pipe(p); pthread_create(&t,0,f,0); pthread_join(t,0); return 0; }
X

cat >freed.c <<'X'
#include <pthread.h>
#include <stdlib.h>
struct s { struct s *next; int v; }; static struct s *g;
static void *f(void*a){ if (g->next) return (void*)(long)g->next->v; return 0; }
int main(void){ pthread_t t; g = calloc(1,sizeof *g); pthread_create(&t,0,f,0); free(g); pthread_join(t,0); return 0; }
X

run 0 unplait c++ -std=c++20 -g -O1 cxx.cc -o cxx
for f in cancel pipes freed; do run 0 unplait cc -w -g -O1 $f.c -o $f; done
for gate in futex fiber; do
	for f in cxx cancel; do run 0 unplait hunt --gate $gate --timeout 5 -n 60 ./$f; done
	run 1 unplait hunt --gate $gate --timeout 5 -n 60 ./pipes
	has out "waits for a file descriptor" "a pipe nobody can write to is a deadlock"
	run 1 unplait hunt --gate $gate --timeout 5 -n 60 ./freed
	has out "read of memory that was freed" "the use of freed memory is seen"
	run 1 unplait replay --gate $gate --times 5 fail.plait
done
finish
