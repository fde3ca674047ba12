# Google's mutexes, condition variables and notes, made of atomics and futexes; its own tests
system="CMake" needs="cmake"
tests="counter_test cv_test cv_wait_example_test dll_test mu_test mu_wait_example_test note_test once_test wait_test"
configure() { cmake_configure -DNSYNC_ENABLE_TESTS=ON -DNSYNC_LANGUAGE=c; }
build() { cmake --build out -j2 --target $tests; }
program=out/mu_test
products=$(for t in $tests; do echo out/$t; done)
smoke() { for t in $tests; do target out/$t || { echo "$t failed"; return 1; }; done; }
