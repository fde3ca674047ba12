# an event loop with a thread pool, through CMake; its own test suite is the smoke test
system="CMake"
package=libuv1 needs="cmake"
configure() { cmake_configure -DBUILD_TESTING=ON; }
build() { cmake --build out -j2 --target uv_run_tests_a; }
program=out/uv_run_tests_a
smoke() { # the tests that are about threads, each in a process of its own
	export UV_RUN_AS_ROOT=1
	for t in thread_create thread_mutex thread_rwlock threadpool_queue_work_simple threadpool_multiple_event_loops \
		threadpool_cancel_work semaphore_1 semaphore_2 semaphore_3 barrier_1 barrier_2 condvar_1 condvar_2 async; do
		target "$prog" "$t" || { echo "$t failed"; return 1; }
	done
}
